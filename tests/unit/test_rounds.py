"""The rubric of a blocking objection, and when a round is closed."""

from __future__ import annotations

import pytest

from kb.core.counted import parse, render
from kb.core.rounds import ROUNDS, RoundRow, grade, markdown, round_of

CONSTITUTION = "# Ana\n\nNever restart a server on a Friday.\nBe kind\n- ask twice before you delete\n"


@pytest.mark.parametrize(("text", "expected"), [
    ("bad", "rejected"), ("naïve é", "rejected"), ("feels a bit wordy, simplify it", "rejected"),
    ("I don\u2019t like this approach at all", "rejected"),
    ("It feels weird because the rule says otherwise", "constitutional"),
    ("Please rename the second heading", "advisory"),
    ("It breaks a memory invariant", "constitutional"), ("This violates two rules.", "constitutional"),
    ("See ADR-0031, which says no", "constitutional"), ("The quadr-angle is off by an inch", "advisory"),
    ("The ferrule of the brush is loose", "advisory"), ("Her false-hood aside, claimants differ", "constitutional"),
    ("The terrorist attack is misdated", "advisory"), ("Falsehoods and claimants abound here", "advisory"),
    ("You wrote: never restart a server on a friday. The draft does.", "constitutional"),
    ("Be kind when you write about him", "advisory"),
    ("Never restart a server on a Fridayish day", "advisory"),
])
def test_the_rubric_wants_a_mechanism_a_rule_or_a_line_of_the_constitution(text: str, expected: str) -> None:
    assert grade(text, CONSTITUTION)[0] == expected


def seat(state: str, reviewer: str = "bo") -> RoundRow:
    return RoundRow("draft.md", "ana", reviewer, 0, state, "2026-09-20", "2026-09-20")


def objection(state: str, blocking: bool = False) -> RoundRow:
    return RoundRow("draft.md", "ana", "bo", 1, state, "2026-09-20", "2026-09-20", blocking, "a | b", "why | not")


@pytest.mark.parametrize(("rows", "closed"), [
    ([seat("asked")], False), ([seat("nothing")], True), ([seat("not-returned")], True),
    ([seat("objection"), objection("objection")], False), ([seat("objection"), objection("taken")], True),
    ([seat("objection"), objection("refused")], True), ([seat("objection"), objection("refused", True)], False),
    ([seat("objection"), objection("escalated", True)], True), ([seat("nothing"), seat("asked", "cy")], False)])
def test_a_round_closes_when_all_answered_and_all_is_accounted_for(rows: list[RoundRow], closed: bool) -> None:
    round_ = round_of(rows, "draft.md")
    assert round_ is not None and round_.closed is closed


def test_the_table_has_five_columns_whatever_the_texts_hold() -> None:
    round_ = round_of([seat("objection"), objection("refused"), seat("asked", "cy")], "draft.md")
    assert round_ is not None
    assert all(line.replace("\\|", "").count("|") == 6 for line in markdown(round_).splitlines())
    assert "still out" in markdown(round_)


def test_an_artifact_that_looks_like_a_comment_is_still_a_row() -> None:
    row = seat("asked")._replace(artifact="#draft.md")
    text = render(ROUNDS, parse(ROUNDS, "")._replace(rows=(row,)))
    assert parse(ROUNDS, text).rows == (row,)


def test_rows_of_no_known_state_are_kept_and_are_no_rounds() -> None:
    line = "draft.md\tana\tbo\t0\tasleep\t2026-09-20\t2026-09-20\t-\t\t"
    log = parse(ROUNDS, line + "\n")
    assert log.rows == () and [stray.text for stray in log.strays] == [line]
