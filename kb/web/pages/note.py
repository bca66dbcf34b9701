"""One note: its text, safely rendered, and everything the catalogue knows about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kb.core.display import harmless
from kb.core.header import key_span, split_label
from kb.core.inline import WikiLink
from kb.core.markdown import front_matter_end, lines_of, scan
from kb.core.shelves import kind_of, layer_of
from kb.core.values import Place
from kb.core.values import stem as stem_of
from kb.ops.reading import read
from kb.web.query import Query
from kb.web.room import Reply, Room
from kb.web.safe import RENDERED_AT_MOST, Linker, rendered

if TYPE_CHECKING:
    from kb.app import App


def view(room: Room, query: Query) -> Reply:
    """The note at `base` and `rel`, exactly as discovery spells them; anything else is no page."""
    app = room.app()
    base = app.fleet.base(query.text("base"))
    reading = None if base is None else read(app, Place(base.name, query.text("rel")))
    if base is None or reading is None:
        return room.problem(404, "No such note", "This fleet serves no file at that place.",
                            "It may be private, moved or gone. The stacks list every file.")
    place = reading.place
    book = next((book for shelf in room.stacks(app) for book in shelf.books if book.place == place), None)
    linker = Linker(place.base, place.path, _files(app, place.base), _Resolver(app, place))
    body = rendered(_body(reading.text), linker)
    return room.page(
        "note.html", title=reading.header.title or stem_of(place.path), here="/stacks", reading=reading, place=place, base=base,
        book=book, body=body, plain=harmless(reading.text[:RENDERED_AT_MOST]) if body is None else "",
        cut=len(reading.text) > RENDERED_AT_MOST, kind=kind_of(place.path), layer=layer_of(place.path),
        file=os.path.join(base.root, place.path), dead=[key.key for key in reading.keys if not key.live])


def _files(app: App, name: str) -> frozenset[str]:
    return next((shelf.paths for shelf in app.catalogue.shelves if shelf.base.name == name), frozenset())


class _Resolver:
    """Wikilinks of one note, resolved as the linter resolves them; what is out of scope leads nowhere."""

    def __init__(self, app: App, place: Place) -> None:
        from kb.store.checked import CheckedBase

        base = app.fleet.base(place.base)
        assert base is not None
        self._view = CheckedBase(base, True)
        self._files = _files(app, place.base)

    def __call__(self, target: str) -> str | None:
        return next((path for path in self._view.resolve(WikiLink(0, target, False)) if path in self._files), None)


def _body(text: str) -> str:
    """The note without its front matter and its key lines: both are shown beside it."""
    raw = lines_of(text)
    lines = scan(text)
    drop = set(range(front_matter_end(raw)))
    for number, line in enumerate(lines):
        if line.kind == "heading" and line.level > 1:
            break
        if line.kind == "text" and number not in drop:
            label = split_label(line.text)[0]
            if label == "keys":
                drop.update(range(number, key_span(lines, number)))
            elif label == "purpose":
                drop.add(number)
    first = next((number for number, line in enumerate(lines) if line.kind == "heading"), None)
    if first is not None and lines[first].level == 1:
        drop.add(first)
        if first + 1 < len(lines) and lines[first + 1].kind == "underline":
            drop.add(first + 1)
    return "\n".join(line for number, line in enumerate(raw) if number not in drop)
