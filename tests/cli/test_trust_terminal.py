"""Approving at a terminal: a verb that needs an unapproved command shows it and asks."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time


def at_a_terminal(sh, *words, typed):
    """Run kb on a pseudo terminal, type when it asks, and return (exit code, everything shown)."""
    main, side = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "kb", *words], stdin=side, stdout=side, stderr=side, cwd=sh.root,
                               env={**sh.env, "TERM": "dumb"}, start_new_session=True)
    os.close(side)
    shown, pending, end = b"", typed, time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([main], [], [], 0.1)
        if ready:
            try:
                data = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data
        elif process.poll() is not None:
            break
        if pending and b"[y/N]" in shown:
            os.write(main, pending.encode())
            pending = ""
    code = process.wait(10)
    os.close(main)
    return code, shown.decode()


def test_a_yes_runs_it_now_and_from_then_on(fleet):
    fleet.script("tools/say.sh", "cat > /dev/null; echo spoken\n")
    fleet.write("fleet.txt", "answerer = tools/say.sh --loud\n")
    fleet.kb("index", ".").ok()
    code, shown = at_a_terminal(fleet, "answer", "flush the pump", ".", typed="y\n")
    assert code == 0 and "answerer = tools/say.sh --loud" in shown and str(fleet.root / "tools/say.sh") in shown
    assert "spoken" in shown
    assert fleet.kb("answer", "flush the pump", ".").ok().out.startswith("spoken")


def test_a_no_runs_nothing_and_asks_again_next_time(fleet):
    fleet.script("tools/say.sh", f"touch '{fleet.root}/ran'; echo spoken\n")
    fleet.write("fleet.txt", "answerer = tools/say.sh\n")
    fleet.kb("index", ".").ok()
    for _ in range(2):
        code, shown = at_a_terminal(fleet, "answer", "flush the pump", ".", typed="n\n")
        assert code == 2 and "[y/N]" in shown and not (fleet.root / "ran").exists()


def test_kb_trust_asks_at_a_terminal_and_a_no_records_nothing(fleet):
    fleet.write("fleet.txt", "answerer = cat\n")
    code, shown = at_a_terminal(fleet, "trust", ".", typed="n\n")
    assert code == 1 and "nothing was approved" in shown
    assert fleet.kb("trust", "--list").ok().out == ""
    code, _ = at_a_terminal(fleet, "trust", ".", typed="y\n")
    assert code == 0 and "answerer = cat" in fleet.kb("trust", "--list").ok().out


def test_what_a_fleet_names_cannot_redraw_the_question(fleet):
    fleet.write("fleet.txt", "answerer = cat '\x1b[2J\x1b[1;1Hharmless' \u202etac\n")
    fleet.kb("index", ".").ok()
    _, shown = at_a_terminal(fleet, "answer", "flush the pump", ".", typed="n\n")
    assert "\x1b[2J" not in shown and "\\x1b[2J" in shown and "\u202e" not in shown


def test_boot_never_asks(fleet):
    fleet.write("fleet.txt", "classifier = cat\n")
    done = fleet.kb("boot", ".", stdin="flush the pump").ok()
    assert "[y/N]" not in done.out + done.err
