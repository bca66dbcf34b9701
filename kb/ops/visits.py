"""The sessions that a fleet remembers: their records under `.kb/sessions`, read and never changed."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import NamedTuple

from kb.core.handoff import Handoff
from kb.core.session import Event, parse_events, route_of
from kb.store.files import read_text
from kb.store.handoffs import records
from kb.store.sessions import sessions_folder


class Visit(NamedTuple):
    """One session: the name of its record, the agents it went through, what happened, and when it last did (UTC)."""

    session: str
    agents: tuple[str, ...]
    events: tuple[Event, ...]
    changed: str

    @property
    def refused(self) -> int:
        return sum(event.kind == "refused" for event in self.events)

    @property
    def concluded(self) -> int:
        return sum(event.kind == "conclusion" for event in self.events)


def visits(root: str) -> list[Visit]:
    """The sessions of the fleet at `root` that are not captured yet, the latest first."""
    found: list[tuple[float, Visit]] = []
    try:
        names = sorted(os.listdir(sessions_folder(root)))
    except OSError:
        return []
    for name in names:
        if name.endswith(".events") and not name.startswith("."):
            path = os.path.join(sessions_folder(root), name)
            try:
                moment, events = os.stat(path).st_mtime, parse_events(read_text(path))
            except (OSError, UnicodeDecodeError):
                continue
            try:
                when = datetime.fromtimestamp(moment, UTC).isoformat(" ", "minutes").removesuffix("+00:00")
            except (ValueError, OverflowError):  # a time of a file may lie past the year 9999
                when = "-"
            found.append((moment, Visit(name.removesuffix(".events"), tuple(route_of(events)), tuple(events), when)))
    return [visit for _, visit in sorted(found, key=lambda item: (-item[0], item[1].session))]


def batons(root: str) -> list[Handoff]:
    """Every readable handoff record, the file changed last first."""
    return list(records(root))
