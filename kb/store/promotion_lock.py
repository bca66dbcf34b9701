"""`.kb-promote.lock`: the marker that one promotion holds, so that another does not start over the same deposits.

It names the process that made it and when that process began, because a number alone is soon another process's. A
marker whose process is provably gone is taken over; one that proves nothing (an older kb's, another machine's) counts
for an hour.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from kb.errors import KbError
from kb.store.files import locked, stay_inside, write_atomic

FILE = ".kb-promote.lock"
STALE = 3600.0  # seconds
WAIT = 60.0
_POLL = 0.2


class LockHeld(KbError):
    """Another run holds the marker."""


class _Marker(NamedTuple):
    text: str
    age: float

    @property
    def fields(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for line in self.text.splitlines():
            name, _, value = line.strip().partition(" ")
            found.setdefault(name, value.strip())
        return found

    @property
    def who(self) -> str:
        return self.text.splitlines()[0].strip() if self.text.strip() else "an unnamed process"


@contextmanager
def promotion_lock(root: str, *, wait: float = WAIT, told: Callable[[str], None] = lambda sentence: None) -> Iterator[None]:
    """Hold the marker of the fleet at `root`. Waits up to `wait` seconds for another run, then raises LockHeld.

    `told` hears that a marker was taken over and whose it was, and that this run waits. Raises KbError when the marker
    cannot be written.
    """
    path = os.path.join(root, FILE)
    ours = _our_marker()
    end = time.monotonic() + wait
    waiting = False
    while (held := _take(root, path, ours, told)) is not None:
        if time.monotonic() >= end:
            raise LockHeld(held)
        if not waiting:
            told(f"{held} Waiting for it to end.")
            waiting = True
        time.sleep(_POLL)
    try:
        yield
    finally:
        _release(root, path, ours)


def start_of(pid: int) -> str | None:
    """What tells this process from an earlier or later one with its number, or None when the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            ticks = file.read().rpartition(b")")[2].split()[19].decode()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}:{ticks}"
    except (OSError, IndexError, UnicodeDecodeError):
        pass
    if os.name != "posix" or os.path.isdir("/proc/self"):
        return None
    import subprocess

    try:
        done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, timeout=5,
                              env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"})
    except (OSError, subprocess.SubprocessError):
        return None
    return "-".join(done.stdout.decode("ascii", "replace").split()) or None


def _take(root: str, path: str, ours: str, told: Callable[[str], None]) -> str | None:
    """Make the marker ours, or say who holds it. The step is guarded, so that of two takers one wins."""
    try:
        stay_inside(_guard(root), root)
        with locked(_guard(root)):
            if os.path.islink(path):  # writing would go through it, to a file of whoever made the link
                raise KbError(f"{path} is a symbolic link", hint="remove it")
            marker = _read(path)
            if marker is not None:
                held = _holder(path, marker)
                if held is not None:
                    return held
                told(f"took over {path}, {max(marker.age, 0) / 60:.0f} minute(s) old: the run that left it "
                     f"({marker.who}) ended without removing it")
            write_atomic(path, ours)
    except OSError as error:
        raise KbError(f"cannot write {path}: {error.strerror or error}") from None
    return None


def _release(root: str, path: str, ours: str) -> None:
    try:
        with locked(_guard(root)):
            marker = _read(path)
            if marker is not None and marker.text == ours:
                os.unlink(path)
    except (OSError, KbError):
        pass  # it is left as a crash would leave it, and the next run takes it over


def _holder(path: str, marker: _Marker) -> str | None:
    """The sentence that says who holds the marker, or None when it is free to take."""
    alive = _is_alive(marker.fields)
    if alive is False or (alive is None and marker.age > STALE):
        return None
    return f"another run holds {path} ({marker.who}, started {max(marker.age, 0):.0f}s ago)."


def _is_alive(fields: dict[str, str]) -> bool | None:
    """Whether the process that a marker names still runs; None when nothing proves it."""
    started = fields.get("start")
    if not started or fields.get("host") != socket.gethostname() or not fields.get("pid", "").isdecimal():
        return None
    pid = int(fields["pid"])
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    now = start_of(pid)
    return None if now is None else now == started


def _our_marker() -> str:
    pid = os.getpid()
    start = start_of(pid)
    return f"pid {pid}\n" + (f"start {start}\nhost {socket.gethostname()}\n" if start else "")


def _read(path: str) -> _Marker | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
            return _Marker(text, time.time() - os.fstat(file.fileno()).st_mtime)
    except FileNotFoundError:
        return None


def _guard(root: str) -> str:
    return os.path.join(root, ".kb", "promote")
