"""The JSON endpoints: the same facts as the pages, for scripts on this machine."""

from __future__ import annotations

from typing import Any

from kb.core.blocks import tokens_of
from kb.core.values import Answer, Place
from kb.errors import KbError
from kb.ops.ask import ask, record_miss
from kb.ops.blocks import SizedBlock, read_blocks
from kb.ops.check import check
from kb.web.query import Query
from kb.web.room import TEXT, Reply, Room, as_json

TOP = 5


def fleet(room: Room, query: Query) -> Reply:
    """Every opened base, and what the library counts."""
    app = room.app()
    library = app.catalogue
    return as_json({
        "agents": [{"name": base.name, "role": base.role or "", "routable": base.routable, "files": len(shelf.stats())}
                   for base, shelf in zip(app.fleet.bases, library.shelves, strict=True)],
        "entries": library.size(), "aliases": len(library.aliases), "private": app.include_private})


def route(room: Room, query: Query) -> Reply:
    """One question asked, five files at most; a refusal is counted in the miss log."""
    question = query.text("q").strip()
    if not question:
        return as_json({"question": question, "verdict": "empty"})
    app = room.app()
    answer = ask(app, question, TOP)
    record_miss(app, answer)
    return as_json(routed(answer))


def routed(answer: Answer) -> dict[str, Any]:
    """An answer in the reading room's own words."""
    found: dict[str, Any] = {"question": answer.question, "verdict": answer.verdict,
                             "score": answer.confidence.keyword_score, "floor": answer.floor, "margin": answer.confidence.margin}
    owner = answer.owner
    if owner is not None:
        found["agent"] = {"name": owner.name, "score": owner.score, "files": owner.files, "contenders": owner.contenders,
                          "totals": [{"name": total.agent, "score": total.score} for total in owner.totals]}
    found["found"] = [
        {"base": result.base, "rel": result.path, "title": result.title, "fused": result.score, "keyword": result.keyword_score,
         "why": " + ".join(result.why), "matched": ", ".join(result.matched),
         **({"heading": result.passages[0].heading_path, "excerpt": result.passages[0].excerpt} if result.passages else {})}
        for result in answer.results]
    return found


def stacks(room: Room, query: Query) -> Reply:
    """Every file as a book, with what it cites and what cites it."""
    return as_json({"shelves": [{
        "agent": shelf.base.name, "routable": shelf.base.routable,
        "books": [{"rel": book.path, "stem": book.stem, "title": book.title, "bytes": book.size, "folder": book.folder,
                   "cites": list(map(str, book.cites)), "broken": book.broken, "cited_by": list(map(str, book.cited_by)),
                   "ribbons": book.ribbons} for book in shelf.books]} for shelf in room.stacks(room.app())]})


def blocks(room: Room, query: Query) -> Reply:
    """What each agent's constitution costs."""
    agents = []
    for base in room.app().fleet.bases:
        try:
            sized = read_blocks(base.root)
        except KbError:
            continue
        agents.append({
            "agent": base.name,
            "blocks": [{"name": item.block.name, "mode": "resident" if item.block.resident else "ondemand", "bytes": item.sent,
                        "file_bytes": item.on_disk, "files": item.block.files, "missing": item.missing} for item in sized],
            "invalidation": [{"name": name, "cost": cost} for name, cost in invalidation(sized)]})
    return as_json({"agents": agents})


def invalidation(sized: list[SizedBlock]) -> list[tuple[str, int]]:
    """(resident block, tokens that are sent anew when it changes: its own and those of every resident block after it)."""
    resident = [item for item in sized if item.block.resident]
    return [(item.block.name, tokens_of([text for later in resident[number:] for text in later.texts]))
            for number, item in enumerate(resident)]


def findings(room: Room, query: Query) -> Reply:
    """What the linter says."""
    return as_json({"findings": [{"base": f.base, "level": f.level, "code": f.code, "file": f.file, "line": f.line,
                                  "message": f.message} for f in check(room.app()).findings]})


def file(room: Room, query: Query) -> Reply:
    """The text of one file that discovery produced: the base case aside, the path exactly as it was found."""
    app = room.app()
    base = app.fleet.base(query.text("base"))
    text = None if base is None else app.catalogue.text_of(Place(base.name, query.text("rel")))
    if text is None:
        return Reply(404, "not a file this fleet serves\n", TEXT)
    return Reply(200, text, TEXT)


def reload(room: Room, query: Query) -> Reply:
    """Look at the disk again, now."""
    room.resident.renewed()
    return as_json({"ok": True})
