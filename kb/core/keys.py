"""Which keys a question can reach."""

from __future__ import annotations

from collections.abc import Sequence

from kb.core.words import STOP_WORDS, normalise


def is_live(key: str) -> bool:
    """Whether some question finds this key: it is one word as written that normalises to one, or a phrase of two or more."""
    if key.isascii() and key.replace(" ", "").isalnum():  # most keys are plain: no need for the whole analyser
        live = sum(len(word) > 1 and word not in STOP_WORDS for word in key.lower().split())
        return live > 1 or (live == 1 and " " not in key.strip())
    words = len(normalise(key))
    return words > 1 or (words == 1 and len(key.split()) == 1)


def dead_keys(keys: Sequence[str]) -> list[str]:
    """The keys that no question reaches, in their order: stop words, and several words of which stop words leave one."""
    together = f" {' '.join(keys)} "
    if together.isascii() and together.replace(" ", "").isalnum() and "  " not in together:
        words = together.lower().split()
        if STOP_WORDS.isdisjoint(words) and min(map(len, words)) > 1:
            return []  # every word counts, so every key is live
    return [key for key in keys if not is_live(key)]
