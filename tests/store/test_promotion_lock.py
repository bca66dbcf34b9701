"""The marker of a promotion: one holder, no stranger taken for it, and a crash that blocks nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb.errors import KbError
from kb.store.promotion_lock import FILE, LockHeld, promotion_lock, start_of

HOLD = """
import sys
from kb.store.promotion_lock import promotion_lock
with promotion_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(root: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    return process


def ended(process: subprocess.Popen[bytes]) -> None:
    process.communicate(timeout=20)


def aged(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_it_names_its_process_and_is_gone_afterwards(tmp_path):
    with promotion_lock(str(tmp_path)):
        text = (tmp_path / FILE).read_text()
        assert text.startswith(f"pid {os.getpid()}\n") and (start_of(os.getpid()) or "") in text
    assert not (tmp_path / FILE).exists()


def test_it_is_gone_after_an_exception_too(tmp_path):
    with pytest.raises(RuntimeError), promotion_lock(str(tmp_path)):
        raise RuntimeError
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("age", [0, 7200])
def test_a_living_holder_is_respected_however_long_it_runs(tmp_path, age):
    process = holder(tmp_path)
    aged(tmp_path / FILE, age)
    with pytest.raises(LockHeld, match=f"pid {process.pid}"), promotion_lock(str(tmp_path), wait=0):
        pass
    ended(process)
    with promotion_lock(str(tmp_path), wait=0):
        pass


def test_a_killed_holder_is_taken_over_at_once_and_named(tmp_path):
    process = holder(tmp_path)
    process.kill()
    ended(process)
    told: list[str] = []
    with promotion_lock(str(tmp_path), wait=0, told=told.append):
        assert f"pid {os.getpid()}\n" in (tmp_path / FILE).read_text()
    assert len(told) == 1 and f"pid {process.pid}" in told[0]


def test_a_number_that_is_another_process_by_now_neither_blocks_nor_is_touched(tmp_path):
    """The marker of a process that ended, whose number a stranger has since got."""
    stranger = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        with promotion_lock(str(tmp_path)):
            text = (tmp_path / FILE).read_text()
        ours = start_of(os.getpid())
        if ours is None:
            pytest.skip("this system does not say when a process began")
        (tmp_path / FILE).write_text(text.replace(f"pid {os.getpid()}", f"pid {stranger.pid}").replace(ours, "another:1"))
        with promotion_lock(str(tmp_path), wait=0):
            pass
        assert stranger.poll() is None
    finally:
        stranger.communicate(timeout=20)


@pytest.mark.parametrize("text", ["pid 424242\n", "", "who knows\n", "pid x\nstart y\nhost z\n", "\xff\0"])
def test_a_marker_that_proves_nothing_counts_for_an_hour(tmp_path, text):
    marker = tmp_path / FILE
    marker.write_text(text)
    aged(marker, 60)
    with pytest.raises(LockHeld), promotion_lock(str(tmp_path), wait=0):
        pass
    assert marker.read_text() == text
    aged(marker, 3700)
    told: list[str] = []
    with promotion_lock(str(tmp_path), wait=0, told=told.append):
        pass
    assert "62 minute(s)" in told[0] and (text.strip().split("\n")[0] or "unnamed") in told[0]


def test_a_marker_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("x")
    aged(precious, 7200)
    (tmp_path / FILE).symlink_to(precious)
    with pytest.raises(KbError, match="symbolic link"), promotion_lock(str(tmp_path), wait=0):
        pass
    assert precious.read_text() == "x"


def test_a_marker_of_another_machine_counts_for_an_hour(tmp_path):
    with promotion_lock(str(tmp_path)):
        text = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(text.replace("host ", "host elsewhere-"))
    with pytest.raises(LockHeld), promotion_lock(str(tmp_path), wait=0):
        pass


def test_who_waits_gets_it_when_the_other_ends(tmp_path):
    process = holder(tmp_path)
    told: list[str] = []

    def hear(sentence: str) -> None:
        told.append(sentence)
        assert process.stdin is not None
        process.stdin.close()

    with promotion_lock(str(tmp_path), wait=20, told=hear):
        pass
    process.wait(timeout=20)
    assert process.stdout is not None
    process.stdout.close()
    assert len(told) == 1 and "Waiting" in told[0]


COUNT = """
import os, sys
from kb.store.promotion_lock import promotion_lock
place = sys.argv[1]
for _ in range(8):
    with promotion_lock(place, wait=60):
        os.mkdir(place + "/inside")  # fails when somebody else is inside
        os.rmdir(place + "/inside")
"""


def test_of_many_at_once_one_is_inside(tmp_path):
    (tmp_path / FILE).write_text("pid 424242\n")
    aged(tmp_path / FILE, 7200)
    crowd = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in crowd]
    assert [process.returncode for process in crowd] == [0] * 4, errors
    assert not (tmp_path / FILE).exists()
