"""`kb capture`: a session's record becomes deposits, and nothing of it is lost on the way."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.crashes import crashes

SECRET = "sk-0123456789abcdefXYZ"
DEPOSIT = "fleet/ada/inbox/2026-09-20-session-s1.md"


def record(sh, text, session="s1"):
    return sh.write(f".kb/sessions/{session}.events", text)


def capture(sh, *words, **settings):
    return sh.kb("capture", ".", "--session", "s1", *words, **settings)


def inbox(sh, agent="ada"):
    folder = sh.root / "fleet" / agent / "inbox"
    return sorted(p.name for p in folder.glob("*session*")) if folder.is_dir() else []


def test_the_session_may_come_from_the_hook_payload(fleet):
    record(fleet, "routed\tada\nconclusion\tone\n")
    payload = json.dumps({"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "exit"})
    fleet.kb("capture", ".", stdin=payload).ok()
    assert inbox(fleet) == ["2026-09-20-session-s1.md"]


def test_a_session_without_events_makes_no_folder_at_all(fleet):
    assert capture(fleet).ok().out.startswith("nothing captured for session s1:")
    assert not (fleet.root / ".kb").exists() and not (fleet.root / "fleet/ada/inbox").exists()


def test_a_session_that_was_only_routed_has_nothing_to_capture_and_keeps_its_path(fleet):
    events = record(fleet, "routed\tada\n")
    assert capture(fleet).ok().out.startswith("nothing captured")
    assert events.read_text() == "routed\tada\n" and inbox(fleet) == []


def test_an_agent_without_a_base_keeps_its_part_and_the_others_are_written(fleet):
    events = record(fleet, "routed\tada\nconclusion\tone\nrouted\tnemo\nconclusion\ttwo\n")
    lines = capture(fleet).ok().out.splitlines()
    assert lines[0].startswith("captured session s1 into ") and "nemo has no base at" in lines[1]
    assert events.read_text() == "routed\tada\nrouted\tnemo\nconclusion\ttwo\n"
    fleet.write("fleet/nemo/agent.txt", "role = x\n")
    assert capture(fleet).ok().out.startswith("captured") and not events.exists()
    assert "- two\n" in fleet.read("fleet/nemo/inbox/2026-09-20-session-s1.md")


def test_an_inbox_that_cannot_be_written_is_exit_1_and_the_record_stays(fleet):
    events = record(fleet, "routed\tada\nconclusion\tone\n")
    fleet.write("fleet/ada/inbox", "a file in the way\n")
    run = capture(fleet)
    assert run.code == 1 and "Traceback" not in run.err and events.exists()


def test_agents_of_loose_and_attached_bases_are_found_as_write_finds_them(sh):
    sh.write("fleet.txt", "attach = ../far\n")
    sh.write("ada/agent.txt", "role = x\n")
    sh.write("home/../ada/MAP.md", "# Ada\n")
    record(sh, "routed\tADA\nconclusion\tone\n")
    assert capture(sh).ok().out.startswith("captured")
    assert (sh.root / "ada/inbox/2026-09-20-session-s1.md").exists()


def test_a_session_is_known_by_its_heading_and_ids_by_their_safe_form(fleet):
    record(fleet, "routed\tada\nconclusion\tone\n", session="a_b")
    fleet.kb("capture", ".", "--session", "a/b").ok()
    assert "# Session a_b, 2026-09-20" in fleet.read("fleet/ada/inbox/2026-09-20-session-a_b.md")


def test_a_deposit_of_another_session_with_the_name_is_left_alone(fleet):
    fleet.write(DEPOSIT, "# Session other, 2026-09-20\n")
    record(fleet, "routed\tada\nconclusion\tone\n")
    capture(fleet).ok()
    assert fleet.read(DEPOSIT) == "# Session other, 2026-09-20\n" and inbox(fleet)[0].endswith("s1-2.md")


def test_what_a_crash_left_written_is_not_written_twice(fleet):
    events = record(fleet, "routed\tada\nconclusion\tone\n")
    capture(fleet).ok()
    record(fleet, "routed\tada\nconclusion\tone\n")  # as if the record had not been removed before the crash
    capture(fleet).ok()
    assert inbox(fleet) == ["2026-09-20-session-s1.md"] and not events.exists()


def test_a_conclusion_is_scrubbed_kept_on_one_line_and_told_to_nobody_twice(fleet):
    record(fleet, "routed\tada\n")
    out = capture(fleet, "--conclusion", f"use\nthe {SECRET}\tkey").ok().out
    assert out.startswith("recorded") and inbox(fleet) == []
    assert (fleet.root / ".kb/sessions/s1.events").read_text() == "routed\tada\nconclusion\tuse the [REDACTED_KEY] key\n"


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_a_blank_conclusion_is_refused(fleet, text):
    assert capture(fleet, "--conclusion", text).code == 2


def test_lines_no_reader_understands_survive(fleet):
    events = record(fleet, "routed\tada\nconclusion\tone\nfuture\tthing\n")
    capture(fleet).ok()
    assert events.read_text() == "future\tthing\n"


def test_a_torn_last_line_does_not_swallow_the_next_event(fleet):
    record(fleet, "routed\tada\nconclusion\tlost ha")
    capture(fleet, "--conclusion", "kept").ok()
    assert (fleet.root / ".kb/sessions/s1.events").read_text().endswith("lost ha\nconclusion\tkept\n")


def test_two_captures_at_once_write_one_deposit(fleet):
    record(fleet, "routed\tada\n" + "".join(f"conclusion\tthing {n}\n" for n in range(200)))
    words = [sys.executable, "-m", "kb", "capture", ".", "--session", "s1"]
    running = [subprocess.Popen(words, cwd=fleet.root, env=fleet.env, stdout=subprocess.PIPE) for _ in range(4)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert sum(out.startswith(b"captured") for out in said) == 1 and inbox(fleet) == ["2026-09-20-session-s1.md"]


def test_a_capture_killed_at_any_step_loses_nothing(fleet):
    wanted = [f"thing {n}" for n in range(30)]
    text = "routed\tada\n" + "".join(f"conclusion\t{thing}\n" for thing in wanted)
    events = fleet.root / ".kb/sessions/s1.events"

    def anew():
        while True:
            record(fleet, text)
            for name in inbox(fleet):
                (fleet.root / "fleet/ada/inbox" / name).unlink()
            yield

    for step in crashes(fleet, "capture", ".", "--session", "s1", reset=anew()):
        held = events.read_text() if events.exists() else ""
        kept = "".join(fleet.read(f"fleet/ada/inbox/{name}") for name in inbox(fleet) if name.endswith(".md"))
        assert held == text or all(f"- {thing}\n" in kept for thing in wanted), step
        if held:
            capture(fleet).ok()
        kept = "".join(fleet.read(f"fleet/ada/inbox/{name}") for name in inbox(fleet) if name.endswith(".md"))
        assert all(kept.count(f"- {thing}\n") >= 1 for thing in wanted) and not events.exists(), step


def test_listeners_hear_of_a_session_after_it_is_on_disk(fleet):
    fleet.write("ear/kb_ear.py", """
import json
from pathlib import Path
from kb.api import hookimpl

@hookimpl
def kb_session_event(event):
    with open(event.root / "heard", "a") as file:
        there = [Path(path).exists() for path in event.data.get("paths", [])]
        file.write(json.dumps([event.kind, event.session, event.agent, there, list(event.texts)]) + "\\n")
""")
    fleet.write("ear/kb_ear-1.dist-info/METADATA", "Name: kb-ear\nVersion: 1\n")
    fleet.write("ear/kb_ear-1.dist-info/entry_points.txt", "[kb.plugins]\near = kb_ear\n")
    fleet.env["PYTHONPATH"] = str(fleet.root / "ear")
    payload = json.dumps({"session_id": "s1", "prompt": "flush the pump"})
    fleet.kb("boot", ".", stdin=payload).ok()
    fleet.kb("boot", ".", stdin=payload).ok()
    capture(fleet, "--conclusion", "close the valve").ok()
    capture(fleet).ok()
    heard = [json.loads(line) for line in fleet.read("heard").splitlines()]
    assert heard == [["session.opened", "s1", "ada", [], []], ["session.concluded", "s1", "ada", [], ["close the valve"]],
                     ["session.captured", "s1", "ada", [True], []]]


def test_a_listener_that_breaks_changes_nothing(fleet):
    fleet.write("ear/kb_ear.py", "from kb.api import hookimpl\n\n@hookimpl\n"
                "def kb_session_event(event):\n    raise OSError('deaf')\n")
    fleet.write("ear/kb_ear-1.dist-info/METADATA", "Name: kb-ear\nVersion: 1\n")
    fleet.write("ear/kb_ear-1.dist-info/entry_points.txt", "[kb.plugins]\near = kb_ear\n")
    fleet.env["PYTHONPATH"] = str(fleet.root / "ear")
    record(fleet, "routed\tada\nconclusion\tone\n")
    run = capture(fleet).ok()
    assert run.out.startswith("captured") and "ear is off" in run.err
