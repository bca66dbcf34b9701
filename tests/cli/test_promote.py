"""`kb promote` as a process: what it prints, its lock, and what an interruption or a kill leaves behind."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import Shell
from tests.models import ACCEPT, REJECT, prompts, proposal, rows, stand_in

NOTE = "fleet/ada/knowledge/night-freeze.md"
THAW = "fleet/ada/knowledge/day-thaw.md"
TWO = proposal() + proposal("day-thaw", keys="thaw, day thaw", body="# Day thaw\n\nIt thaws at noon.")


@pytest.fixture
def desk(fleet: Shell) -> Shell:
    fleet.env["KB_TRUST"] = "1"
    (fleet.root / "fleet/eva/inbox/2026-09-19-heron.md").unlink()
    fleet.write("fleet/ada/inbox/freeze.md", "# Freeze\n\nReleases stop at six on Fridays.\n")
    stand_in(fleet, "promoter", TWO)
    stand_in(fleet, "reviewer", ACCEPT)
    return fleet


def test_each_decision_is_printed_with_its_path_its_reasons_and_its_source(desk):
    stand_in(desk, "reviewer", ACCEPT, ACCEPT, ACCEPT, ACCEPT, REJECT, ACCEPT)
    run = desk.kb("promote", desk.root).ok()
    assert run.out == (
        f"  wrote   ada/night-freeze\n          {desk.root}/{NOTE}\n          from ada/inbox/freeze.md\n"
        "  refused ada/day-thaw\n          duplication says: the list holds it already\n          from ada/inbox/freeze.md\n"
        "\n2 proposal(s): 1 written, 1 refused. 0 deposit file(s) held nothing.\nRefusals are counted in kb-rejections.txt.\n")
    assert run.err == "" and "\r" not in run.err
    assert desk.kb("promote", desk.root).ok().out.endswith("1 deposit file(s) were decided before and have not changed.\n")


def test_what_is_written_can_be_found_and_passes_the_linter(desk):
    desk.kb("promote", desk.root).ok()
    found = desk.kb("route", "when is the friday release freeze", desk.root, "--json").ok().json()
    assert found["keyword_top"] == "ada/knowledge/night-freeze.md"
    assert "night-freeze" not in desk.kb("check", desk.root, "--ignore", "W06").out  # three keys are few


def test_a_dry_run_says_so_first_and_writes_nothing(desk):
    run = desk.kb("promote", desk.root, "--dry-run").ok()
    assert run.out.startswith("dry run: nothing was written and no refusal was recorded.\n\n  would write ada/night-freeze\n")
    assert not (desk.root / NOTE).exists() and not (desk.root / "kb-decided.txt").exists()


BAD = ["model_timeout = -1", "model_timeout = soon", "model_timeout = nan", 'promoter = "unclosed', "reviewer = 'x",
       "promoter = ../../bin/sh", 'reviewer = ""']


@pytest.mark.parametrize("line", BAD)
@pytest.mark.parametrize("words", [["promote", "."], ["promote", ".", "--dry-run"], ["consolidate", "ada", "."],
                                   ["ingest", "fleet/ada/inbox/freeze.md", ".", "--agent", "ada"]])
def test_a_bad_setting_is_exit_2_before_any_work(desk, words, line):
    key = line.partition(" ")[0]
    desk.write("fleet.txt", "".join(old for old in desk.read("fleet.txt").splitlines(True) if not old.startswith(key)) + line + "\n")
    before = {path for path in desk.root.rglob("*") if "home" not in path.parts}
    run = desk.kb(*words)
    assert (run.code, run.out) == (2, "") and key in run.err and run.err.count("\n") <= 2
    assert {path for path in desk.root.rglob("*") if "home" not in path.parts} == before


def test_a_program_that_is_not_there_is_an_outage_and_not_a_bad_setting(desk):
    desk.write("fleet.txt", desk.read("fleet.txt").replace("tools/promoter.sh", "tools/gone.sh"))
    assert desk.kb("promote", desk.root).code == 1


def test_an_escape_in_a_reply_is_shown_and_not_obeyed(desk):
    stand_in(desk, "promoter", proposal("x\x1b[2Jy"))
    stand_in(desk, "reviewer", "VERDICT: reject\nREASON: \x1b]0;t\x07 no\n")
    run = desk.kb("promote", desk.root)
    assert "\x1b" not in run.out + run.err


@pytest.mark.parametrize("words", ["--max 0", "--max x", "--top 0", "--top 1001", "--lok", "--max 1 --max 2"])
def test_wrong_words_are_exit_2_and_nothing_is_asked(desk, words):
    run = desk.kb("promote", desk.root, *words.split())
    assert (run.code, run.out) == (2, "") and prompts(desk, "promoter") == []


def test_standing_inside_an_agent_uses_the_fleets_files(desk):
    desk.kb("promote", cwd=desk.root / "fleet/ada").ok()
    assert (desk.root / NOTE).exists() and (desk.root / "kb-decided.txt").exists() and not list(desk.root.glob("fleet/ada/kb-*"))


def test_a_terminal_sees_what_is_being_asked_and_a_pipe_does_not(desk):
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "kb", "promote", str(desk.root)], stdout=subprocess.PIPE, stderr=follower,
                               stdin=subprocess.DEVNULL, env=desk.env, cwd=desk.root)
    out = process.communicate(timeout=60)[0].decode()
    os.close(follower)
    seen = os.read(leader, 65536).decode()
    os.close(leader)
    assert "[1/1]" in seen and "promoter" in seen and "reviewer, scope" in seen
    assert "\r" not in out and seen.rstrip(" ").endswith("\r")


# -- the lock ----------------------------------------------------------------------------------------------------------


def background(sh: Shell, *words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "kb", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=sh.env, cwd=sh.root)


def until(path: object, seconds: float = 30) -> None:
    """Wait for a file that another process makes."""
    end = time.monotonic() + seconds
    while not os.path.exists(str(path)):
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


def test_while_one_runs_another_with_lock_leaves_at_once_and_one_without_waits(desk):
    go = desk.root / "go"
    os.mkfifo(go)
    stand_in(desk, "promoter", TWO, before=f"cat '{go}' > /dev/null")
    first = background(desk, "promote", desk.root)
    until(desk.root / "calls/promoter/1/prompt")
    run = desk.kb("promote", desk.root, "--lock").ok()
    assert run.out.startswith("kb promote: another run holds") and run.out.endswith("Nothing was read and nothing was written.\n")
    assert f"pid {first.pid}" in run.out
    second = background(desk, "promote", desk.root)
    assert second.stderr is not None and b"Waiting" in second.stderr.readline()
    go.write_text("go")
    assert first.communicate(timeout=60) and first.returncode == 0
    out, err = second.communicate(timeout=60)
    assert second.returncode == 0 and b"decided before" in out, err
    assert len(prompts(desk, "promoter")) == 1 and not (desk.root / ".kb-promote.lock").exists()


# -- cut off -----------------------------------------------------------------------------------------------------------


def whole(sh: Shell) -> None:
    """Everything was decided, once, and nothing is left over."""
    for path, slug in ((NOTE, "night-freeze"), (THAW, "day-thaw")):
        assert "captured_from: ada/inbox/freeze.md" in sh.read(path)
        assert sh.read("fleet/ada/MAP.md").count(f"[[{slug}]]") == 1
    assert sorted(row[2:4] for row in rows(sh, "kb-decided.txt")) == [["-", "done"], ["day-thaw", "written"], ["night-freeze", "written"]]
    assert rows(sh, "kb-rejections.txt") == [] and not (sh.root / ".kb-promote.lock").exists()


@pytest.mark.parametrize("number", range(1, 7))
def test_ctrl_c_during_any_review_keeps_what_was_decided_and_the_next_run_does_the_rest(desk, number):
    stand_in(desk, "reviewer", ACCEPT, before=f"[ $n -ne {number} ] || {{ kill -INT $PPID; exec sleep 30; }}")
    run = desk.kb("promote", desk.root)
    assert run.code == 130 and "Traceback" not in run.err and not (desk.root / ".kb-promote.lock").exists()
    assert (desk.root / NOTE).exists() is (number > 3)
    stand_in(desk, "reviewer", ACCEPT)
    desk.kb("promote", desk.root).ok()
    whole(desk)
    assert len(prompts(desk, "reviewer")) == number + (6 if number <= 3 else 3)


@pytest.mark.parametrize("number", [1, 3, 4])
def test_a_kill_during_a_review_blocks_nobody_and_loses_nothing(desk, number):
    stand_in(desk, "reviewer", ACCEPT, before=f"[ $n -ne {number} ] || {{ kill -KILL $PPID; exit 1; }}")
    assert desk.kb("promote", desk.root).code == -signal.SIGKILL
    assert (desk.root / ".kb-promote.lock").exists()
    stand_in(desk, "reviewer", ACCEPT)
    run = desk.kb("promote", desk.root, "--lock").ok()
    assert "took over" in run.err
    whole(desk)


CUT = """
import os, sys
left = int(sys.argv.pop(1))
def cut(name):
    real = getattr(os, name)
    def step(*words, **settings):
        global left
        left -= 1
        if left < 0:
            os._exit(137)
        return real(*words, **settings)
    setattr(os, name, step)
for name in ("replace", "rename", "unlink"):
    cut(name)
from kb.cli.main import run
sys.argv[0] = "kb"
sys.exit(run())
"""


@pytest.mark.slow
def test_a_kill_before_any_change_of_the_disk_leaves_a_run_that_the_next_one_finishes(desk):
    """Each rename and each removal of a run in turn is where the process dies; each time a second run completes it."""
    for step in range(60):
        root = desk.root.parent / f"{desk.root.name}-{step}"
        shutil.copytree(desk.root, root, ignore=shutil.ignore_patterns("calls"))
        copy = Shell(root)
        copy.env.update(KB_TRUST="1", XDG_CACHE_HOME=desk.env["XDG_CACHE_HOME"])
        done = copy.run(sys.executable, "-c", CUT, step, "promote", copy.root)
        if done.code == 0:
            break
        assert done.code == 137, done.err
        copy.kb("promote", copy.root).ok()
        whole(copy)
    assert step > 10, "the cuts were not where the changes are"
    whole(copy)
