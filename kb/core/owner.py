"""Which agent owns a question: a fold of the gate scorer's ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from kb.core.shelves import kind_of
from kb.core.values import Hit, Owner, Total


def elect(hits: Iterable[Hit], agents: Collection[str]) -> Owner | None:
    """The owner, or None when no agent of `agents` (base names) has a ranked file.

    Each agent's total is the sum over its species (memory, skills, tools) of the best score there: fifty-nine matching
    notes are one species, and so is one. Ties go to the base's name.
    """
    best: dict[str, dict[str, float]] = {}
    for hit in hits:
        if hit.base in agents:
            species = best.setdefault(hit.base, {})
            kind = kind_of(hit.path)
            if hit.score > species.get(kind, 0.0):
                species[kind] = hit.score
    if not best:
        return None
    totals = sorted((Total(name, sum(species.values())) for name, species in best.items()),
                    key=lambda total: (-total.score, total.agent))
    first = totals[0]
    margin = first.score / totals[1].score if len(totals) > 1 else math.inf
    return Owner(first.agent, first.score, len(best[first.agent]), margin, len(totals), tuple(totals))
