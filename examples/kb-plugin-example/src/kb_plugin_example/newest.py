"""The scorer `newest`: of the files that have a word of the question, the one that was changed last comes first.

It is in no set but its own, so it ranks only where it is asked for: `scorers = default newest` in fleet.txt. It carries no
floor, because being new says nothing about being an answer.
"""

from __future__ import annotations

import os

from kb.api import Hit, Library, Place, Query, Ranking, Scorer, hookimpl


def rank(library: Library, query: Query) -> Ranking:
    """score = 1 / (1 + rank by age), so that it is positive and the newest file has 1."""
    found = {library.place(number) for postings in library.postings(query.terms).values() for number in postings.entries}
    roots = {base.name: base.root for base in library.fleet.bases}

    def changed(place: Place) -> int:
        try:
            return os.stat(os.path.join(roots[place.base], place.path)).st_mtime_ns
        except OSError:
            return 0

    newest = sorted(found, key=lambda place: (-changed(place), place.base, place.path))
    return Ranking([Hit(place.base, place.path, 1 / (1 + rank)) for rank, place in enumerate(newest)])


@hookimpl
def kb_scorers() -> list[Scorer]:
    """`newest`."""
    return [Scorer("newest", ("newest",), rank)]
