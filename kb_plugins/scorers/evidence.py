"""What a question's words find in the keyword index: the arithmetic that both keyword scorers share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kb.api import KEY, PHRASE, PURPOSE, STEM, TITLE, Entry, Library, Place, Query, bag_of, key_phrase

KEY_WEIGHT, PHRASE_WEIGHT, TITLE_WEIGHT, STEM_WEIGHT, PURPOSE_WEIGHT = 6.0, 10.0, 3.0, 3.0, 1.0

# The weight of every combination of field bits, so that a posting costs one look-up.
FIELD_WEIGHT = tuple(
    KEY_WEIGHT * bool(bits & KEY) + TITLE_WEIGHT * bool(bits & TITLE) + STEM_WEIGHT * bool(bits & STEM)
    + PURPOSE_WEIGHT * bool(bits & PURPOSE) for bits in range(2 * PHRASE))

_CALIBRATION_SCORE, _CALIBRATION_ENTRIES = 17.5, 226


def idf(document_frequency: int, entries: int) -> float:
    """ln(1 + N / (1 + df)): a word in no entry weighs ln(1 + N), one in every entry about 0.69."""
    return math.log(1 + entries / (1 + document_frequency))


def floor_for(entries: int) -> float:
    """17.5 x ln(1 + N/2) / ln(114): the score calibrated at 226 entries, scaled by what a unique word weighs at N."""
    return _CALIBRATION_SCORE * math.log(1 + entries / 2) / math.log(1 + _CALIBRATION_ENTRIES / 2)


@dataclass(frozen=True, slots=True)
class Found:
    """What one question found.

    scores:  entry number -> sum of idf x field weights, plus 10 x the mean idf of each phrase that matched.
    phrases: phrase of the question -> entries that declare it.
    words:   word -> (entry numbers, field bits).
    """

    scores: dict[int, float]
    phrases: Mapping[str, list[int]]
    words: Mapping[str, tuple[list[int], list[int]]]


def find(library: Library, query: Query) -> Found:
    """Score every entry that holds a term of the question. Reads only the postings of the question's words."""
    entries = library.size()
    postings = library.postings(query.terms)
    weights = {word: idf(len(postings[word].entries) if word in postings else 0, entries) for word in query.terms}
    scores: dict[int, float] = {}
    for word, (numbers, fields) in postings.items():
        weight = weights[word]
        for number, bits in zip(numbers, fields, strict=True):
            gain = FIELD_WEIGHT[bits]
            if gain:
                scores[number] = scores.get(number, 0.0) + weight * gain
    phrases = library.phrases(query.phrases(library.longest_phrase(), postings))
    for phrase, numbers in phrases.items():
        parts = phrase.split(" ")
        gain = PHRASE_WEIGHT * sum(weights[part] for part in parts) / len(parts)
        for number in numbers:
            scores[number] = scores.get(number, 0.0) + gain
    return Found(scores, {phrase: list(numbers) for phrase, numbers in phrases.items()},
                 {word: (list(numbers), list(fields)) for word, (numbers, fields) in postings.items()})


def matched(library: Library, query: Query, found: Found, place: Place) -> tuple[str, ...]:
    """What of an entry matched: phrases as written, in the order of its keys, then words in the order of the question."""
    entry = library.entry(place)
    if entry is None:
        return ()
    return (*dict.fromkeys(key for key in entry.keys if key_phrase(key) in found.phrases), *matched_words(query, entry))


def matched_words(query: Query, entry: Entry) -> tuple[str, ...]:
    """The terms of the question that score in an entry on their own, outside phrases."""
    words = bag_of(entry.path, entry.title, entry.keys, entry.purpose).words
    return tuple(term for term in query.terms if FIELD_WEIGHT[words.get(term, 0)])


__all__ = ["FIELD_WEIGHT", "Found", "find", "floor_for", "idf", "matched"]
