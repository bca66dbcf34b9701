"""Sources: what each base has read, how its bibliography line reads, and which notes cite it."""

from __future__ import annotations

from typing import NamedTuple

from kb.core.sources import BrokenRecord, Record, render_record
from kb.core.values import Base, Place
from kb.store.sources import sources_in_scope
from kb.web.query import Query
from kb.web.room import Reply, Room


class Read(NamedTuple):
    """One record, its bibliography line, the notes that cite it, and the record that replaced it."""

    record: Record
    line: str
    cited_by: tuple[Place, ...]
    replaced_by: str | None


class BasesSources(NamedTuple):
    """What one base has read."""

    base: Base
    read: tuple[Read, ...]
    broken: tuple[BrokenRecord, ...]


def view(room: Room, query: Query) -> Reply:
    """Every record in scope; with `key`, that one. What a base keeps private of its sources/ is left out without --all."""
    app = room.app()
    key = query.text("key")
    found = []
    for shelf in room.stacks(app):
        base = shelf.base
        sources = sources_in_scope(base, app.include_private) if base.holds("sources") else None
        if sources is None:
            continue
        citing: dict[str, list[Place]] = {}
        for book in shelf.books:
            for token in book.sources:
                citing.setdefault(token, []).append(book.place)
        replaced = {record.replaces: record.key for record in sources.records if record.replaces}
        found.append(BasesSources(base, tuple(
            Read(record, render_record(record), tuple(citing.get(record.key, ())), replaced.get(record.key))
            for record in sources.records if not key or record.key == key), tuple(sources.broken) if not key else ()))
    return room.page("sources.html", title="Sources", here="/sources", bases=[item for item in found if item.read or item.broken],
                     key=key, total=sum(len(item.read) for item in found))
