"""What could not be looked at is told once for each reason; blank lines are blank; an unknown verb is told what was meant."""

from __future__ import annotations

import json

import pytest

from kb.cli.skipped import gathered
from tests.conftest import Shell, note

ABSENT = "there is no text index yet; run kb index"


def test_sentences_with_one_reason_become_one_line_when_there_are_more_than_three() -> None:
    few = [f"{name}: {ABSENT}" for name in "abc"]
    assert gathered(few) == few
    assert gathered([*few, "fleet.txt is a folder", f"d: {ABSENT}", "x/y.md: not UTF-8"]) == [
        f"a, b, c and 1 more: {ABSENT}", "fleet.txt is a folder", "x/y.md: not UTF-8"]
    assert gathered(["a: one", "a: one", "b: two", "plain", "plain"]) == ["a: one", "b: two", "plain"]


@pytest.mark.parametrize("words", [("route", "quay"), ("answer", "quay"), ("remember", "quay is wide"), ("boot", "--text")])
def test_forty_bases_without_an_index_are_one_line_on_stderr(sh: Shell, words: tuple[str, ...]) -> None:
    sh.write("fleet.txt", "name = Wide\n")
    for number in range(40):
        sh.write(f"fleet/b{number:02}/agent.txt", "role = keeps a quay\n")
        sh.write(f"fleet/b{number:02}/knowledge/n.md", note("Quay", f"quay {number}, berth"))
    run = sh.kb(*words, stdin="quay\n").ok()
    assert [line for line in run.err.splitlines() if ABSENT in line] == [f"kb: b00, b01, b02 and 37 more: {ABSENT}"]


def test_json_keeps_every_sentence(sh: Shell) -> None:
    for name in "abcde":
        sh.write(f"fleet/{name}/agent.txt", "role = x\n")
        sh.write(f"fleet/{name}/n.md", note("Quay", "quay"))
    assert len(json.loads(sh.kb("route", "quay", "--json").ok().out)["skipped"]) == 5


def test_blank_lines_between_the_rows_of_reports_are_blank(fleet: Shell) -> None:
    fleet.kb("misroute", "one", "--chose", "ada", "--owner", "ben").ok()
    fleet.kb("misroute", "two", "--chose", "ada", "--owner", "eva").ok()
    fleet.write("kb-abstentions.txt", "")
    out = fleet.kb("misroutes").ok().out
    assert "\\x" not in out and out.count("\n\n    1x  ada instead of") == 2


@pytest.mark.parametrize(("typed", "meant"), [("ask", "route"), ("help", "--help"), ("chekc", "check"), ("status", None), ("zzz", None)])
def test_an_unknown_verb_is_told_what_was_meant_or_where_the_list_is(sh: Shell, typed: str, meant: str | None) -> None:
    run = sh.kb(typed, "x")
    assert (run.code, run.out) == (2, "")
    assert run.err.rstrip().endswith(f"Did you mean {meant}?" if meant else "kb --help lists the verbs.")


def test_every_word_that_is_meant_for_a_verb_is_no_verb_and_leads_to_one() -> None:
    from kb.cli.group import _MEANT
    from kb.cli.verbs import VERBS

    verbs = {verb.name for verb in VERBS}
    assert not verbs & set(_MEANT) and {word for word in _MEANT.values() if not word.startswith("--")} <= verbs
