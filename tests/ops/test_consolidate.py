"""Consolidation as an operation: a pattern is carried by two sessions that exist, or by none."""

from __future__ import annotations

import os

import pytest

from kb.app import open_app
from kb.errors import KbError, UsageError
from kb.ops.consolidate import Consolidation, as_object
from kb.ops.consolidate import consolidate as op
from tests.conftest import Shell
from tests.models import ACCEPT, REJECT, prompts, proposal, rows, stand_in

NOTE = "fleet/ada/knowledge/tug-rule.md"


def pattern(sources: str = "s1, s2", slug: str = "tug-rule", folder: str = "knowledge") -> str:
    return proposal(slug, "tug, tug rule, tow order", folder, body="# Tug rule\n\nThe pilot calls.", extra=f"sources: {sources}\n")


def deposit(session: str, *, refused: str = "", concluded: str = "") -> str:
    """A deposit as kb capture writes it."""
    parts = [f"---\nprovenance: agent\nstage: raw\n---\n\n# Session {session}, 2026-09-19\n"]
    parts += [f"## Questions the base could not answer\n\nEach was asked.\n\n- {refused}\n  looked like: tug, tow\n"] if refused else []
    parts += [f"## Decisions and conclusions\n\n- {concluded}\n"] if concluded else []
    return "\n".join([*parts, "## Where the conversation went\n\nada, then ben\n"])


@pytest.fixture
def desk(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("KB_NOW", "KB_SCORERS", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, fleet.env[name])
    monkeypatch.setenv("KB_TRUST", "1")
    handoff(fleet, "s1", "the pilot calls the tug", 1)
    handoff(fleet, "s2", "tugs wait for the pilot", 2)
    stand_in(fleet, "promoter", pattern())
    stand_in(fleet, "reviewer", ACCEPT)
    return fleet


def handoff(sh: Shell, session: str, decision: str, age: int, agent: str = "ada") -> None:
    path = sh.write(f".kb/sessions/{session}.handoff.md", f"---\nsession: {session}\nagent: {agent}\nstatus: pending\n---\n\n"
                    f"# Task\nBerth {session}\n\n## Decisions\n- {decision}\n\n## Blockers\n- fog\n\n## Next Steps\n- ring\n")
    os.utime(path, (1_000_000 + age, 1_000_000 + age))


def consolidate(sh: Shell, agent: str = "ada", **settings: object) -> Consolidation:
    return op(open_app([str(sh.root)]), agent, **settings)  # type: ignore[arg-type]


def test_a_pattern_of_two_sessions_is_reviewed_and_written_with_both(desk):
    done = consolidate(desk)
    assert (done.written, done.admitted, done.refused, len(prompts(desk, "reviewer"))) == (1, 1, 0, 3)
    assert "\nstage: captured\ncaptured_from: s1, s2\n" in desk.read(NOTE)


def test_the_synthesizer_reads_what_was_recorded_and_what_was_refused_and_concluded(desk):
    desk.write("fleet/ada/inbox/2026-09-19-session-s2.md", deposit("s2", refused="who pays the tug?", concluded="the owner pays"))
    desk.write("fleet/ada/inbox/whatever.md", deposit("s-session-3", concluded="tugs come late"))
    desk.write("fleet/ada/inbox/empty.md", deposit("s4"))
    done = consolidate(desk)
    assert sorted(one.session for one in done.sessions) == ["s-session-3", "s1", "s2"]
    [prompt] = prompts(desk, "promoter")
    for line in ("SESSION: s1", "Task: Berth s1", "the pilot calls the tug", "fog", "who pays the tug?", "the owner pays",
                 "tugs come late"):
        assert line in prompt
    assert prompt.count("SESSION: s2") == 1 and "looked like" not in prompt and "s4" not in prompt


def test_the_newest_sessions_of_this_agent_fill_the_places(desk):
    handoff(desk, "s3", "third", 3)
    handoff(desk, "s4", "of another", 4, agent="ben")
    handoff(desk, "s5", "fifth", 5, agent="ADA")
    assert [one.session for one in consolidate(desk, sessions=3).sessions] == ["s5", "s3", "s2"]


@pytest.mark.parametrize(("sources", "why"), [("s1", "at least 2"), ("s2, s2", "at least 2"), ("s1, s9", "s9"), ("", "at least 2")])
def test_what_two_known_sessions_do_not_carry_costs_no_review(desk, sources, why):
    stand_in(desk, "promoter", pattern(sources))
    done = consolidate(desk)
    [(slug, reason)] = done.rejected
    assert slug == "tug-rule" and why in reason and prompts(desk, "reviewer") == [] and rows(desk, "kb-rejections.txt") == []


def test_ids_that_differ_in_case_alone_are_two_sessions(desk):
    handoff(desk, "Zq", "one", 3)
    handoff(desk, "zQ", "two", 4)
    stand_in(desk, "promoter", pattern("Zq, zQ"))
    assert consolidate(desk).written == 1
    handoff(desk, "A1", "three", 5)
    stand_in(desk, "promoter", pattern("a1, zQ", slug="other"))
    [(_, reason)] = consolidate(desk).rejected
    assert "'a1' does not exist" in reason


@pytest.mark.parametrize("folder", ["skills", "inbox", "../x"])
def test_a_folder_that_a_model_may_not_name_is_rejected_without_a_review(desk, folder):
    stand_in(desk, "promoter", pattern(folder=folder))
    assert [slug for slug, _ in consolidate(desk).rejected] == ["tug-rule"] and prompts(desk, "reviewer") == []


def test_one_session_asks_no_model(desk):
    os.remove(desk.root / ".kb/sessions/s2.handoff.md")
    done = consolidate(desk)
    assert len(done.sessions) == 1 and prompts(desk, "promoter") == []


def test_the_same_history_is_not_compared_twice_and_a_longer_one_is(desk):
    stand_in(desk, "reviewer", REJECT)
    assert consolidate(desk).refused == 1
    again = consolidate(desk)
    assert (again.decided_on, len(prompts(desk, "promoter"))) == ("2026-09-20", 1)
    handoff(desk, "s3", "more", 3)
    consolidate(desk)
    assert len(prompts(desk, "promoter")) == 2


@pytest.mark.parametrize(("role", "reply"), [("promoter", ""), ("promoter", "max turns"), ("reviewer", "")])
def test_an_outage_is_told_and_stays_open(desk, role, reply):
    stand_in(desk, role, reply)
    assert len(consolidate(desk).outages) == 1 and rows(desk, "kb-decided.txt") == [] and rows(desk, "kb-rejections.txt") == []
    stand_in(desk, role, pattern() if role == "promoter" else ACCEPT)
    assert consolidate(desk).written == 1


def test_a_dry_run_decides_and_writes_nothing(desk):
    done = consolidate(desk, dry_run=True)
    assert (done.admitted, done.written) == (1, 0) and not (desk.root / NOTE).exists() and not (desk.root / "kb-decided.txt").exists()


def test_who_does_not_exist_or_is_blank_is_refused(desk):
    with pytest.raises(KbError, match="nobody"):
        consolidate(desk, "nobody")
    with pytest.raises(UsageError):
        consolidate(desk, " ")


def test_the_object_has_its_keys_in_alphabetical_order(desk):
    found = as_object(consolidate(desk))
    assert list(found) == ["admitted", "agent", "decided", "proposals_generated", "refused", "rejected_evidence", "sessions_consulted",
                           "written"]
    [one] = found["decided"]
    assert list(one) == ["accepted", "reviews", "slug", "source", "written"] and one["written"] == str(desk.root / NOTE)
    assert [review["lens"] for review in one["reviews"]] == ["contradiction", "duplication", "scope"]


def test_the_command_prints_counts_and_reasons_and_waits_its_turn(desk):
    desk.env["KB_TRUST"] = "1"
    stand_in(desk, "promoter", pattern() + pattern("s1", slug="lone"))
    run = desk.kb("consolidate", "ada", desk.root).ok()
    assert run.out.startswith("consolidate ada: consulted 2 session(s), generated 2 candidate(s).\n"
                              "  rejected proposal lone: requires at least")
    assert f"  wrote   ada/tug-rule\n          {desk.root}/{NOTE}\n          from s1, s2\n" in run.out
    assert run.out.endswith("\n1 proposal(s) evaluated: 1 written, 0 refused.\n")
    assert "compared on 2026-09-20" in desk.kb("consolidate", "ada", desk.root).ok().out
    assert desk.kb("consolidate").code == desk.kb("consolidate", "ada", desk.root, "--sessions", "0").code == 2
