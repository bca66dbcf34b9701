"""Reciprocal rank fusion: several rankings of files become one reading list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kb.core.values import Hit, Place

K = 60  # Cormack, Clarke and Buettcher, 2009


class Fused(NamedTuple):
    """One file of the fused list. `why` names each scorer that ranked it, with its rank."""

    place: Place
    score: float
    why: tuple[str, ...]


def fuse(rankings: Sequence[tuple[str, Sequence[Hit]]]) -> list[Fused]:
    """The sum over rankings of 1 / (60 + rank), best first, ties by base and path.

    A hit that does not fuse (see Hit.fuses) takes no rank of its own: it follows every file that some scorer stands
    behind, in the order of its ranking, so that it is still shown and outranks nothing.
    """
    scores: dict[Place, float] = {}
    why: dict[Place, tuple[str, ...]] = {}
    weak: dict[Place, float] = {}
    for name, hits in rankings:
        for rank, hit in enumerate(hits, start=1):
            place = Place(hit.base, hit.path)
            share = 1 / (K + rank)
            why[place] = (*why.get(place, ()), f"{name} #{rank}")
            if hit.fuses:
                scores[place] = scores.get(place, 0.0) + share
            else:
                weak[place] = max(weak.get(place, 0.0), share)
    least = min(scores.values(), default=1.0)
    for place, share in weak.items():
        if place not in scores:
            scores[place] = least * share
    return [Fused(place, score, why[place]) for place, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
