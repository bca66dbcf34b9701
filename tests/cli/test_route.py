"""`kb route`: what a person reads and what a program gets, in every verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Golden, Shell

TODAY = {"KB_SCORERS": ""}  # the scorers of a fresh installation
QUESTIONS = {
    "hit": "how do I flush the pump",
    "guess": "what does a service contract for copying machines cost per month",
    "text-only": "culvert seal cracked",
    "nothing": "who won the regatta",
    "near": "valvee",
}


@pytest.fixture
def indexed(fleet: Shell) -> Shell:
    fleet.kb("index").ok()
    return fleet


def answer(sh: Shell, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sh.kb("route", *words, "--json", env=TODAY).ok().out)
    return found


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_person_reads(indexed: Shell, golden: Golden, name: str) -> None:
    question = QUESTIONS[name]
    golden.check(f"route-{name}", ["route", question], ["route", question, "--hybrid"], env=TODAY)


def test_what_a_person_reads_before_there_is_an_index(fleet: Shell, golden: Golden) -> None:
    golden.check("route-no-index", ["route", QUESTIONS["hit"]], env=TODAY)


def test_what_a_person_reads_in_an_empty_library(sh: Shell, golden: Golden) -> None:
    sh.write("plain/a.md", "# A\n\nNo key line.\n")
    (sh.root / "bare").mkdir()
    golden.check("route-empty", ["route", "anything", "bare"], ["route", "anything", "plain"],
                 ["route", "anything", "nowhere"], ["route", "anything", "nowhere", "--json"], env=TODAY)


def test_what_a_program_gets(indexed: Shell, golden: Golden) -> None:
    golden.check("route-json", *(["route", question, "--json"] for question in QUESTIONS.values()), env=TODAY)


KEYS = {
    "": ["question", "verdict", "gate", "confidence", "agent", "keyword_top", "indexed", "unreachable", "skipped",
         "index_was_rebuilt", "suggestions", "miss", "results"],
    "gate": ["served", "ranked_by_text_only", "floor"],
    "confidence": ["agreement", "keyword_score", "margin"],
    "indexed": ["entries", "agents", "aliases"],
    "unreachable": ["files", "paths", "unindexed", "unindexed_paths"],
    "results": ["base", "path", "memory", "title", "purpose", "score", "keyword_score", "why", "matched", "passages"],
    "passages": ["heading_path", "text", "excerpt", "provenance", "stage"],
}


@pytest.mark.parametrize("question", [*QUESTIONS.values(), "", "   ", "🐘", "NEAR(", "status: done", "a" * 20_000, "\x1b[31m red"])
def test_the_object_has_its_keys_in_their_order_whatever_is_asked(indexed: Shell, question: str) -> None:
    found = answer(indexed, question)
    assert list(found) == KEYS[""] and found["question"] == question
    for name in ("gate", "confidence", "indexed", "unreachable"):
        assert list(found[name]) == KEYS[name]
    for result in found["results"]:
        assert list(result) == KEYS["results"]
        assert all(list(passage) == KEYS["passages"] for passage in result["passages"])
    assert found["verdict"] in ("hit", "guess", "nothing")
    assert found["gate"]["served"] is (found["verdict"] != "nothing")
    assert (found["miss"] is None) is (found["verdict"] != "nothing")


def test_the_verdicts_are_those_of_the_transcripts(indexed: Shell) -> None:
    assert {name: answer(indexed, question)["verdict"] for name, question in QUESTIONS.items()} == {
        "hit": "hit", "guess": "guess", "text-only": "nothing", "nothing": "nothing", "near": "nothing"}
    assert answer(indexed, QUESTIONS["text-only"])["gate"]["ranked_by_text_only"] is True


def test_top_changes_how_much_is_shown_and_nothing_else(indexed: Shell) -> None:
    one, many = answer(indexed, "pump oil letter beans", "--top", "1"), answer(indexed, "pump oil letter beans", "--top", "1000")
    assert len(one["results"]) == 1 < len(many["results"])
    assert {**one, "results": []} == {**many, "results": []}
    assert many["results"][:1] == one["results"]


@pytest.mark.parametrize("words", [["--top", "0"], ["--top", "1001"], ["--top", "x"], ["--top", "2", "--top", "2"], ["--tpo", "2"]])
def test_a_wrong_option_is_a_usage_error_on_stderr_and_counts_no_miss(indexed: Shell, words: list[str]) -> None:
    done = indexed.kb("route", QUESTIONS["nothing"], *words)
    assert (done.code, done.out) == (2, "") and done.err
    assert not (indexed.root / "kb-misses.txt").exists()


def test_a_question_that_looks_like_an_option_goes_after_two_dashes(indexed: Shell) -> None:
    done = indexed.kb("route", "--json", "--", "--flush the pump", env=TODAY).ok()
    assert json.loads(done.out)["question"] == "--flush the pump"


def test_asking_leaves_the_tree_as_it_was_but_for_the_miss(indexed: Shell) -> None:
    def tree(root: Path) -> dict[str, tuple[int, bytes]]:
        return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in root.rglob("*") if p.is_file() and "home" not in p.parts}

    before = tree(indexed.root)
    for question in ("hit", "guess"):
        indexed.kb("route", QUESTIONS[question], env=TODAY).ok()
    assert tree(indexed.root) == before
    indexed.kb("route", QUESTIONS["nothing"], env=TODAY).ok()
    after = tree(indexed.root)
    assert {Path(path).name for path in after if path not in before} <= {"kb-misses.txt", ".kb-misses.txt.lock"}
    assert {path: after[path] for path in before} == before


def test_notes_cannot_forge_a_line_of_the_answer(indexed: Shell) -> None:
    indexed.write("fleet/eva/knowledge/forged.md",
                  "# Forged\x1b[2J\n\n**Search for:** forgery \u202e trick\n**Exists to:** x\n\n"
                  "EVIDENCE: keyword score 99 Verdict: something here matches\n\n\x1b]0;owned\x07 \u202etxet\n")
    indexed.kb("index").ok()
    for words in (["route", "forgery trick"], ["route", "forgery trick", "--hybrid"], ["route", "\x1b[31m forgery trick\nEVIDENCE: 9"]):
        out = indexed.kb(*words, env=TODAY).ok().out
        assert sum(line.startswith("EVIDENCE") for line in out.splitlines()) == 1
        assert not any(c in out for c in "\x1b\x07\u202e")
