"""Help is true: the levels of codes, what an option bounds, what is required, and what is deleted."""

from __future__ import annotations

import re

import click
import pytest

from kb.cli.group import root
from tests.conftest import Shell

HELP = ["-h", "--help"]  # click keeps the option it makes first: another name would stay in this process


def commands() -> dict[str, click.Command]:
    """Every command by its words, the plugins' and those of groups included."""
    found: dict[str, click.Command] = {}
    waiting: list[tuple[str, click.Command]] = [("kb", root)]
    while waiting:
        words, command = waiting.pop()
        if isinstance(command, click.Group):
            context = click.Context(command, help_option_names=HELP)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                waiting.append((f"{words} {name}", below))
        found[words] = command
    return found


COMMANDS = commands()


def test_each_code_stands_with_its_own_level(sh: Shell) -> None:
    from kb.app import shared_host
    from kb.specs import Check

    said = dict(re.findall(r"^    ([A-Z]\d\d) +\S+ +(error|warning)$", sh.kb("--help").ok().out, re.M))
    real = {check.code: check.level for check in shared_host().specs("kb_checks", Check, lambda check: check.code)}
    assert said == real and {"E01", "W01"} <= set(real)


@pytest.mark.parametrize("words", COMMANDS, ids=str)
def test_every_option_says_what_it_is(words: str) -> None:
    silent = [param.opts for param in COMMANDS[words].params if isinstance(param, click.Option) and not (param.help or "").strip()]
    assert silent == []


@pytest.mark.parametrize("words", COMMANDS, ids=str)
def test_no_summary_in_a_list_of_commands_is_cut(words: str) -> None:
    command = COMMANDS[words]
    if isinstance(command, click.Group) and words != "kb":
        text = command.get_help(click.Context(command, info_name=words, terminal_width=100, max_content_width=100, help_option_names=HELP))
        assert "..." not in text.partition("Commands:")[2]


def test_what_top_bounds_is_said_by_each_verb_in_its_own_words() -> None:
    helps = {words: param.help or "" for words, command in COMMANDS.items() for param in command.params
             if isinstance(param, click.Option) and "--top" in param.opts}
    assert len(helps) > 8 and all(text.endswith("Default 5.") for text in helps.values())
    assert {words for words, text in helps.items() if "times four" in text} == {"kb misroutes", "kb rejections", "kb abstentions"}


@pytest.mark.parametrize("words", ["source add", "write", "misroute"])
def test_what_a_command_refuses_to_do_without_is_marked(sh: Shell, words: str) -> None:
    missing = sh.kb(*words.split())
    text = sh.kb(*words.split(), "--help").ok().out
    assert missing.code == 2 and "[required]" in text
    rows = re.findall(r"^  (--?[a-z-]+).*?(?=^  -|\Z)", text, re.M | re.S)
    for name in re.findall(r"--[a-z-]+", missing.err):
        assert name not in rows or re.search(rf"^  (?:-\w, )?{name}\b(?:(?!^  -).)*\[required\]", text, re.M | re.S), name


@pytest.mark.parametrize(("words", "module", "extra"), [(["ui", "--port", "4999"], "jinja2", "ui"),
                                                        (["serve", "--http", "--port", "4998"], "mcp", "serve")])
def test_a_missing_extra_is_told_with_the_line_that_brings_it(fleet: Shell, words: list[str], module: str, extra: str) -> None:
    fleet.write(f"shadow/{module}.py", f"raise ModuleNotFoundError('no', name='{module}')\n")
    run = fleet.kb(*words, env={"PYTHONPATH": str(fleet.root / "shadow")})
    assert run.code == 1 and f"pip install 'kb-catalogue[{extra}]'" in run.err


def test_ingest_says_that_the_original_goes_and_asks_no_model_in_a_dry_run(sh: Shell) -> None:
    text = " ".join(sh.kb("ingest", "--help").ok().out.split())
    assert "FILE ITSELF IS DELETED" in text and "ask no model, move nothing" in text
    assert "ingest asks none" in sh.kb("--help").ok().out
