"""Measures of retrieval and of declining, and a paired test of two systems. Pure; each names where its formula is from."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple, TypeVar

D = TypeVar("D", bound=Hashable)

PERMUTATIONS = 10_000
SEED = 20260901
_EXACT = 12  # differences up to which every sign is tried


def recall_at(ranked: Sequence[D], relevant: Mapping[D, float], k: int) -> float:
    """The share of the relevant documents among the first `k`; 0 when nothing is relevant."""
    wanted = {document for document, gain in relevant.items() if gain > 0}
    return len(wanted.intersection(ranked[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranked: Sequence[D], relevant: Mapping[D, float], k: int) -> float:
    """1 over the rank of the first relevant document among the first `k`; 0 when there is none (Voorhees, TREC-8)."""
    return next((1 / rank for rank, document in enumerate(ranked[:k], 1) if relevant.get(document, 0) > 0), 0.0)


def ndcg_at(ranked: Sequence[D], relevant: Mapping[D, float], k: int) -> float:
    """Normalised discounted cumulative gain with linear gain, as trec_eval has it (Jarvelin and Kekalainen 2002)."""
    ideal = _dcg(sorted((gain for gain in relevant.values() if gain > 0), reverse=True)[:k])
    return _dcg([max(0.0, relevant.get(document, 0.0)) for document in ranked[:k]]) / ideal if ideal else 0.0


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def share(part: int, whole: int) -> float:
    """part / whole; 0 when the whole is 0."""
    return part / whole if whole else 0.0


class Declining(NamedTuple):
    """How well questions are declined: precision over what was declined, recall over what should have been, and F1."""

    precision: float
    recall: float
    f1: float


def declining(pairs: Iterable[tuple[bool, bool]]) -> Declining:
    """From (was declined, should be declined) for every question."""
    rows = list(pairs)
    right = sum(1 for was, should in rows if was and should)
    precision = share(right, sum(1 for was, _ in rows if was))
    recall = share(right, sum(1 for _, should in rows if should))
    return Declining(precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0)


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How likely a positive scores above a negative, ties counted half (Mann and Whitney 1947); 0.5 when one is empty."""
    if not positive or not negative:
        return 0.5
    ranked = sorted([(score, True) for score in positive] + [(score, False) for score in negative])
    total, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        total += (at + 1 + end) / 2 * sum(is_positive for _, is_positive in ranked[at:end])
        at = end
    return (total - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative))


class Bin(NamedTuple):
    """Questions whose best score over the floor lies in [low, high), or is 0 where both are.

    How many there are, for how many the best file is right, and how many should have been declined.
    """

    low: float
    high: float
    questions: int
    right: int
    should_decline: int


EDGES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, math.inf)


def calibration(rows: Iterable[tuple[float, bool, bool]]) -> list[Bin]:
    """A table over (score / floor, best file is right, should be declined); rows without a question are left out."""
    known = list(rows)
    bins = []
    for low, high in ((0.0, 0.0), *pairwise(EDGES)):
        inside = [row for row in known if (row[0] == 0 if high == 0 else row[0] != 0 and low <= row[0] < high)]
        if inside:
            bins.append(Bin(low, high, len(inside), sum(right for _, right, _ in inside), sum(no for _, _, no in inside)))
    return bins


class Paired(NamedTuple):
    """Two systems over the same questions: their means, the difference, its 95 % interval, and a two-sided p-value."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def paired(first: Sequence[float], second: Sequence[float], seed: int = SEED) -> Paired:
    """Fisher's randomisation test on the mean difference (Smucker, Allan and Carterette 2007), and a bootstrap interval.

    Every sign is tried for up to 12 questions that differ; beyond, 10,000 random ones with a fixed seed, so that the
    same numbers come out each time.
    """
    differences = [b - a for a, b in zip(first, second, strict=True)]
    observed = abs(sum(differences))
    told = [difference for difference in differences if difference]
    rng = random.Random(seed)
    if len(told) <= _EXACT:
        signs: Iterable[Sequence[int]] = product((1, -1), repeat=len(told))
        sums = [abs(sum(sign * value for sign, value in zip(row, told, strict=True))) for row in signs]
        p = sum(total >= observed - 1e-12 for total in sums) / len(sums)
    else:
        beyond = 0
        for _ in range(PERMUTATIONS):
            bits = rng.getrandbits(len(told))
            total = sum(value if bits >> at & 1 else -value for at, value in enumerate(told))
            beyond += abs(total) >= observed - 1e-12
        p = (beyond + 1) / (PERMUTATIONS + 1)
    low, high = _interval(differences, rng)
    return Paired(mean(first), mean(second), mean(differences), low, high, p)


def _interval(differences: Sequence[float], rng: random.Random) -> tuple[float, float]:
    """The 2.5 and 97.5 percentiles of the mean under resampling (Efron's percentile bootstrap, 2,000 samples)."""
    if not any(differences):
        return 0.0, 0.0
    count = len(differences)
    means = sorted(sum(rng.choices(differences, k=count)) / count for _ in range(2000))
    return means[49], means[1949]
