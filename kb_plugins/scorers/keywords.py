"""The keyword scorer of the set `default`: the classic sum, damped by how much of the question an entry explains.

score = classic score x coverage, where coverage is the share of the question's idf mass that stands in the entry's
keys, title or file name (words in no entry count at full weight). m matched words of n then weigh as m x m / n: a long
question must be matched by more words to clear the same floor, and a short one is scored as before.
"""

from __future__ import annotations

from functools import partial

from kb.api import KEY, PHRASE, STEM, TITLE, Hit, Library, Query, Ranking, Scorer, hookimpl
from kb_plugins.scorers.evidence import Found, find, floor_for, matched

FUSES_FROM = 0.6  # the share of the question that a keyword hit must explain to outrank a text hit (docs/benchmarks.md)
_STRONG = KEY | PHRASE | TITLE | STEM


def rank(library: Library, query: Query) -> Ranking:
    """Every entry that scores, best first, ties by base and path."""
    found = find(library, query)
    shares = coverage(found)
    by_phrase = {number for numbers in found.phrases.values() for number in numbers}
    hits = []
    for number, score in found.scores.items():
        share = shares.get(number, 0.0)
        damped = score * max(share, _LEAST)
        hits.append(Hit(*library.place(number), damped, share >= FUSES_FROM or number in by_phrase))
    hits.sort(key=lambda hit: (-hit.score, hit.base, hit.path))
    return Ranking(hits, matched=partial(matched, library, query, found))


_LEAST = 0.05  # an entry found by its purpose alone keeps a trace of its score, so that it is a guess and not nothing


def coverage(found: Found) -> dict[int, float]:
    """entry number -> share (0 to 1) of the question's idf mass that its keys, title or file name hold."""
    whole = sum(found.idf.values())
    shares: dict[int, float] = {}
    for word, (numbers, fields) in found.words.items():
        share = found.idf[word] / whole
        for number, bits in zip(numbers, fields, strict=True):
            if bits & _STRONG:
                shares[number] = shares.get(number, 0.0) + share
    return shares


@hookimpl
def kb_scorers() -> list[Scorer]:
    return [Scorer("keywords", ("default",), rank, floor=lambda library: floor_for(library.size()))]
