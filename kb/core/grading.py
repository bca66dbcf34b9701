"""Grades of questions against a gold file, and the totals of a run. Pure: asking is `kb.ops.evaluate`'s part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.measures import Bin, Declining, calibration, declining, mean, ndcg_at, recall_at, reciprocal_rank
from kb.core.triad import Triad
from kb.core.values import Place, Verdict

DEPTH = 10
CUTS = (1, 5, 10)


class Grade(NamedTuple):
    """One graded question. What does not apply to it is None: a question to decline has only a verdict.

    score, margin: the gate scorer's best score, and that over the second best.
    file, keyword: whether the first fused file, and the first by keywords, is an answer.
    agent, routes, fused_agent, model: whether the keyword owner, what boot would do, the sum of fused scores, and the
                   classifier name an agent of an answer; None too when no answer lies in an agent's base.
    abstained:     whether the classifier named no owner or no coverage; None when it was not asked.
    recalls, rank, ndcg: recall at CUTS, reciprocal rank and nDCG, both over the first ten.
    micros:        microseconds of the whole question, of its keyword route, of the classifier's call.
    """

    question: str
    declines: bool
    verdict: Verdict
    score: float
    margin: float
    file: bool | None = None
    keyword: bool | None = None
    agents: frozenset[str] = frozenset()
    agent: bool | None = None
    routes: bool | None = None
    fused_agent: bool | None = None
    model: bool | None = None
    abstained: bool | None = None
    recalls: tuple[float, ...] = ()
    rank: float = 0.0
    ndcg: float = 0.0
    micros: tuple[float, float, float] = (0.0, 0.0, 0.0)
    triad: Triad | None = None
    ranked: tuple[Place, ...] = ()


def ranked_grades(ranked: Sequence[Place], gains: dict[Place, float]) -> tuple[tuple[float, ...], float, float]:
    """Recall at CUTS, reciprocal rank and nDCG of one ranking."""
    return (tuple(recall_at(ranked, gains, cut) for cut in CUTS), reciprocal_rank(ranked, gains, DEPTH),
            ndcg_at(ranked, gains, DEPTH))


class Fraction(NamedTuple):
    """So many of so many."""

    part: int
    whole: int

    @property
    def percent(self) -> int:
        """A whole number, 0 of nothing."""
        return int(100 * self.part / self.whole + 0.5) if self.whole else 0

    def __str__(self) -> str:
        return f"{self.part}/{self.whole}  ({self.percent}%)"


class Totals(NamedTuple):
    """What a run comes to. `baseline` is the agent that is right most often, ties to the first name; "" without agents.

    flagged: keyword misses that the gate did not pass as a hit; demoted: keyword hits that it did not either.
    refused, hedged, answered: the questions to decline, by verdict.
    """

    questions: int
    answerable: int
    fused: Fraction
    keyword: Fraction
    routes: Fraction
    keyword_agent: Fraction
    fused_agent: Fraction
    model: Fraction | None
    baseline: str
    baseline_hits: Fraction
    unowned: int
    flagged: Fraction
    demoted: Fraction
    refused: int
    hedged: int
    answered: int
    model_abstained: Fraction | None
    hit_scores: tuple[float, ...]
    miss_scores: tuple[float, ...]
    recalls: tuple[float, ...]
    mrr: float
    ndcg: float
    declined: Declining
    nothing: Declining
    bins: tuple[Bin, ...]
    micros: tuple[float, float, float]


def totals(grades: Sequence[Grade], floor: float) -> Totals:
    """The totals of graded questions; `floor` scales the calibration table."""
    asked = [grade for grade in grades if not grade.declines]
    owned = [grade for grade in asked if grade.agents]
    refusals = [grade for grade in grades if grade.declines]
    misses = [grade for grade in asked if not grade.keyword]
    hits = [grade for grade in asked if grade.keyword]
    names = Counter(name for grade in owned for name in grade.agents)
    baseline = min(names, key=lambda name: (-names[name], name), default="")
    verdicts = Counter(grade.verdict for grade in refusals)
    modelled = [grade for grade in grades if grade.abstained is not None]
    return Totals(
        len(grades), len(asked),
        _of(asked, "file"), _of(asked, "keyword"), _of(owned, "routes"), _of(owned, "agent"), _of(owned, "fused_agent"),
        _of(owned, "model") if modelled else None, baseline, Fraction(names[baseline], len(owned)), len(asked) - len(owned),
        Fraction(sum(grade.verdict != "hit" for grade in misses), len(misses)),
        Fraction(sum(grade.verdict != "hit" for grade in hits), len(hits)),
        verdicts["nothing"], verdicts["guess"], verdicts["hit"],
        Fraction(sum(bool(grade.abstained) for grade in refusals), len(refusals)) if modelled else None,
        tuple(grade.score for grade in hits), tuple(grade.score for grade in misses),
        tuple(mean([grade.recalls[at] for grade in asked]) for at in range(len(CUTS))),
        mean([grade.rank for grade in asked]), mean([grade.ndcg for grade in asked]),
        declining((grade.verdict != "hit", grade.declines) for grade in grades),
        declining((grade.verdict == "nothing", grade.declines) for grade in grades),
        tuple(calibration((grade.score / floor if floor else grade.score, bool(grade.keyword), grade.declines)
                          for grade in grades)),
        _averages(grades))


def _of(grades: Sequence[Grade], name: str) -> Fraction:
    return Fraction(sum(bool(getattr(grade, name)) for grade in grades), len(grades))


def _averages(grades: Sequence[Grade]) -> tuple[float, float, float]:
    columns = [mean([grade.micros[at] for grade in grades]) for at in range(3)]
    return columns[0], columns[1], columns[2]
