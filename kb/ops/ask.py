"""One question, asked of the whole catalogue: the answer that every surface renders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.core.fusion import Fused, fuse
from kb.core.owner import elect
from kb.core.shelves import layer_of
from kb.core.values import Answer, Confidence, Hit, KeywordHit, Miss, Place, Ranking, Result, Unreachable
from kb.core.verdict import decide, margin

if TYPE_CHECKING:
    from kb.app import App

PATHS_SHOWN = 8
PASSAGES_SHOWN = 8


def ask(app: App, question: str, top: int = 5, passages: int = PASSAGES_SHOWN) -> Answer:
    """Ask `question` of the opened fleet.

    The verdict, the owner, the agreement and the margin come from every ranked file; `top` bounds only the results, and
    `passages` what each of them carries. Writes nothing.
    """
    library = app.catalogue
    query = library.query(question)
    gate = app.scorers[0]
    rankings = [(scorer.name, scorer.rank(library, query)) for scorer in app.scorers]
    hits = rankings[0][1].hits
    entries = library.size()
    floor = gate.floor(library) if gate.floor is not None else 0.0
    first = Place(hits[0].base, hits[0].path) if hits else None
    verdict = decide(hits, floor, entries)
    fused = fuse([(name, ranking.hits) for name, ranking in rankings])[:top]
    lost = library.unreachable()
    unindexed = library.unindexed()
    agents = app.fleet.agents
    results = _results(app, fused, rankings, passages)
    return Answer(
        question=question,
        verdict=verdict,
        floor=floor,
        confidence=Confidence(_agreement(first, rankings), hits[0].score if hits else 0.0, margin(hits)),
        owner=elect(hits, {agent.name for agent in agents}),
        keyword_top=first,
        entries=entries,
        agents=len(agents),
        aliases=len(library.aliases),
        unreachable=Unreachable(len(lost), tuple(map(str, lost[:PATHS_SHOWN])), len(unindexed),
                                tuple(map(str, unindexed[:PATHS_SHOWN]))),
        skipped=_told(app, rankings),
        index_was_rebuilt=library.index_was_rebuilt,
        suggestions=library.suggestions(query.words) if verdict == "nothing" and entries else (),
        results=results,
        keyword_ranking=tuple(hits),
        keyword_list=tuple(_keyword_hit(app, hit, rankings[0][1]) for hit in hits[:top]),
    )


def record_miss(app: App, answer: Answer) -> Miss | None:
    """Count a question that was not answered in the fleet's miss log. None when it was served, or the library is empty.

    Never raises: a log that cannot be written is told in `error`, and the question is answered all the same. A blank
    question is not counted.
    """
    if answer.served or answer.entries == 0:
        return None
    from kb.errors import KbError
    from kb.store.clock import today
    from kb.store.misses import misses_path, record

    log = misses_path(app.fleet.root)
    date = today()
    if not answer.question.strip():
        return Miss(answer.question, answer.suggestions, date, log, False, None)
    offered = _public(app, answer.suggestions) if app.include_private else answer.suggestions
    error: str | None = None
    try:
        record(log, answer.question, offered, date)
    except OSError as failure:
        error = failure.strerror or str(failure)
    except (KbError, UnicodeError) as failure:
        error = str(failure)
    return Miss(answer.question, offered, date, log, error is None, error)


def _public(app: App, keys: Sequence[str]) -> tuple[str, ...]:
    """The keys that a file outside the private layer declares: the log is read by people who do not see the rest."""
    wanted = set(keys)
    entries = [entry for entry in (app.catalogue.entries() if wanted else ()) if wanted.intersection(entry.keys)]
    private = app.catalogue.private_places() if entries else frozenset()
    known = {key for entry in entries if Place(entry.base, entry.path) not in private for key in entry.keys}
    return tuple(key for key in keys if key in known)


def _agreement(first: Place | None, rankings: Sequence[tuple[str, Ranking]]) -> int:
    """How many of the two independent scorers ranked the top file: the gate's, and any other."""
    if first is None:
        return 0
    others = (hit for _, ranking in rankings[1:] for hit in ranking.hits)
    return 2 if any((hit.base, hit.path) == first for hit in others) else 1


def _keyword_hit(app: App, hit: Hit, ranking: Ranking) -> KeywordHit:
    place = Place(hit.base, hit.path)
    header = app.catalogue.header(place)
    return KeywordHit(hit.base, hit.path, hit.score, header.title if header else "", header.purpose if header else "",
                      ranking.matched(place))


def _results(app: App, fused: Sequence[Fused], rankings: Sequence[tuple[str, Ranking]], passages: int) -> tuple[Result, ...]:
    wanted = {item.place for item in fused}
    keyword = {place: hit.score for hit in rankings[0][1].hits if (place := Place(hit.base, hit.path)) in wanted}
    found = []
    for place, score, why in fused:
        header = app.catalogue.header(place)
        found.append(Result(
            base=place.base, path=place.path, memory=layer_of(place.path),
            title=header.title if header else "", purpose=header.purpose if header else "",
            score=score, keyword_score=keyword.get(place, 0.0), why=why,
            matched=tuple(dict.fromkeys(word for _, ranking in rankings for word in ranking.matched(place))),
            passages=tuple(passage for _, ranking in rankings for passage in ranking.passages(place, passages)),
        ))
    return tuple(found)


def _told(app: App, rankings: Sequence[tuple[str, Ranking]]) -> tuple[str, ...]:
    lines = [*app.fleet.skipped, *app.catalogue.skipped, *(line for _, ranking in rankings for line in ranking.skipped),
             *app.catalogue.take_faults()]
    return tuple(dict.fromkeys(lines))
