"""A provider's hooks: they end with 0 whatever happens, and they never wait for a pipe that nobody closes."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from tests.lifecycle.yard import CANDIDATES, MAJORDOMUS, Yard


def hook(yard: Yard, event: str, payload: str = '{"session_id": "dawn"}') -> str:
    run = yard("session", "hook", "--provider", "claude-code", "--event", event, stdin=payload).ok()
    return run.out + run.err


@pytest.mark.parametrize("words", [
    (), ("--provider", "p"), ("--provider", "p", "--event", "reboot"), ("--event", "start"), ("--nonsense",),
    ("--provider", "p", "--event", "start", "--event", "end"), ("--provider", "p", "--event", "start", "more")])
def test_wrong_words_are_told_and_end_with_0(yard: Yard, words: tuple[str, ...]) -> None:
    run = yard("session", "hook", *words)
    assert (run.code, run.out) == (0, "") and run.err.startswith("session hook: ")
    assert not (yard.root / ".ai").exists()


def test_outside_a_repository_a_hook_ends_with_0_and_says_so(yard: Yard) -> None:
    plain = yard.root.parent / "plain"
    plain.mkdir()
    run = yard("session", "hook", "--provider", "p", "--event", "end", cwd=plain)
    assert (run.code, run.out) == (0, "") and "git repository" in run.err and list(plain.iterdir()) == []


@pytest.mark.parametrize("payload", ["not json", "[]", '"x"', "{", '{"session_id": 7}', "[" * 5000])
def test_a_payload_that_is_none_is_logged_and_the_boundary_is_drawn(yard: Yard, payload: str) -> None:
    hook(yard, "start", payload)
    assert len(yard.rows("session.started")) == 1
    assert len(yard.rows("provider.event.failed")) == (0 if payload.startswith('{"') else 1)


def test_a_pipe_that_nobody_closes_is_read_as_far_as_it_goes(yard: Yard) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, json.dumps({"sessionId": "dawn", "source": "startup"}).encode())
        began = time.monotonic()
        done = subprocess.run([*MAJORDOMUS, "session", "hook", "--provider", "p", "--event", "start"], cwd=yard.root,
                              stdin=reader, capture_output=True, timeout=20, check=False)
        assert done.returncode == 0 and time.monotonic() - began < 10
    finally:
        os.close(reader)
        os.close(writer)
    assert (yard.root / ".ai/local/state/sessions-open/dawn.yaml").is_file()


def test_the_session_of_a_model_that_kb_runs_is_no_episode(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_INSIDE_MODEL", "1")
    assert hook(yard, "start") == "" and not (yard.root / ".ai").exists()


def test_a_policy_that_does_not_parse_is_recorded_and_the_close_still_happens(yard: Yard) -> None:
    hook(yard, "start")
    yard.write(".ai/repo/policy.yaml", "\tbad\n")
    said = hook(yard, "end")
    assert len(yard.rows("session.closed")) == 1 and "policy" in said
    assert {row["provider_event"] for row in yard.rows("provider.event.failed")} == {"end"}


def test_the_end_leaves_a_checkpoint_a_handover_and_no_second_derivation(yard: Yard) -> None:
    hook(yard, "start")
    yard("start", "Mend the crane", "--scope", "src").ok()
    yard("decision", "add", "Oil on Mondays", "--why", "x").ok()
    hook(yard, "end", '{"session_id": "dawn", "end_reason": "logout"}')
    events = [row["event"] for row in yard.rows()]
    assert [e for e in events if e in ("task.checkpoint", "task.handed_over", "knowledge.derived", "session.closed")] == [
        "task.checkpoint", "task.handed_over", "knowledge.derived", "session.closed"]
    [path] = [row["handover_path"] for row in yard.rows("task.handed_over")]
    assert "# Objective\n\nMend the crane\n" in yard.read(path) and "# Next Action" in yard.read(path)
    hook(yard, "end")
    assert len(yard.rows("session.closed")) == 1


def test_a_ledger_that_cannot_be_written_leaves_stderr(yard: Yard) -> None:
    yard.write(".ai/local", "a file where the state belongs\n")
    run = yard("session", "hook", "--provider", "p", "--event", "compact", stdin="{}")
    assert (run.code, run.out) == (0, "") and "could not be logged" in run.err


def test_the_briefing_stays_in_its_budget_and_says_that_it_was_cut(yard: Yard) -> None:
    yard.write(".ai/repo/policy.yaml", "version: 1\nsession:\n  briefing_budget_lines: 3\n")
    run = yard("session", "hook", "--provider", "p", "--event", "start", stdin="{}").ok()
    assert len(run.out.splitlines()) == 3 and "more line(s)" in run.out
    yard.write(".ai/repo/policy.yaml", "version: 1\nsession:\n  briefing_on_start: false\n")
    assert yard("capture", "session", "--provider", "p", "--event", "start", stdin="{}").ok().out == ""


def test_a_candidate_of_an_unknown_episode_is_named_apart_and_absence_is_said(yard: Yard) -> None:
    assert "No knowledge candidates await review on this branch" in hook(yard, "start")
    [name] = yard.decide("Oil on Mondays")
    out = yard("context").ok().out
    assert "1 candidate(s) whose episode is not known in this checkout:" in out and f"- {name}  Oil on Mondays" in out
    assert (yard.root / CANDIDATES / f"{name}.md").exists()
