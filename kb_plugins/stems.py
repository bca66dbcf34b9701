"""Stems of the analyser's words, by language: the same for every backend, so that a plural finds its singular."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# Snowball's Portuguese knows these plurals only with their accents, which the analyser has dropped.
_PORTUGUESE_PLURALS = (("oes", "ao"), ("aes", "ao"), ("ais", "al"), ("eis", "el"), ("ois", "ol"), ("uis", "ul"),
                       ("ns", "m"))
LONGEST = 200             # characters of a word that count
MOST_REMEMBERED = 500_000


class Stems(dict[str, str]):
    """word -> stem in one language, filled as words are met: a collection has few distinct words.

    "" and languages without a Snowball stemmer leave words as they are. A word past 200 characters is cut there.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self._stem: Any = None
        if language:
            import Stemmer

            try:
                self._stem = Stemmer.Stemmer(language, 0).stemWord
            except KeyError:
                self._stem = None

    def __missing__(self, word: str) -> str:
        stem = word[:LONGEST]
        if self._stem is not None:
            stem = self._stem(_singular(stem) if self.language == "portuguese" else stem)
        if len(self) > MOST_REMEMBERED:
            self.clear()
        self[word] = stem
        return stem

    def join(self, words: Iterable[str]) -> str:
        """The stems of `words`, in order, joined by blanks."""
        return " ".join(map(self.__getitem__, words))


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
        return tuple(dict.fromkeys(self[language][word] for language in languages))


def _singular(word: str) -> str:
    if len(word) > 4:
        for plural, singular in _PORTUGUESE_PLURALS:
            if word.endswith(plural):
                return word[:-len(plural)] + singular
    return word
