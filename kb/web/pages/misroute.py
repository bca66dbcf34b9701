"""Recording a misroute: the one thing a reader may write here, and it goes to a ledger, never to a base."""

from __future__ import annotations

import secrets

from kb.errors import UsageError
from kb.ops.ledgers import misroute
from kb.web.query import Query
from kb.web.room import TEXT, Reply, Room


def post(room: Room, query: Query) -> Reply:
    """Count a misroute. The form's token must be this process's."""
    if not secrets.compare_digest(query.text("token").encode(), room.token.encode()):
        return room.problem(403, "Not recorded", "This form was made by another run of the reading room.", "Ask again, and send it again.")
    message, owner = query.text("message"), query.text("owner")
    if not owner:
        raise UsageError("a misroute needs the rightful owner", hint="choose one, or nobody")
    misroute(room.app(), message, query.text("chose"), owner, query.text("why"))
    return Reply(303, "recorded\n", TEXT, location="/reports?recorded=1")
