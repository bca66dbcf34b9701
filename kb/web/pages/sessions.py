"""Sessions and handoffs: what is remembered of conversations, and work that waits for the next one."""

from __future__ import annotations

from kb.ops.visits import batons, visits
from kb.web.query import Query
from kb.web.room import Reply, Room


def view(room: Room, query: Query) -> Reply:
    app = room.app()
    root = app.fleet.root
    deposits = [book for shelf in room.stacks(app) for book in shelf.books if book.layer == "short"]
    return room.page("sessions.html", title="Sessions", here="/sessions", visits=visits(root), batons=batons(root),
                     deposits=sorted(deposits, key=lambda book: book.stem, reverse=True))
