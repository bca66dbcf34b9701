"""Reading the ledger back: filters, one row per line, validity, and rotation."""

from __future__ import annotations

from dataclasses import dataclass

from kb.api import UsageError, moment_of
from kb_plugins.lifecycle import clock
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.events import EVENTS
from kb_plugins.lifecycle.ledger import Ledger, Row, known_episodes, parsed
from kb_plugins.lifecycle.policy import read_policy
from kb_plugins.lifecycle.text import one_line

_DETAILS = ("decision", "answer", "question", "statement", "outcome", "scope", "reason", "path", "paths", "id",
            "handover_path", "checkpoint_path", "session_path", "archive", "provider_event", "owner")


@dataclass(frozen=True)
class Filter:
    """Which lines are wanted. `since` is the written form of the earliest moment, or ""."""

    task: str | None
    event: str | None
    since: str

    @classmethod
    def of(cls, task: str | None, event: str | None, since: str | None) -> Filter:
        """Checked filters. Raises UsageError for an unknown event or a time that is none."""
        if event is not None and event not in EVENTS:
            raise UsageError(f"there is no event {event!r}", hint="known: " + ", ".join(EVENTS))
        if since is None:
            return cls(task, event, "")
        length = clock.seconds(since)
        if length is not None:
            return cls(task, event, clock.instant(clock.ago(length)))
        try:
            return cls(task, event, clock.instant(moment_of("--since", since)))
        except UsageError as error:
            raise UsageError(error.message, hint="it takes 90s, 30m, 12h, 7d, or an ISO 8601 time") from None

    def admits(self, row: Row) -> bool:
        return ((self.event is None or row["event"] == self.event) and (self.task is None or row.get("task_id") == self.task)
                and (not self.since or row["ts"] >= self.since))


def matching(ledger: Ledger, wanted: Filter, limit: int | None) -> list[tuple[bytes, Row]]:
    """(line, row) of the newest `limit` lines that match, oldest first."""
    found: list[tuple[bytes, Row]] = []
    for line in reversed(ledger.lines):
        if wanted.event and wanted.event.encode() not in line and b"\\u" not in line:
            continue
        row = parsed(line)
        if row is not None and wanted.admits(row):
            found.append((line, row))
            if limit is not None and len(found) >= limit:
                break
    return found[::-1]


def row_text(row: Row) -> str:
    """One line as columns."""
    task = row.get("task_id")
    task = task if isinstance(task, str) and task and task != "none" else "-"
    detail = next((one_line(str(row[name])) for name in _DETAILS if row.get(name)), "")
    return f"{row['ts']}  {row['event']:<19}  {task:<22}  {str(row.get('head', ''))[:7]:<8}  {detail}".rstrip()


def problems(ledger: Ledger) -> list[str]:
    """What is wrong with each line that is not valid: its number among the lines, and why."""
    found = []
    for number, line in enumerate(ledger.lines, 1):
        row = parsed(line)
        if row is None:
            found.append(f"line {number}: it is no JSON object with ts and event")
        elif row["event"] not in EVENTS:
            found.append(f"line {number}: there is no event {one_line(row['event'])!r}")
    return found


@dataclass(frozen=True)
class Rotated:
    """What a rotation did; `archive` is "" when it did nothing."""

    lines: int
    archived: int
    kept: int
    archive: str
    cap: int

    def text(self) -> str:
        if not self.archive:
            return f"nothing to rotate: {self.lines} lines, cap {self.cap}"
        return f"rotated: {self.archived} line(s) to {self.archive}, {self.kept} kept"

    def shown(self) -> dict[str, object]:
        return {"schema": 1, "archived": self.archived, "kept": self.kept, "archive": self.archive or None, "cap": self.cap}


def rotate(disk: Disk, ledger: Ledger) -> Rotated:
    """Archive the oldest lines over the policy's cap. The lines of an open or underived episode stay, however old."""
    cap = read_policy(disk).number("ledger.retention_max_lines")
    lines = len(ledger.lines)
    if lines <= cap:
        return Rotated(lines, 0, lines, "", cap)
    seen, derived = known_episodes(ledger.of("session.started", "session.closed", "knowledge.derived"))
    opened = {episode.id for episode in Episodes(disk).all()}
    done = ledger.rotate(cap, opened | (seen - derived))
    if done is None:
        return Rotated(lines, 0, lines, "", cap)
    archived, archive, kept = done
    own = Episodes(disk).mine()
    ledger.append("ledger.rotated", own.id if own else None, archived=archived, kept=kept, archive=archive)
    return Rotated(lines, archived, kept, archive, cap)
