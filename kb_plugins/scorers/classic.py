"""The scorer set `classic`: a sum of idf over fields and phrases, every hit taking part in the fusion.

Known hazards, measured in docs/benchmarks.md: the sum grows with the length of the question, and one matched word
outranks a strong full-text hit. The set `default` mends both.
"""

from __future__ import annotations

from functools import partial

from kb.api import Hit, Library, Query, Ranking, Scorer, hookimpl
from kb_plugins.scorers.evidence import find, floor_for, matched


def rank(library: Library, query: Query) -> Ranking:
    """Every entry that scores, best first, ties by base and path."""
    found = find(library, query)
    hits = sorted((Hit(*library.place(number), score) for number, score in found.scores.items()),
                  key=lambda hit: (-hit.score, hit.base, hit.path))
    return Ranking(hits, matched=partial(matched, library, query, found))


@hookimpl
def kb_scorers() -> list[Scorer]:
    return [Scorer("keywords", ("classic",), rank, floor=lambda library: floor_for(library.size()))]
