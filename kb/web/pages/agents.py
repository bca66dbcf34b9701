"""Agents: who they are, where they stop, and what each block of their constitution costs."""

from __future__ import annotations

from typing import NamedTuple

from kb.core.values import Base
from kb.errors import KbError
from kb.ops.blocks import SizedBlock, read_blocks
from kb.store.notes import Bucket
from kb.web.api import invalidation
from kb.web.figures import bars
from kb.web.query import Query
from kb.web.room import Reply, Room


class Card(NamedTuple):
    """One base. `blocks` are (block, length of its bar, tokens sent anew when it changes or None)."""

    base: Base
    files: int
    entries: int
    resident: int
    blocks: tuple[tuple[SizedBlock, int, int | None], ...]
    trouble: str


def view(room: Room, query: Query) -> Reply:
    app = room.app()
    cards = []
    for shelf in app.catalogue.shelves:
        try:
            sized, trouble = read_blocks(shelf.base.root), ""
        except KbError as error:
            sized, trouble = [], error.message
        anew = dict(invalidation(sized))
        lengths = bars([float(item.tokens) for item in sized])
        cards.append(Card(shelf.base, len(shelf.stats()), len(shelf.in_bucket(Bucket.ENTRY)),
                          sum(item.tokens for item in sized if item.block.resident),
                          tuple((item, length, anew.get(item.block.name) if item.block.resident else None)
                                for item, length in zip(sized, lengths, strict=True)), trouble))
    return room.page("agents.html", title="Agents", here="/agents", agents=[card for card in cards if card.base.routable],
                     shared=[card for card in cards if not card.base.routable], skipped=app.fleet.skipped,
                     role=app.fleet.manifest.last("role"))
