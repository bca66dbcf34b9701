"""Work in shares: the same results as in one process, whatever happens to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from kb.store import shares

ITEMS = list(range(25))
PARENT = os.getpid()


def squares(items: Sequence[int]) -> list[tuple[int, bool]]:
    return [(item * item, os.getpid() == PARENT) for item in items]


def in_shares(work: object = squares) -> list[tuple[int, bool]]:
    return shares.in_shares(ITEMS, work, list, tuple)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LEAST", 5)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # pytest's own helpers may run threads


linux = pytest.mark.skipif(sys.platform != "linux", reason="work is shared on Linux only")


@linux
def test_other_processes_take_shares_too_and_all_results_come_in_order() -> None:
    reading, writing = os.pipe()
    waited = False

    def work(items: Sequence[int]) -> list[tuple[int, bool]]:
        nonlocal waited
        if os.getpid() != PARENT:
            os.write(writing, b"x")
        elif not waited:
            waited = bool(os.read(reading, 1))  # the first share here ends when another process has begun one
        return squares(items)

    found = in_shares(work)
    assert [square for square, _ in found] == [item * item for item in ITEMS]
    assert not all(here for _, here in found)
    os.close(reading)
    os.close(writing)


@linux
def test_nothing_stays_open_and_no_process_is_left() -> None:
    before = len(os.listdir("/proc/self/fd"))
    in_shares()
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_what_is_too_little_to_share_is_done_here(count: int) -> None:
    assert shares.in_shares(ITEMS[:count], squares, list, tuple) == [(item * item, True) for item in ITEMS[:count]]


def test_beside_other_threads_nothing_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert all(here for _, here in in_shares())


def test_without_processes_everything_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise OSError("no more processes")

    monkeypatch.setattr(os, "fork", refuse, raising=False)
    assert [square for square, _ in in_shares()] == [item * item for item in ITEMS] and all(here for _, here in in_shares())


def killed(items: Sequence[int]) -> list[tuple[int, bool]]:
    if os.getpid() != PARENT:
        os.kill(os.getpid(), signal.SIGKILL)
    return squares(items)


def failing(items: Sequence[int]) -> list[tuple[int, bool]]:
    if os.getpid() != PARENT:
        raise RuntimeError("not here")
    return squares(items)


@linux
@pytest.mark.parametrize("work", [killed, failing])
def test_the_share_of_a_process_that_died_is_done_here(work: object, capfd: pytest.CaptureFixture[str]) -> None:
    assert in_shares(work) == [(item * item, True) for item in ITEMS]
    assert capfd.readouterr() == ("", "")


@linux
def test_a_parent_that_ignores_its_children_still_hears_them() -> None:
    script = ("import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
              "from kb.store import shares; shares.LEAST = 2; os.sched_getaffinity = lambda pid: {0, 1}\n"
              "print(shares.in_shares([1, 2, 3, 4], lambda items: [item * 2 for item in items], int, int))")
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[2, 4, 6, 8]\n"
