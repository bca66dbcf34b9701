"""Keys that look like the words of a question: spelling, not meaning. It finds a typo or a cognate, never a translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kb.core.words import normalise

THRESHOLD = 0.65
LIMIT = 8


def grams(word: str) -> list[str]:
    """The character trigrams of a word, repeats kept; a shorter word is its own gram."""
    return [word[i:i + 3] for i in range(len(word) - 2)] or [word]


def similarity(a: str, b: str) -> float:
    """Dice's coefficient over the two multisets of trigrams: 0 to 1."""
    first, second = Counter(grams(a)), Counter(grams(b))
    shared = sum((first & second).values())
    return 2 * shared / (first.total() + second.total())


def lookalikes(words: Iterable[str], vocabulary: Mapping[str, Sequence[int]], spelled: Sequence[str]) -> dict[str, float]:
    """Words of a vocabulary that look like one of `words`: word -> best similarity, at least THRESHOLD.

    `vocabulary` maps a gram to positions in `spelled`. Only words that share a gram are compared.
    """
    found: dict[str, float] = {}
    for word in dict.fromkeys(words):
        own = Counter(grams(word))
        shared: Counter[int] = Counter()
        for gram, times in own.items():
            for position in vocabulary.get(gram, ()):
                shared[position] += times
        for position, count in shared.items():
            other = spelled[position]
            # what is shared can be at most `count`; most candidates end here
            if 2 * count / (own.total() + max(1, len(other) - 2)) >= THRESHOLD:
                score = similarity(word, other)
                if score >= THRESHOLD and score > found.get(other, 0.0):
                    found[other] = score
    return found


def best_keys(keys: Iterable[str], alike: Mapping[str, float]) -> tuple[str, ...]:
    """The keys that hold a word of `alike`, best first, ties by spelling, as written, each once, at most LIMIT."""
    scored: dict[str, float] = {}
    for key in keys:
        if key not in scored:
            score = max((alike.get(word, 0.0) for word in normalise(key)), default=0.0)
            if score:
                scored[key] = score
    return tuple(key for key, _ in sorted(scored.items(), key=lambda item: (-item[1], item[0]))[:LIMIT])
