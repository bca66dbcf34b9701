"""The stacks: every file as a book on its base's shelf, with what it cites, what cites it, and which links are broken."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kb.core.inline import WikiLink, citations, visible, wikilinks
from kb.core.markdown import scan
from kb.core.mentions import mentions
from kb.core.shelves import kind_of, layer_of
from kb.core.values import Base, Place
from kb.store.checked import CheckedBase
from kb.store.files import read_text
from kb.store.notes import Bucket

if TYPE_CHECKING:
    from kb.app import App
    from kb.store.shelf import Shelf


class Book(NamedTuple):
    """One file. `lost`: no question can reach it, and not by design. `cites` and `cited_by` are files in scope, `broken` the
    targets of wikilinks that lead nowhere, `sources` the tokens of its citations, `ribbons` the other bases that cite it."""

    base: str
    path: str
    title: str
    size: int
    layer: str
    kind: str
    provenance: str | None
    stage: str | None
    private: bool
    keys: int
    lost: bool
    cites: tuple[Place, ...]
    broken: tuple[str, ...]
    sources: tuple[str, ...]
    cited_by: tuple[Place, ...] = ()

    @property
    def place(self) -> Place:
        return Place(self.base, self.path)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @property
    def ribbons(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.base for place in self.cited_by if place.base != self.base))


class ShelfOfBooks(NamedTuple):
    """One base and its books, by path."""

    base: Base
    books: tuple[Book, ...]


class Parsed(NamedTuple):
    """What one file says, as long as its size and mtime stay."""

    size: int
    mtime_ns: int
    links: tuple[WikiLink, ...]
    sources: tuple[str, ...]
    mentions: tuple[Place, ...]


class Memory:
    """What the files said when they were last read. It holds while no file comes or goes: a new one may be what a text names."""

    def __init__(self) -> None:
        self.files: Mapping[str, Collection[str]] = {}
        self.parsed: dict[tuple[str, str], Parsed] = {}


def stacks(app: App, memory: Memory | None = None) -> tuple[ShelfOfBooks, ...]:
    """Every shelf of the opened fleet. `memory` keeps what files said between calls; files that changed are read again."""
    known = memory or Memory()
    shelves = app.catalogue.shelves
    files = {shelf.base.name: shelf.paths for shelf in shelves}
    if files != known.files:
        known.files, known.parsed = files, {}
    held = [(shelf.base, _books(shelf, files, known)) for shelf in shelves]
    citing: dict[Place, list[Place]] = {}
    for _, books in held:
        for book in books:
            for place in book.cites:
                citing.setdefault(place, []).append(book.place)
    return tuple(ShelfOfBooks(base, tuple(book._replace(cited_by=tuple(citing.get(book.place, ()))) for book in books))
                 for base, books in held)


def _books(shelf: Shelf, files: Mapping[str, Collection[str]], known: Memory) -> list[Book]:
    if not shelf.stats():
        return []
    base = shelf.base
    view = CheckedBase(base, True)  # a link into the private layer is not broken
    headers = shelf.headers()
    lost = frozenset(shelf.in_bucket(Bucket.UNREACHABLE))
    books = []
    for stat in shelf.stats():
        header = headers.get(stat.path)
        key = (base.root, stat.path)
        parsed = known.parsed.get(key)
        if parsed is None or (parsed.size, parsed.mtime_ns) != (stat.size, stat.mtime_ns):
            parsed = known.parsed[key] = _parse(base, stat.path, stat.size, stat.mtime_ns, files)
        cites: dict[Place, None] = {}
        broken: dict[str, None] = {}
        for link in parsed.links if stat.path != shelf.map_name else ():
            targets = view.resolve(link)
            if not targets:
                broken[link.target] = None
            cites.update((Place(base.name, path), None) for path in targets
                         if path in files[base.name] and path != stat.path)
        if stat.path != shelf.map_name:
            cites.update((place, None) for place in parsed.mentions if place.path in files.get(place.base, ()))
        books.append(Book(base.name, stat.path, header.title if header else "", stat.size, layer_of(stat.path),
                          kind_of(stat.path), header.provenance if header else None, header.stage if header else None,
                          stat.private, len(header.keys) if header else 0, stat.path in lost, tuple(cites), tuple(broken), parsed.sources))
    return books


def _parse(base: Base, path: str, size: int, mtime_ns: int, files: Mapping[str, Collection[str]]) -> Parsed:
    try:
        text = read_text(os.path.join(base.root, path))
    except (OSError, UnicodeDecodeError):
        return Parsed(size, mtime_ns, (), (), ())
    prose = visible(scan(text)) if "[[" in text or "[src:" in text else []
    return Parsed(size, mtime_ns, tuple(wikilinks(prose)), tuple(dict.fromkeys(c.token for c in citations(prose))),
                  tuple(mentions(text, base.name, files)))
