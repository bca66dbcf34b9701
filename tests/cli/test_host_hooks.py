"""The hook files for hosts, run as a host runs them: through sh, with a payload on stdin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

HOOKS = Path(__file__).resolve().parents[2] / "examples" / "hooks" / "claude-code"


@pytest.fixture
def host(fleet):
    """A project with the hooks copied in, as the README says."""
    fleet.script("home/bin/kb", f'exec "{sys.executable}" -m kb "$@"\n')
    fleet.env |= {"CLAUDE_PROJECT_DIR": str(fleet.root), "PATH": f"{fleet.root}/home/bin:{fleet.env['PATH']}"}
    for script in HOOKS.glob("*.sh"):
        fleet.write(f".claude/hooks/{script.name}", script.read_text())
    return fleet


def fire(sh, event, payload, **settings):
    """Run the command that settings.json names for an event."""
    hooks = json.loads((HOOKS / "settings.json").read_text())["hooks"]
    [entry] = hooks[event]
    return sh.run("sh", "-c", entry["hooks"][0]["command"], stdin=json.dumps(payload), **settings)


def prompt(message, session="s1"):
    return {"session_id": session, "transcript_path": "/x/t.jsonl", "cwd": "/x", "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit", "prompt": message}


def end(session="s1"):
    return {"session_id": session, "transcript_path": "/x/t.jsonl", "cwd": "/x", "hook_event_name": "SessionEnd", "reason": "exit"}


def settled(sh, text):
    """The background's log once it holds `text`."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        log = (sh.root / ".kb/hooks.log").read_text()
        if text in log:
            return log
        time.sleep(0.05)
    raise AssertionError(log)


def test_a_prompt_is_briefed_and_the_end_of_the_session_leaves_a_deposit_that_can_be_searched(host):
    run = fire(host, "UserPromptSubmit", prompt("flush the pump")).ok()
    assert run.out.startswith("VESTA: this message routes to ada.")
    fire(host, "UserPromptSubmit", prompt("zonk plonk")).ok()
    run = fire(host, "SessionEnd", end()).ok()
    assert run.out == ""
    assert "- zonk plonk\n" in host.read("fleet/ada/inbox/2026-09-20-session-s1.md")
    log = settled(host, "unreachable")
    assert "captured session s1 into" in log and re.search(r"^=== \d{4}-\d\d-\d\d ", log, re.MULTILINE)
    found = host.kb("route", "zonk plonk", ".", "--json").ok().json()
    assert "session-s1.md" in json.dumps(found)


def test_the_promoters_run_in_the_background_only_when_they_are_named_and_approved(host):
    host.script("tools/no.sh", "cat > /dev/null; echo NOTHING\n")
    host.write("fleet.txt", "promoter = tools/no.sh\nreviewer = tools/no.sh\n")
    fire(host, "UserPromptSubmit", prompt("flush the pump")).ok()
    assert fire(host, "SessionEnd", end()).code == 0
    assert "kb trust" in settled(host, "kb trust")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreCompact", "SessionEnd"])
@pytest.mark.parametrize("broken", ["no fleet", "no kb", "kb crashes", "inside a model", "garbage"])
def test_whatever_is_wrong_a_hook_is_silent_and_ends_with_0(host, event, broken):
    payload = prompt("flush the pump")
    if broken == "no fleet":
        host.env["CLAUDE_PROJECT_DIR"] = str(host.root / "home")
        (host.root / "home/.claude").symlink_to(host.root / ".claude")
    elif broken == "no kb":
        host.env["KB_BIN"] = "no-such-program"
    elif broken == "kb crashes":
        host.script("home/bin/kb", "exit 2\n")
    elif broken == "inside a model":
        host.env["KB_INSIDE_MODEL"] = "1"
    else:
        payload = ["\x00", {"prompt": 3}]
    run = fire(host, event, payload)
    assert run.code == 0 and (run.out == "" or broken == "garbage")
    assert "Traceback" not in run.err
    assert not (host.root / "home/.kb").exists()


def test_compaction_draws_the_lifecycles_checkpoint_where_there_is_one(host):
    host.script("home/bin/kb", f'printf "%s\\n" "$*" >> "{host.root}/home/calls"; cat >> "{host.root}/home/calls"\n')
    fire(host, "PreCompact", {"session_id": "s1", "trigger": "auto"}).ok()
    assert not (host.root / "home/calls").exists()
    host.git("init", "-q", ".")
    (host.root / ".ai").mkdir()
    fire(host, "PreCompact", {"session_id": "s1", "trigger": "auto"}).ok()
    assert host.read("home/calls").startswith("session hook --provider claude-code --event compact\n{")


def test_a_hook_that_cannot_write_its_log_still_ends_with_0(host):
    host.write(".kb/hooks.log/in-the-way", "x")
    assert fire(host, "SessionEnd", end()).code == 0


def test_the_scripts_are_plain_sh():
    for script in HOOKS.glob("*.sh"):
        assert os.access(script, os.X_OK)
        subprocess.run(["sh", "-n", str(script)], check=True)
