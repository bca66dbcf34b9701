"""The ledgers: misses with their near files, reports of what went wrong, objection rounds."""

from __future__ import annotations

from kb.ops import ledgers as ops
from kb.ops.misses import misses as read_misses
from kb.ops.panel import ledger
from kb.web.query import Query
from kb.web.room import Reply, Room


def misses(room: Room, query: Query) -> Reply:
    """What could not be answered, and what comes near it today."""
    return room.page("misses.html", title="Misses", here="/misses", report=read_misses(room.app(), 3))


def reports(room: Room, query: Query) -> Reply:
    """Misroutes, subjects that nobody owns, and notes that a review refused."""
    app = room.app()
    root = app.fleet.root
    return room.page("reports.html", title="Reports", here="/reports", misroutes=ops.misroutes(root), abstentions=ops.abstentions(app),
                     rejections=ops.rejections(root), recorded=query.text("recorded") == "1")


def panels(room: Room, query: Query) -> Reply:
    """Every round of objections, the ones still open first."""
    found = ledger(room.app().fleet.root)
    rounds = sorted(found.rounds, key=lambda round_: round_.closed)
    return room.page("panels.html", title="Panels", here="/panels", rounds=rounds, strays=found.strays)
