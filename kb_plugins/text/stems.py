"""Stems of the analyser's words, by language: the same for every backend, so that a plural finds its singular."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# Snowball's Portuguese knows these plurals only with their accents, which the analyser has dropped.
_PORTUGUESE_PLURALS = (("oes", "ao"), ("aes", "ao"), ("ais", "al"), ("eis", "el"), ("ois", "ol"), ("uis", "ul"),
                       ("ns", "m"))


class Stems:
    """The stemmer of one language, with a memory: a collection has few distinct words. "" leaves words as they are."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._known: dict[str, str] = {}
        self._stem: Any = None
        if language:
            import Stemmer

            try:
                self._stem = Stemmer.Stemmer(language, 0).stemWord
            except KeyError:
                self._stem = None

    def of(self, word: str) -> str:
        """The stem of one word of the analyser."""
        found = self._known.get(word)
        if found is None:
            found = word
            if self._stem is not None:
                found = self._stem(_singular(word) if self.language == "portuguese" else word)
            if len(self._known) > 500_000:
                self._known.clear()
            self._known[word] = found
        return found

    def join(self, words: Iterable[str]) -> str:
        """The stems of `words`, in order, joined by blanks."""
        known, of = self._known, self.of
        return " ".join([known.get(word) or of(word) for word in words])


class StemmerSet:
    """One `Stems` for each language, made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Stems] = {}

    def __getitem__(self, language: str) -> Stems:
        found = self._made.get(language)
        if found is None:
            found = self._made[language] = Stems(language)
        return found

    def every(self, word: str, languages: Sequence[str]) -> tuple[str, ...]:
        """The distinct stems of a word in `languages`, in order."""
        return tuple(dict.fromkeys(self[language].of(word) for language in languages))


def _singular(word: str) -> str:
    if len(word) > 4:
        for plural, singular in _PORTUGUESE_PLURALS:
            if word.endswith(plural):
                return word[:-len(plural)] + singular
    return word
