"""Where a fleet keeps what a session did: `.kb/sessions/` beside fleet.txt, and the log of what went wrong at the door.

A record is appended to by hooks that must not wait for an import, so it is guarded by flock on the file itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kb.core.display import printable
from kb.core.session import Event, parse_events, safe_id
from kb.errors import KbError
from kb.store.files import cannot_read, read_text, stay_inside, write_atomic

LOG_LIMIT = 100_000
_WAIT = 5.0


def sessions_folder(root: str) -> str:
    """`.kb/sessions` of the fleet at `root`."""
    return os.path.join(root, ".kb", "sessions")


def state_path(root: str, session: str) -> str:
    """The file that holds the agent last routed in a session."""
    return os.path.join(sessions_folder(root), safe_id(session))


def events_path(root: str, session: str) -> str:
    """The record of a session."""
    return state_path(root, session) + ".events"


def agent_of(root: str, session: str) -> str | None:
    """The agent last routed in a session, or None."""
    try:
        return read_text(state_path(root, session)).strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def remember_agent(root: str, session: str, agent: str) -> None:
    """Keep the agent of a session. Raises OSError."""
    path = state_path(root, session)
    stay_inside(path, root)
    if agent_of(root, session) != agent:
        write_atomic(path, agent)


def append_events(root: str, session: str, events: Sequence[Event]) -> None:
    """Add to the record of a session. Raises OSError, and KbError when another process holds it for too long."""
    path = events_path(root, session)
    stay_inside(path, root)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = _open_locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"  # a crash cut the last line: it must not swallow ours
        text = ("\n" if torn else "") + "".join(event.line() + "\n" for event in events)
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            data = data[os.write(fd, data):]
    finally:
        os.close(fd)


class Record:
    """The record of a session, held for as long as the `with` lasts: what others append meanwhile waits."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.events = parse_events(text)
        self._foreign = [line for line in text.split("\n") if line.strip() and not parse_events(line)]

    def keep(self, events: Sequence[Event]) -> None:
        """Leave only these events, and the lines that no reader understood; no lines, no file. Raises OSError."""
        lines = [*(event.line() for event in events), *self._foreign]
        if lines:
            write_atomic(self.path, "".join(line + "\n" for line in lines).encode("utf-8", "replace"))
        else:
            os.unlink(self.path)


@contextmanager
def held_record(root: str, session: str) -> Iterator[Record]:
    """The record of a session under its lock; empty when there is none. Raises OSError and KbError."""
    path = events_path(root, session)
    stay_inside(path, root)
    try:
        fd = _open_locked(path, os.O_RDWR)
    except FileNotFoundError:
        yield Record(path, "")
        return
    try:
        try:
            text = read_text(path)
        except UnicodeDecodeError as error:
            raise cannot_read(path, error) from None
        yield Record(path, text)
    finally:
        os.close(fd)


def log_failure(root: str, message: str, moment: str) -> None:
    """One line for `.kb/boot.log`, which stays under 100,000 bytes. Raises OSError."""
    path = os.path.join(root, ".kb", "boot.log")
    stay_inside(path, root)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    line = f"{moment} {printable(' '.join(message.split())[:2000])}\n".encode("utf-8", "replace")
    flags = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe in its place must not hold up the hook
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | flags, 0o666)
    try:
        os.write(fd, line)
        size = os.fstat(fd).st_size
    finally:
        os.close(fd)
    if size > LOG_LIMIT:
        with open(path, "rb") as file:
            file.seek(size - LOG_LIMIT // 2)
            tail = file.read()
        write_atomic(path, tail.partition(b"\n")[2])


def _open_locked(path: str, flags: int) -> int:
    """The file open and locked, and still the one that `path` names."""
    try:
        import fcntl
    except ImportError:  # no flock on this system: one writer at a time is up to the hosts
        return os.open(path, flags, 0o666)
    end = time.monotonic() + _WAIT
    while True:
        fd = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if time.monotonic() > end:
            raise KbError(f"{path} is in use by another process", hint="try again in a moment")
        time.sleep(0.01)
