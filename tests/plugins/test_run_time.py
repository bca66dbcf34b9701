"""Plugins that load and then break when they are used: the message names the plugin, never kb, and nothing of it is obeyed."""

from __future__ import annotations

import pytest

from tests.conftest import Shell
from tests.plugins.strangers import install

HEAD = '''
from kb.api import Answerer, Command, Extractor, Promoter, Ranking, Scorer, hookimpl

class Odd(BaseException):
    pass

def fault(*given, **named):
    raise ERROR

def fine(*given, **named):
    return Ranking([])

@hookimpl
def kb_scorers():
    return [Scorer("rank", ("r",), fault, lambda library: 1.0), Scorer("floor", ("f",), fine, fault),
            Scorer("none", ("n",), lambda library, query: None, lambda library: 1.0),
            Scorer("text", ("t",), fine, lambda library: "high")]

@hookimpl
def kb_answerers():
    return [Answerer("a", fault, fault)] if "ANSWERER" else []

@hookimpl
def kb_promoters():
    return [Promoter("p", fault, fault)] if "PROMOTER" else []

@hookimpl
def kb_extractors():
    return [Extractor("x", ("xyz",), fault)]

@hookimpl
def kb_commands():
    return [Command("zverb", "broken:verb", "break"), Command("zgone", "broken:gone", "break")]

import click

@click.command()
def verb():
    fault()

def __getattr__(name):
    if name == "gone":
        fault()
    raise AttributeError(name)
'''
ERRORS = {"RuntimeError": "RuntimeError('\\x1b[2J no')", "SystemExit": "SystemExit('\\x1b[2J no')", "BaseException": "Odd('\\x1b[2J no')",
          "GeneratorExit": "GeneratorExit('\\x1b[2J no')"}


def broken(sh: Shell, error: str, **parts: str) -> None:
    source = HEAD.replace("ERROR", ERRORS[error]).replace('"ANSWERER"', parts.get("answerer", "False"))
    install(sh, "stranger", {"broken": source.replace('"PROMOTER"', parts.get("promoter", "False"))}, {"z-broken": "broken"})


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("words", ["route pump", "route pump --json", "answer pump", "eval gold.tsv", "misses"])
@pytest.mark.parametrize("scorers", ["r", "f"])
def test_a_scorer_that_breaks_is_exit_3_and_its_plugin_is_named(fleet: Shell, scorers: str, words: str, error: str) -> None:
    broken(fleet, error)
    fleet.write("gold.tsv", "pump\tada/knowledge/pump.md\n")
    fleet.write("kb-misses.txt", "1    2026-09-20 2026-09-20 zonk\n")
    run = fleet.kb(*words.split(), env={"KB_SCORERS": scorers})
    assert (run.code, "bug" in run.err, "\x1b" in run.err + run.out) == (3, False, False), run
    assert f"scorer {'rank' if scorers == 'r' else 'floor'} of plugin z-broken" in run.err and "\\x1b[2J no" in run.err


@pytest.mark.parametrize("scorers", ["n", "t"])
def test_a_scorer_that_returns_something_else_is_named_too(fleet: Shell, scorers: str) -> None:
    broken(fleet, "RuntimeError")
    run = fleet.kb("route", "pump", env={"KB_SCORERS": scorers})
    assert run.code == 3 and "plugin z-broken" in run.err and "bug" not in run.err


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("words", ["answer pump", "answer pump --complete"])
def test_an_answerer_that_cannot_say_what_it_accepts_is_exit_3_and_named(fleet: Shell, words: str, error: str) -> None:
    broken(fleet, error, answerer="True")
    fleet.write("fleet.txt", "answerer = cat\n")
    run = fleet.kb(*words.split(), env={"KB_TRUST": "1"})
    assert (run.code, "bug" in run.err, "\x1b" in run.err) == (3, False, False) and "answerer a of plugin z-broken failed" in run.err


@pytest.mark.parametrize("error", ERRORS)
def test_a_promoter_that_cannot_say_what_it_accepts_is_exit_3_and_named(fleet: Shell, error: str) -> None:
    broken(fleet, error, promoter="True")
    fleet.write("fleet.txt", "promoter = cat\nreviewer = cat\n")
    run = fleet.kb("promote", env={"KB_TRUST": "1"})
    assert "promoter p of plugin z-broken failed" in run.err and "bug" not in run.err and "\x1b" not in run.err
    assert run.code in (1, 3)


@pytest.mark.parametrize("error", ERRORS)
def test_an_extractor_that_breaks_names_its_plugin(fleet: Shell, error: str) -> None:
    broken(fleet, error)
    fleet.write("fleet.txt", "promoter = cat\nreviewer = cat\n")
    fleet.write("page.xyz", "Words.\n")
    run = fleet.kb("ingest", "page.xyz", "--agent", "ada", env={"KB_TRUST": "1"})
    assert run.code == 1 and "plugin z-broken" in run.err and "\x1b" not in run.err


@pytest.mark.parametrize("error", ERRORS)
def test_a_verb_that_does_not_load_names_its_plugin(fleet: Shell, error: str) -> None:
    broken(fleet, error)
    run = fleet.kb("zgone")
    assert run.code == 3 and "z-broken" in run.err and "\x1b" not in run.err and "bug" not in run.err


def test_a_verb_that_breaks_names_its_plugin_and_one_that_ends_itself_ends(fleet: Shell) -> None:
    broken(fleet, "RuntimeError")
    run = fleet.kb("zverb")
    assert run.code == 3 and "the verb zverb of plugin z-broken failed" in run.err and "\x1b" not in run.err
    broken(fleet, "SystemExit")
    run = fleet.kb("zverb")
    assert run.code == 1 and run.err == "kb: \\x1b[2J no\n"


ENGINE = '''
class Odd(BaseException):
    pass

def fault(*given, **named):
    raise ERROR

class Index:
    size = frequencies = search = lambda self, *given: fault()
    def close(self):
        pass

class Engine:
    name = "mine"
    def __init__(self):
        if "MADE": fault()
    def generation(self, base):
        return None
    def apply(self, base, generation, changes, *, fresh):
        if "APPLIED": fault()
    def open(self, base, generation):
        if "OPENED": fault()
        return Index()
'''


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("at", ["MADE", "APPLIED", "OPENED", "ASKED"])
def test_a_text_backend_that_breaks_is_named_and_the_keyword_side_answers(fleet: Shell, at: str, error: str) -> None:
    source = ENGINE.replace("ERROR", ERRORS[error]).replace(f'"{at}"', "True")
    for other in ("MADE", "APPLIED", "OPENED"):
        source = source.replace(f'"{other}"', "False")
    install(fleet, "stranger", {"engine": source}, {"mine": "engine:Engine"}, group="kb.text")
    env = {"KB_TEXT_BACKEND": "mine", "KB_SCORERS": ""}
    index = fleet.kb("index", env=env)
    route = fleet.kb("route", "pump", "--hybrid", "--json", env=env)
    for run in (index, route):
        assert "bug" not in run.err and "Traceback" not in run.err and "\x1b" not in run.err
    if at in ("MADE", "APPLIED"):
        assert index.code == (3 if at == "MADE" else 1) and "text backend mine of stranger failed" in index.err
    if at == "MADE":
        assert route.code == 3
    else:
        assert route.code == 0 and route.json()["verdict"] == "hit"
        assert any("mine" in line for line in route.json()["skipped"])


def test_what_a_scorer_prints_is_no_output_of_the_verb(fleet: Shell) -> None:
    source = HEAD.replace("def fine(*given, **named):\n", "def fine(*given, **named):\n    print('loud')\n").replace("ERROR", "OSError()")
    source = source.replace('"ANSWERER"', "False").replace('"PROMOTER"', "False")
    install(fleet, "stranger", {"broken": source}, {"z-broken": "broken"})
    run = fleet.kb("route", "pump", "--json", env={"KB_SCORERS": "t"})
    assert "loud" not in run.out and "loud" in run.err


def test_a_verb_of_kb_that_a_plugin_provides_again_is_told_and_listed_once(fleet: Shell) -> None:
    source = ('from kb.api import Command, hookimpl\n@hookimpl\ndef kb_commands():\n'
              '    return [Command("route", "x:y", "mine", ("kb route MINE",)), Command("mine", "x:y", "mine")]\n')
    install(fleet, "stranger", {"clash": source}, {"z-clash": "clash"})
    for words in ((), ("--help",)):
        run = fleet.kb(*words).ok()
        assert "kb route MINE" not in run.out and "kb mine" in run.out
        assert run.err == ("kb: plugin z-clash provides the verb route, which is kb's own; turn it off with "
                           "KB_DISABLE_PLUGINS=z-clash\n")
    rows = {row["name"]: row for row in fleet.kb("plugins", "--json").ok().json()}
    assert (rows["z-clash"]["state"], rows["lifecycle"]["state"]) == ("failed", "on") and "route" in rows["z-clash"]["error"]
    assert "route" in next(line for line in fleet.kb("plugins").ok().out.splitlines() if "z-clash" in line)
    fleet.kb("route", "pump").ok()


def test_kb_plugins_lists_both_of_two_plugins_with_one_verb_and_says_so(fleet: Shell) -> None:
    source = 'from kb.api import Command, hookimpl\n@hookimpl\ndef kb_commands():\n    return [Command("mine", "x:y", "mine")]\n'
    install(fleet, "stranger", {"one": source, "two": source}, {"z-one": "one", "z-two": "two"})
    run = fleet.kb("plugins").ok()
    assert "z-one" in run.out and "z-two" in run.out and "z-one and z-two" in run.err
