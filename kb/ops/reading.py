"""One note as a reader studies it: its text, header, chunks, keys, and which questions find it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kb.core.chunks import chunk
from kb.core.keys import is_live
from kb.core.values import Header, Place
from kb.core.verdict import clears

if TYPE_CHECKING:
    from kb.app import App

KEYS_TRIED = 24


class KeyReach(NamedTuple):
    """What asking for one key finds. rank: where this note then stands, 1 is first, None when it is not found;
    score: its keyword score; clears: whether that reaches the floor; None for a dead key and one that was not tried."""

    key: str
    live: bool
    rank: int | None = None
    score: float = 0.0
    clears: bool = False
    tried: bool = False


class Reading(NamedTuple):
    """One note. `chunks` are (heading path, text) as the text side indexes them; `floor` is the library's floor."""

    place: Place
    text: str
    header: Header
    chunks: tuple[tuple[str, str], ...]
    keys: tuple[KeyReach, ...]
    floor: float
    unindexed: bool


def read(app: App, place: Place) -> Reading | None:
    """The note at `place`, or None when no file in scope is there or it cannot be read. Writes nothing."""
    library = app.catalogue
    text = library.text_of(place)
    header = library.header(place)
    if text is None or header is None:
        return None
    gate = app.scorers[0]
    floor = gate.floor(library) if gate.floor else 0.0
    keys = tuple(_reach(app, place, key, floor, tried=number < KEYS_TRIED and library.entry(place) is not None)
                 for number, key in enumerate(header.keys))
    return Reading(place, text, header, tuple(chunk(text)), keys, floor, place in library.unindexed())


def _reach(app: App, place: Place, key: str, floor: float, tried: bool) -> KeyReach:
    if not is_live(key):
        return KeyReach(key, False)
    if not tried:
        return KeyReach(key, True)
    library = app.catalogue
    hits = app.scorers[0].rank(library, library.query(key)).hits
    for rank, hit in enumerate(hits, 1):
        if (hit.base, hit.path) == place:
            return KeyReach(key, True, rank, hit.score, clears(hit.score, floor, library.size()), True)
    return KeyReach(key, True, tried=True)
