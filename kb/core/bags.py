"""The words of an entry by the field they stand in: what the keyword side matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kb.core.ports import KEY, PHRASE, PURPOSE, STEM, TITLE
from kb.core.values import stem
from kb.core.words import normalise


class Bag(NamedTuple):
    """words: word -> field bits; phrases: normalised phrases; key_words: every word of every key, dead keys included."""

    words: dict[str, int]
    phrases: tuple[str, ...]
    key_words: frozenset[str]


def bag_of(path: str, title: str, keys: Sequence[str], purpose: str) -> Bag:
    """The bag of one entry."""
    words: dict[str, int] = {}
    phrases: dict[str, None] = {}
    key_words: set[str] = set()
    for key in keys:
        parts = normalise(key)
        key_words.update(parts)
        if len(parts) > 1:
            phrases[" ".join(parts)] = None
            for word in parts:
                words[word] = words.get(word, 0) | PHRASE
        elif parts and len(key.split()) == 1:
            words[parts[0]] = words.get(parts[0], 0) | KEY
    for bit, text in ((TITLE, title), (STEM, stem(path)), (PURPOSE, purpose)):
        for word in normalise(text):
            words[word] = words.get(word, 0) | bit
    return Bag(words, tuple(phrases), frozenset(key_words))


def key_phrase(key: str) -> str:
    """A key's normalised words joined by one blank when it is a phrase, else the empty string."""
    parts = normalise(key)
    return " ".join(parts) if len(parts) > 1 else ""
