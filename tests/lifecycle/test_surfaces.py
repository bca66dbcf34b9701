"""The lifecycle inside kb: commands, the linter, tools for a model, a page, and the ear for kb's own sessions."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kb.api import KbError, SessionEvent
from kb_plugins.lifecycle.listener import listen
from kb_plugins.lifecycle.pages import pages
from kb_plugins.lifecycle.tools import tools
from tests.lifecycle.yard import CANDIDATES, CURATED, RECORD, Yard


def app(root: Path) -> Any:
    return SimpleNamespace(fleet=SimpleNamespace(root=str(root)))


def fire(yard: Yard, kind: str, session: str = "dawn", root: Path | None = None, **more: Any) -> None:
    base = root or yard.root
    data = {"path": str(base / f".kb/sessions/{session}.handoff.md")} if kind.startswith("handoff.") else {}
    listen(SessionEvent(kind, session, base, "ana", data=data, **more))


def test_a_session_of_kb_opens_concludes_hands_over_and_closes_an_episode(yard: Yard) -> None:
    (yard.root / ".ai").mkdir()
    fleet = yard.root / "notes"
    fleet.mkdir()
    for _ in range(3):
        fire(yard, "session.opened", root=fleet)
    fire(yard, "session.concluded", root=fleet, texts=("Hooks are painted red", " "))
    fire(yard, "handoff.saved", root=fleet)
    fire(yard, "handoff.claimed", root=fleet)
    fire(yard, "session.captured", root=fleet)
    fire(yard, "session.captured", root=fleet)
    assert [row["event"] for row in yard.rows()] == [
        "session.started", "decision.recorded", "task.handed_over", "knowledge.derived", "session.closed"]
    assert {row["session"] for row in yard.rows()} == {yard.rows()[0]["session"]}
    assert yard.rows("task.handed_over")[0]["handover_path"] == "notes/.kb/sessions/dawn.handoff.md"
    assert len(list((yard.root / CANDIDATES).glob("s-*.md"))) == 1


def test_a_repository_without_the_folder_hears_nothing(yard: Yard, tmp_path: Path) -> None:
    for kind in ("session.opened", "session.concluded", "session.captured", "handoff.saved"):
        fire(yard, kind, texts=("x",))
        fire(yard, kind, root=tmp_path)
        fire(yard, kind, session="")
    assert not (yard.root / ".ai").exists()


def test_a_ledger_that_cannot_be_written_stops_no_session(yard: Yard, capfd: pytest.CaptureFixture[str]) -> None:
    yard.write(".ai/local", "a file where the state belongs\n")
    fire(yard, "session.opened")
    assert "the ledger does not have session.opened" in capfd.readouterr().err


def test_what_goes_wrong_is_told_in_one_harmless_line_or_not_at_all(yard: Yard, capfd: pytest.CaptureFixture[str],
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    root = yard.root / "red\x1b[2J"
    yard.git("init", "-q", str(root))
    (root / ".ai").mkdir()
    (root / ".ai/local").write_text("a file where the state belongs")
    fire(yard, "session.opened", root=root)
    told = capfd.readouterr().err
    assert "the ledger does not have session.opened" in told and "\x1b" not in told
    with open(os.devnull, encoding="utf-8") as nowhere:
        monkeypatch.setattr(sys, "stderr", nowhere)  # not to be written to: as good as a pipe that nobody reads
        fire(yard, "session.opened", root=root)
    fire(yard, "session.opened", root=root)


def test_an_open_session_costs_no_git_call(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    (yard.root / ".ai").mkdir()
    fire(yard, "session.opened")
    monkeypatch.setenv("PATH", "/nowhere")
    fire(yard, "session.opened")
    assert len(yard.rows()) == 1


def test_the_tools_read_and_none_of_them_promotes(yard: Yard) -> None:
    yard.decide("Oil on Mondays")
    yard.write(f"{CURATED}/coil-cables.md", RECORD)
    before = yard.tree()
    found = {tool.name: tool for tool in tools()}
    assert list(found) == ["kb_knowledge_candidates", "kb_knowledge_record", "kb_knowledge_status"]
    queue = json.loads(found["kb_knowledge_candidates"].run(app(yard.root), {}))
    assert queue == yard("knowledge", "candidates", "--json").json() and queue["total"] == 1
    record = json.loads(found["kb_knowledge_record"].run(app(yard.root), {"id": "coil-cables"}))
    assert record == yard("knowledge", "record", "coil-cables", "--json").json()
    assert json.loads(found["kb_knowledge_status"].run(app(yard.root), {})) == yard("knowledge", "status", "--json").json()
    assert yard.tree() == before
    for tool in tools():
        assert tool.annotations["readOnlyHint"] is True and "properties" in tool.input_schema


def test_a_fleet_outside_a_repository_has_no_records_and_says_so(tmp_path: Path, yard: Yard) -> None:
    with pytest.raises(KbError, match="git repository"):
        tools()[0].run(app(tmp_path), {})
    assert "git repository" in pages()[0].render(app(tmp_path), {})


def test_the_page_shows_the_queue_with_every_text_escaped(yard: Yard) -> None:
    assert "No knowledge candidates" in pages()[0].render(app(yard.root), {})
    yard.decide("<script>alert(1)</script>\x1b[31m")
    yard.note("observation.recorded", task_id="none", kind="drift", subject="src", statement="a & b", evidence=[])
    yard("knowledge", "derive", "--episode", "s-20260918080000-a1b2").ok()
    html = pages()[0].render(app(yard.root), {})
    assert "<script>" not in html and "&lt;script&gt;" in html and "\x1b" not in html and "a &amp; b" in html
    assert "<code>src</code>: 1 awaiting" in html


def test_kb_itself_runs_the_commands_and_the_codes_and_does_without_them(yard: Yard) -> None:
    import subprocess
    import sys

    def kb(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "kb", *words], cwd=yard.root, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})

    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    assert kb("knowledge", "check").returncode == 10
    found = kb("check", CURATED, "--select", "K", "--format", "json")
    assert [row["code"] for row in json.loads(found.stdout)["findings"]] == ["K09"] and found.returncode == 1
    off = kb("knowledge", "check", KB_DISABLE_PLUGINS="lifecycle")
    assert off.returncode == 2 and "no verb" in off.stderr
    assert '"K' not in kb("check", CURATED, "--format", "json", KB_DISABLE_PLUGINS="lifecycle").stdout
