"""The verdict: one keyword score against one floor, both printed."""

from __future__ import annotations

from collections.abc import Sequence

from kb.core.values import Hit, Verdict

MIN_ENTRIES = 2  # in a library of one note no word can be rare


def decide(hits: Sequence[Hit], floor: float, entries: int) -> Verdict:
    """`nothing` when the gate scorer ranked nothing; `hit` when its best score reaches the floor in a library of two or more."""
    if not hits:
        return "nothing"
    return "hit" if clears(hits[0].score, floor, entries) else "guess"


def clears(score: float, floor: float, entries: int) -> bool:
    """Whether one score reaches the floor. The comparison forgives what rounding did to either side."""
    return entries >= MIN_ENTRIES and score >= floor - 1e-9


def margin(hits: Sequence[Hit]) -> float:
    """The best score over the second; 1 when it stands alone, 0 when nothing scored."""
    if not hits:
        return 0.0
    return hits[0].score / hits[1].score if len(hits) > 1 else 1.0
