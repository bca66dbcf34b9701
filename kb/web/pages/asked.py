"""Ask: the verdict, the score against the floor, the owner and the contenders, the passages."""

from __future__ import annotations

from kb.core.evidence import SPELLING_CAVEAT, evidence_line, shortfall
from kb.core.values import Answer
from kb.ops.ask import ask, record_miss
from kb.web.figures import WIDTH, bars, gauge
from kb.web.query import Query
from kb.web.room import Reply, Room

TOP = 5
VERDICTS = {
    "hit": "The library holds this",
    "guess": "A guess: too weak to tell from chance",
    "nothing": "The library does not hold this",
}


def view(room: Room, query: Query) -> Reply:
    """The question box; with `q`, the answer. A refused question is counted in the miss log, as everywhere."""
    question = query.text("q").strip()
    app = room.app()
    if not question:
        library = app.catalogue
        shelves = [(shelf.base, len(shelf.stats())) for shelf in library.shelves if shelf.base.routable]
        return room.page("ask.html", title="Ask", here="/", question="", answer=None, shelves=shelves, entries=library.size(),
                         unreachable=len(library.unreachable()), skipped=[*app.fleet.skipped, *library.skipped])
    top = query.number("top", TOP, 1, 100)
    answer = ask(app, question, top)
    miss = record_miss(app, answer)
    totals = answer.owner.totals if answer.owner else ()
    return room.page(
        "ask.html", title=f"{question} - Ask", here="/", question=question, answer=answer, miss=miss, headline=VERDICTS[answer.verdict],
        gauge=gauge(answer.confidence.keyword_score, answer.floor), gauge_width=WIDTH,
        contenders=list(zip(totals, bars([total.score for total in totals]), strict=True)),
        evidence=evidence_line(answer), reasons=shortfall(answer), caveat=SPELLING_CAVEAT, words=_words(answer),
        agents=app.fleet.agents, top=top, more=top < 100 and len(answer.results) == top)


def _words(answer: Answer) -> list[str]:
    return [answer.question, *(word for result in answer.results for word in result.matched)]
