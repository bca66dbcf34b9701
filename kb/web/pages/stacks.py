"""The stacks: shelves and books, what cites what, and links that lead nowhere."""

from __future__ import annotations

from kb.errors import KbError
from kb.ops.stacks import Book
from kb.web.figures import SHELF_HEIGHT, spines
from kb.web.query import Query
from kb.web.room import Reply, Room

SHOWN_TOGETHER = 24   # books of one shelf on the page of all shelves
SHOWN_ALONE = 250     # books on one page of a single shelf


def view(room: Room, query: Query) -> Reply:
    """All shelves; with `base`, one of them, `page` by page; with `only=broken`, the books whose links are broken."""
    app = room.app()
    shelves = room.stacks(app)
    wanted, only = query.text("base"), query.text("only")
    if not wanted:
        drawn = [(shelf, *spines(shelf.books), shelf.books[:SHOWN_TOGETHER]) for shelf in shelves]
        broken = sum(len(book.broken) for shelf in shelves for book in shelf.books)
        return room.page("stacks.html", title="Stacks", here="/stacks", shelves=drawn, height=SHELF_HEIGHT, broken=broken)
    base = app.fleet.base(wanted)
    shelf = next((shelf for shelf in shelves if base is not None and shelf.base.name == base.name), None)
    if shelf is None:
        return room.problem(404, "No such shelf", f"There is no base called {wanted}.", "The stacks list every shelf.")
    books = [book for book in shelf.books if _wanted(book, only)]
    page = query.number("page", 1)
    pages = max(1, -(-len(books) // SHOWN_ALONE))
    if page > pages:
        raise KbError(f"this shelf has {pages} pages")
    drawn_spines, width = spines(shelf.books)
    return room.page("shelf.html", title=f"{shelf.base.title} - Stacks", here="/stacks", shelf=shelf, height=SHELF_HEIGHT,
                     spines=drawn_spines, width=width, books=books[(page - 1) * SHOWN_ALONE:page * SHOWN_ALONE],
                     total=len(books), page=page, pages=pages, only=only)


def _wanted(book: Book, only: str) -> bool:
    return {"broken": bool(book.broken), "uncited": not book.cited_by}.get(only, True)
