"""Answerers and promoters as plugins: chosen by value, approved like a command, and never able to break the verb."""

from __future__ import annotations

import pytest

PLUGIN = """
from kb.api import Answerer, KbError, Promoter, hookimpl

def answer(value, request):
    kind = value.partition(":")[2]
    if kind == "raise": raise ZeroDivisionError("oops")
    if kind == "refuse": raise KbError("no credit", hint="buy some")
    if kind == "blank": return "  "
    if kind == "rubbish": return 7
    window = request.windows[0]
    return f"{request.role} {request.question} {window.path} {window.memory} {request.root.name} {request.timeout:g} {request.guess}"

@hookimpl
def kb_answerers():
    return [Answerer("oracle", lambda value: value.startswith("oracle:"), answer)]

@hookimpl
def kb_promoters():
    return [Promoter("judge", lambda value: value == "judge", lambda value, request: "OWNER: ben\\nCOVERAGE: covered\\n",
                     needs_approval=False)]
"""


def install(sh, name, text):
    sh.write(f"site/{name}.py", text)
    sh.write(f"site/{name}-1.dist-info/METADATA", f"Name: {name}\nVersion: 1\n")
    sh.write(f"site/{name}-1.dist-info/entry_points.txt", f"[kb.plugins]\n{name} = {name}\n")
    sh.env["PYTHONPATH"] = str(sh.root / "site")


@pytest.fixture
def oracle(fleet):
    install(fleet, "zz_oracle", PLUGIN)
    fleet.kb("index", ".").ok()
    return fleet


def ask(sh, value, question="flush the\npump", trust="1"):
    sh.write("fleet.txt", f"answerer = {value}\nmodel_timeout = 7\n")
    return sh.kb("answer", question, ".", env={"KB_TRUST": trust})


def test_a_plugin_answers_for_the_values_it_accepts_and_gets_what_was_served(oracle):
    out = ask(oracle, "oracle:x").ok().out
    assert out.startswith(f"answerer flush the pump ada/knowledge/pump.md long {oracle.root.name} 7 False\n")
    assert ask(oracle, "cat").ok().out.startswith("You answer one question")


def test_a_value_that_a_plugin_takes_needs_approval_unless_the_plugin_says_it_does_not(oracle):
    assert ask(oracle, "oracle:x", trust="").code == 2
    assert "answerer = oracle:x" in oracle.kb("trust", ".").ok().out
    ask(oracle, "oracle:x", trust="").ok()
    assert ask(oracle, "oracle:y", trust="").code == 2
    oracle.write("fleet.txt", "classifier = judge\n")
    assert oracle.kb("boot", ".", stdin="flush the pump").ok().out.startswith("VESTA: this message routes to ben.")


@pytest.mark.parametrize(("value", "told"), [("oracle:raise", "ZeroDivisionError: oops"), ("oracle:refuse", "no credit; buy some"),
                                             ("oracle:blank", "returned nothing"), ("oracle:rubbish", "returned nothing")])
def test_a_plugin_that_breaks_is_a_model_that_did_not_reply(oracle, value, told):
    run = ask(oracle, value)
    assert run.code == 1 and run.out == "" and told in run.err and "1. ada/knowledge/pump.md" in run.err
    assert "Traceback" not in run.err


def test_two_plugins_of_one_name_are_an_error_that_names_both(oracle):
    install(oracle, "zz_twin", PLUGIN)
    run = ask(oracle, "cat")
    assert run.code == 3 and "zz_oracle" in run.err and "zz_twin" in run.err


def test_a_broken_plugin_is_named_and_the_command_still_answers(oracle):
    install(oracle, "zz_broken", "from kb.api import hookimpl\n\n@hookimpl\ndef kb_answerers():\n    return [3]\n")
    run = ask(oracle, "cat").ok()
    assert "zz_broken is off" in run.err and run.out.startswith("You answer one question")


def test_without_any_plugin_for_it_a_line_is_an_error_and_the_list_is_printed(oracle):
    oracle.env["KB_DISABLE_PLUGINS"] = "answer-command,zz_oracle"
    run = ask(oracle, "cat")
    assert run.code == 3 and "no plugin can run" in run.err
