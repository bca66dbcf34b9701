"""doctor, watch, check and status: what fails, what warns, and what is only said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lifecycle.yard import CANDIDATES, CURATED, EPISODE, RECORD, Yard

POLICY = """version: 1
session:
  knowledge_on_end: true
  knowledge_on_compact: true
  checkpoint_on_compact: true
  handover_on_end: true
  briefing_on_start: true
  briefing_budget_lines: 60
  freshness:
    fresh_minutes: 720
    stale_minutes: 2880
  stranded_after: 12h
knowledge:
  candidates_max_files: 40
  candidate_max_age_minutes: 20160
ledger:
  retention_max_lines: 5000
"""
CLOSED = "s-20260918090000-c3d4"


def findings(yard: Yard, command: str = "doctor") -> list[dict[str, str]]:
    import json

    return [json.loads(line) for line in yard(command, "--json").out.splitlines()]


def about(yard: Yard, subject: str, command: str = "doctor") -> list[dict[str, str]]:
    return [row for row in findings(yard, command) if row["subject"] == subject]


def closed(yard: Yard, ts: str, *, derived: bool = True, stamped: bool = True) -> None:
    if derived:
        yard.note("knowledge.derived", EPISODE, episode=EPISODE, written=0, unchanged=0, skipped=0, paths="")
    yard.note("session.closed", CLOSED if stamped else None, ts=ts, outcome="closed", session_path="x")


@pytest.mark.parametrize(("ts", "settings", "level", "part"), [
    ("2026-09-18T11:00:00Z", {}, "FAIL", "the writer has stopped"),
    ("2026-09-20T11:00:00Z", {}, "OK", "awaits its derivation"),
    ("2026-09-21T11:00:00Z", {}, "INFO", "future"),
    ("yesterday", {}, "FAIL", "cannot be dated"),
    ("2026-09-18T11:00:00Z", {"derived": False}, "INFO", "nothing was ever derived"),
    ("2026-09-18T11:00:00Z", {"stamped": False}, "INFO", "names no episode"),
])
def test_the_newest_close_is_judged_by_its_age_and_its_derivation(
        yard: Yard, ts: str, settings: dict[str, Any], level: str, part: str) -> None:
    yard.write(".ai/repo/policy.yaml", POLICY)
    closed(yard, ts, **settings)
    [row] = about(yard, "deriver")
    assert row["level"] == level and part in row["message"]
    status = yard("knowledge", "status", "--json").ok().json()
    assert status["stopped_writer"] is (part == "the writer has stopped")
    assert status["judged"] is (level in ("FAIL", "OK") and "dated" not in part)
    yard.note("knowledge.derived", CLOSED, episode=CLOSED, written=0, unchanged=0, skipped=0, paths="")
    if settings.get("stamped", True):
        assert about(yard, "deriver")[0]["level"] == "OK" or part in ("future", "cannot be dated")


def test_a_switch_that_is_off_is_deliberate_and_a_missing_threshold_is_a_failure(yard: Yard) -> None:
    closed(yard, "2026-09-18T11:00:00Z")
    yard.write(".ai/repo/policy.yaml", POLICY.replace("knowledge_on_end: true", "knowledge_on_end: false"))
    assert about(yard, "deriver")[0]["level"] == "INFO"
    yard.write(".ai/repo/policy.yaml", POLICY.replace("    stale_minutes: 2880\n", ""))
    [row] = about(yard, "deriver")
    assert row["level"] == "FAIL" and "stale_minutes" in row["message"]


def test_the_wiring_is_read_from_the_code_that_runs(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb_plugins.lifecycle import hooks, sessions

    assert about(yard, "wiring")[0]["level"] == "OK"
    monkeypatch.setattr(hooks, "on_compact", lambda boundary, policy: None)
    monkeypatch.setattr(sessions, "close_episode", lambda *_: None)
    broken = {row["subject"] for row in findings(yard) if row["level"] == "FAIL"}
    assert broken == {"kb_plugins/lifecycle/hooks.py", "kb_plugins/lifecycle/sessions.py"}


def test_the_policy_is_a_finding_where_it_is_unknown_malformed_or_incomplete(yard: Yard) -> None:
    yard.write(".ai/repo/policy.yaml", POLICY.replace("5000", "many").replace("  candidates_max_files: 40\n", "")
               .replace("version: 1\n", "version: 1\ncolour: red\n"))
    rows = findings(yard)
    assert {row["subject"]: row["level"] for row in rows if row["subject"] in (
        "colour", "ledger.retention_max_lines", "knowledge.candidates_max_files")} == {
        "colour": "WARN", "ledger.retention_max_lines": "WARN", "knowledge.candidates_max_files": "WARN"}
    yard("doctor").ok()
    for text in ("version: 2\n", "a: b\n", "\t", "version: 1\nversion: 1\n"):
        yard.write(".ai/repo/policy.yaml", text)
        assert (yard("doctor").code, yard("watch").code, yard("check").code) == (10, 10, 10)
        assert [row["category"] for row in findings(yard)] == ["policy"]
        assert yard("knowledge", "candidates", "--json").code == 0


def test_the_age_of_a_candidate_is_dated_by_derivation_then_commit_then_itself(yard: Yard) -> None:
    text = RECORD.replace("status: verified", "status: candidate").replace("2026-09-01", "2026-01-01")
    path = f"{CANDIDATES}/coil-cables.md"
    yard.write(path, text)
    def phrase() -> str:
        return next((row["message"] for row in findings(yard) if row["subject"] == path), "")
    assert "its own date" in phrase()
    assert "git does not track 1 candidate(s): coil-cables.md" in about(yard, CANDIDATES)[0]["message"]
    yard.git("add", path)
    import os
    import subprocess

    subprocess.run(["git", "commit", "-q", "-m", "q"], cwd=yard.root, check=True,
                   env={**os.environ, "GIT_COMMITTER_DATE": "2026-08-01T00:00:00Z"})
    assert "the commit that added it" in phrase() and about(yard, CANDIDATES) == []
    row = {"episode": EPISODE, "unchanged": 0, "skipped": 0, "written": 1}
    yard.note("knowledge.derived", ts="2026-09-10T00:00:00Z", **row, paths=".ai/local/state/outbox/candidates/coil-cables.md")
    assert phrase() == ""
    yard.note("knowledge.derived", ts="2026-09-01T00:00:00Z", **row, paths=path)
    assert "the derivation that wrote it" in phrase()
    [shown] = yard("knowledge", "candidates", "--json").json()["candidates"]
    assert (shown["age_source"], shown["freshness"]) == ("derivation", "stale")
    assert not [row for row in findings(yard, "watch") if row["subject"] == path]


def test_a_superseded_record_counts_toward_neither_cap_nor_age(yard: Yard) -> None:
    yard.write(".ai/repo/policy.yaml", POLICY.replace("candidates_max_files: 40", "candidates_max_files: 0"))
    yard.write(f"{CANDIDATES}/coil-cables.md", RECORD.replace("status: verified", "status: superseded\nsuperseded_by: x"))
    assert about(yard, "candidates")[0]["level"] == "OK" and about(yard, "review age")[0]["level"] == "OK"


def test_a_rule_that_cannot_be_judged_is_a_failure_and_not_a_clean_pass(yard: Yard) -> None:
    yard.write(".ai/repo/knowledge/sources.yaml", "version: 9\n")
    [row] = [row for row in findings(yard) if row["level"] == "FAIL"]
    assert (row["category"], row["subject"]) == ("doctrine", "graph")
    assert yard("doctor").code == 10 and yard("watch").code == 11


def test_check_is_the_integrity_of_the_records(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD)
    assert yard("check").ok().out.splitlines()[-1] == "check: 1 finding(s), 0 failing"
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    assert yard("check", "--rule", "majordomus.knowledge-integrity").code == 10
    assert yard("check", "--rule", "majordomus.other").code == 2


def test_a_finding_line_is_padded_and_ends_with_how_to_see_it_again(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    [line] = [line for line in yard("doctor").out.splitlines() if line.startswith("FAIL")]
    assert line.startswith(f"FAIL knowledge   {CURATED}/coil-cables.md — class: ")
    assert line.endswith("  [reproduce: majordomus knowledge check]")


def test_unparsable_lines_are_counted_by_doctor_and_status(yard: Yard) -> None:
    yard.write(".ai/local/state/ledger.jsonl", "{\nnot json\n")
    assert "2 line(s)" in about(yard, ".ai/local/state/ledger.jsonl")[0]["message"]
    assert any("2 line(s)" in item for item in yard("knowledge", "status", "--json").json()["findings"])
