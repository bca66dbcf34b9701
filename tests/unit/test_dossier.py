"""The classifier's reply, however a model decorates it, and the prompt that it answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.dossier import Reviewer, dossier, one_liner, parse_reply
from kb.core.values import Answer, Base, Confidence, Hit, Privacy, Result, Unreachable

ROSTER = ["Zed", "ada", "ben", "eva", "flo"]
REPLY = "SUBJECT: pumps\nREASON: it is theirs.\nCOVERAGE: covered\nOWNER: ada\n"


def test_five_lines_and_four_lines_are_a_ruling():
    five = parse_reply(REPLY + "REVIEWERS: ben: the tone; eva\n", ROSTER)
    assert five and (five.subject, five.reason, five.coverage, five.owner) == ("pumps", "it is theirs.", "covered", "ada")
    assert five.reviewers == (Reviewer("ben", "the tone"), Reviewer("eva"))
    four = parse_reply(REPLY, ROSTER)
    assert four and four.reviewers == ()


@pytest.mark.parametrize("line", ["**OWNER:** Zed", "- OWNER: zed", "owner: zed", "## Owner: `zed`.", "**Owner**: ZED",
                                  "1. OWNER: <zed>", "OWNER: zed (keeps the servers)", "* **owner:** **zed**"])
def test_labels_count_in_any_case_and_decoration(line):
    ruling = parse_reply(f"Sure!\n{line}\nCOVERAGE: Covered.\n", ROSTER)
    assert ruling and ruling.owner == "Zed" and ruling.coverage == "covered"


@pytest.mark.parametrize(("text", "coverage", "owner"), [
    ("OWNER: ada", "covered", "ada"), ("OWNER: none", "uncovered", None), ("OWNER: nemo", "uncovered", None),
    ("COVERAGE: adjacent", "adjacent", None), ("COVERAGE: perhaps\nOWNER: ada", "uncovered", "ada"),
    ("COVERAGE: **ADJACENT** (near)\nOWNER: ada", "adjacent", "ada"), ("COVERAGE:\nOWNER: ada", "uncovered", "ada"),
])
def test_a_missing_coverage_beside_an_owner_is_covered_and_a_strange_one_is_not(text, coverage, owner):
    ruling = parse_reply(text, ROSTER)
    assert ruling and (ruling.coverage, ruling.owner) == (coverage, owner)


@pytest.mark.parametrize("reply", ["", "I would ask ada about that.", "SUBJECT: pumps\nREASON: none", "COVERAGE adjacent"])
def test_prose_is_no_ruling(reply):
    assert parse_reply(reply, ROSTER) is None


@pytest.mark.parametrize(("reviewers", "seated"), [
    ("none", []), ("-", []), ("", []), ("ada: herself; nemo: who; BEN: x; ben: again", ["ben"]),
    ("ben; eva; flo; zed", ["ben", "eva", "flo"]), ("**ben**: x; `eva`", ["ben", "eva"]),
])
def test_the_panel_is_three_known_agents_at_most_and_never_the_owner(reviewers, seated):
    ruling = parse_reply(f"OWNER: ada\nREVIEWERS: {reviewers}", ROSTER)
    assert ruling and [seat.agent for seat in ruling.reviewers] == seated


@given(st.text(max_size=300))
def test_no_reply_is_too_strange(reply):
    ruling = parse_reply(reply, ROSTER)
    assert ruling is None or ruling.owner in (None, *ROSTER)


def answer(results: tuple[Result, ...] = ()) -> Answer:
    hits = tuple(Hit(f"b{n}", f"{folder}/x.md", 9.0 - n) for n in range(6) for folder in ("knowledge", "skills"))
    return Answer("q", "hit", 4.0, Confidence(2, 9.0, 1.5), None, None, 9, 3, 0, Unreachable(0, (), 0, ()), (), False, (),
                  results, hits)


def agent(name: str, role: str | None, ends: str | None = None) -> Base:
    return Base(name, f"/x/{name}", name.title(), True, Privacy(False), role, ends)


def test_the_prompt_is_stable_up_to_the_evidence_and_the_tail_is_short():
    agents = [agent("Zed", "runs servers", "no copy"), agent("ada", None)]
    results = tuple(Result("b", f"knowledge/{n}.md", "long", "T", "say " + "word " * 200, 0.1, 3.0, (), ("pump",), ())
                    for n in range(9))
    one, two = dossier(agents, answer(results), "flush\nthe pump"), dossier(agents, answer(), "sow beans")
    shared = next(n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    assert "  zed\n    does:  runs servers\n    stops: no copy\n  ada\n    does:  not declared\n" in one[:shared]
    assert "(nothing matched)" in two and "flush the pump" in one[shared:]
    assert len(one[shared:].encode()) < 2200 + 600 and one.count("about:") == 5
    assert "  b0: memory 9.0, skills 9.0, tools -\n" in one and "b4:" not in one


def test_a_purpose_is_one_line_cut_at_a_sentence_or_a_word():
    assert one_liner("- **[[pump]]** say *how* it `works`") == "say how it works"
    assert one_liner("First " + "word " * 15 + "end. " + "x " * 100).endswith("end.")
    assert one_liner("word " * 60).endswith("word...") and len(one_liner("w" * 500)) == 163
