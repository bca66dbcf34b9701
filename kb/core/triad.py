"""The triad of served context, answer and question, by words alone: no model judges anything.

What it can tell is whether words came along, not whether they were understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from kb.core.words import STOP_WORDS

ABSTENTION = "The library does not hold this."
_ABSTAINS = ("library does not hold this", "the library does not", "nao possui", "não possui", "not found")


class Triad(NamedTuple):
    """Shares from 0 to 1, rounded to two decimals. `composite` is the mean of the three."""

    faithfulness: float
    relevance: float
    context: float
    composite: float


def triad(question: str, answer: str, passages: Sequence[str]) -> Triad:
    """Grade an answer against the passages that were served for the question.

    faithfulness: the answer's words that the context holds; relevance: the question's words that the answer holds;
    context: the sentences of the context that hold a word of the question. An answer that says that the library does
    not hold it declines, unless it is quoted from the context.
    """
    context = "\n".join(passages)
    if any(mark in answer.lower() for mark in _ABSTAINS) and answer not in context:
        return _rounded(1, 1, 1) if not context.strip() else _rounded(1, 0, 0.5)
    asked, said, held = tokens(question), tokens(answer), context.lower()
    sentences = [part for part in (piece.strip() for passage in passages for piece in re.split(r"[.\n;]", passage))
                 if len(part.encode("utf-8", "replace")) >= 10]
    if not context.strip():
        relevant = 0.0
    elif not sentences:
        relevant = 1.0
    else:
        relevant = sum(any(word in sentence.lower() for word in asked) for sentence in sentences) / len(sentences)
    return _rounded(_found(said, held), _found(asked, answer.lower()), relevant)


def tokens(text: str) -> list[str]:
    """Runs of letters and digits in lower case, of more than two bytes, stop words dropped; repeats and accents stay."""
    words = re.findall(r"[^\W_]+", text.lower())
    return [word for word in words if len(word.encode("utf-8", "replace")) > 2 and word not in STOP_WORDS]


def averages(rows: Sequence[Triad]) -> Triad:
    """The mean of each column; the composite is the mean of the three means."""
    columns = [sum(row[at] for row in rows) / len(rows) if rows else 0.0 for at in range(3)]
    return _rounded(*columns)


def _found(words: Sequence[str], text: str) -> float:
    return sum(word in text for word in words) / len(words) if words else 1.0


def _rounded(faithfulness: float, relevance: float, context: float) -> Triad:
    three = [_two(value) for value in (faithfulness, relevance, context)]
    return Triad(three[0], three[1], three[2], _two(sum(three) / 3))


def _two(value: float) -> float:
    return float(Decimal(repr(float(value))).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))
