"""The ledger: one line of JSON per thing that happened, appended under a lock and never changed.

A line is written in one system call after the lock is held; a last line that a crash left torn stays where it is, alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from kb.api import KbError, __version__, locked, write_atomic
from kb_plugins.lifecycle import clock, events, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.exits import conflict, unwritable

Row = dict[str, Any]
_NAMES = ("session", "episode", "session_id", "task_id", "head", "branch")
_SEPARATORS = {ord(c): f"\\u{ord(c):04x}" for c in "\x7f\x85\u2028\u2029"}  # whatever some reader takes for a line end


class Ledger:
    """The ledger of one checkout. Reading never creates it."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    # -- reading ---------------------------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> list[bytes]:
        """Every line that is not blank, without its end."""
        data = self.disk.read(layout.LEDGER) or b""
        return [line for line in data.split(b"\n") if line.strip()]

    @cached_property
    def rows(self) -> list[Row]:
        """Every line that parses, in file order."""
        return list(_parsed(self.lines))

    @property
    def malformed(self) -> int:
        """How many lines do not parse."""
        return len(self.lines) - len(self.rows)

    def of(self, *names: str) -> list[Row]:
        """The lines of these events, in file order."""
        wanted = frozenset(names)
        marks = [name.encode() for name in names]
        return [row for row in _parsed(line for line in self.lines if b"\\u" in line or any(mark in line for mark in marks))
                if row["event"] in wanted]

    def stamped(self, episode: str) -> list[Row]:
        """The lines that carry the episode's stamp, in file order."""
        mark = episode.encode()
        return [row for row in _parsed(line for line in self.lines if mark in line or b"\\u" in line)
                if row.get("session") == episode]

    def mentions(self, text: str) -> bool:
        """Whether any line contains this text: a cheap look for an id that must be new."""
        return any(text.encode() in line for line in self.lines)

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, event: str, session: str | None = None, **payload: Any) -> None:
        """Append one line, stamped with `session` when one is given. Raises KbError (13) when it cannot be."""
        events.validate(event, payload)
        checkout = self.disk.checkout
        row = {"ts": clock.instant(clock.now()), "event": event, "head": checkout.head, "branch": checkout.branch,
               "by": f"kb/{__version__}", **({"session": session} if session else {}), **payload}
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":")).translate(_SEPARATORS)
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        try:
            self.disk.prepare(layout.STATE)
            with locked(self.disk.path(layout.LEDGER)):
                _append(self.disk.path(layout.LEDGER), line)
        except OSError as error:
            raise unwritable(f"{layout.LEDGER} could not be written: {error.strerror or error}") from None
        except KbError as error:
            raise unwritable(error.message, hint=error.hint) from None
        self.__dict__.pop("lines", None)
        self.__dict__.pop("rows", None)

    def rotate(self, cap: int, keep: Iterable[str]) -> tuple[int, str, int] | None:
        """Move the oldest lines over `cap` to an archive, except those stamped with an episode in `keep`.

        Gives (lines moved, archive, lines kept), or None when there is nothing to move. Raises KbError (15) when the
        archive's name is taken.
        """
        archive = f"{layout.STATE}/ledger.{clock.compact(clock.now())}.jsonl.archived"
        protected = frozenset(keep)
        with locked(self.disk.path(layout.LEDGER)):
            lines = (self.disk.read(layout.LEDGER) or b"").split(b"\n")
            lines = [line for line in lines if line.strip()]
            moved, kept = _divided(lines, len(lines) - cap, protected)
            if not moved:
                return None
            if self.disk.exists(archive):
                raise conflict(f"{archive} is already there", hint="try again in a second")
            try:
                write_atomic(self.disk.path(archive), b"".join(line + b"\n" for line in moved))
                write_atomic(self.disk.path(layout.LEDGER), b"".join(line + b"\n" for line in kept))
            except OSError as error:
                raise unwritable(f"{archive} could not be written: {error.strerror or error}") from None
        self.__dict__.pop("lines", None)
        self.__dict__.pop("rows", None)
        return len(moved), archive, len(kept)


def known_episodes(rows: Iterable[Row]) -> tuple[set[str], set[str]]:
    """(episodes that these lines saw start or close, episodes that a derivation names)."""
    seen: set[str] = set()
    derived: set[str] = set()
    for row in rows:
        if row["event"] in ("session.started", "session.closed") and isinstance(row.get("session"), str):
            seen.add(row["session"])
        elif row["event"] == "knowledge.derived" and isinstance(row.get("episode"), str):
            derived.add(row["episode"])
    return seen, derived


def parsed(line: bytes) -> Row | None:
    """The object of one line, or None: it must be a JSON object with `ts` and `event` as text.

    A name that is no text (`session: []`) names nothing and is left out.
    """
    try:
        row = _DECODER.decode(line.decode("utf-8", "replace").strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("ts"), str) or not isinstance(row.get("event"), str):
        return None
    for name in _NAMES:
        if name in row and not isinstance(row[name], str):
            del row[name]
    return row


def _parsed(lines: Iterable[bytes]) -> Iterator[Row]:
    for line in lines:
        row = parsed(line)
        if row is not None:
            yield row


def _first_wins(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    return row if len(row) == len(pairs) else dict(reversed(pairs))


_DECODER = json.JSONDecoder(object_pairs_hook=_first_wins)


def _append(path: str, line: bytes) -> None:
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            line = b"\n" + line
        if os.write(fd, line) != len(line):
            os.ftruncate(fd, size)
            raise OSError("the disk is full")
        os.fsync(fd)
    finally:
        os.close(fd)


def _divided(lines: list[bytes], excess: int, protected: frozenset[str]) -> tuple[list[bytes], list[bytes]]:
    """(the oldest `excess` lines, the rest), where protected lines always belong to the rest."""
    moved: list[bytes] = []
    kept: list[bytes] = []
    for line in lines[:max(excess, 0)]:
        row = parsed(line) if protected else None
        (kept if row is not None and row.get("session") in protected else moved).append(line)
    return moved, kept + lines[max(excess, 0):]
