"""Which words of the library are inflections of a question's words: a plural must find its singular."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kb.api import Library, declared_languages, is_unspaced
from kb_plugins.stems import StemmerSet

_LATIN = ("english", "portuguese")
_SCRIPTS = (("\u0370", "\u03ff", "greek"), ("\u0400", "\u04ff", "russian"), ("\u0600", "\u06ff", "arabic"))
_SHORTEST = 3  # characters of a word, and of what its inflections must begin with


def inflections(library: Library, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """word -> other words of the library with the same Snowball stem, sorted. Without PyStemmer, none."""
    stemmers = StemmerSet()
    languages = _languages(library)
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        if len(word) < _SHORTEST or word.isdigit() or is_unspaced(word):
            continue
        stems = {language: stemmers[language][word] for language in _for_script(word, languages)}
        shared = min((_shared(word, stem) for stem in stems.values()), default=len(word))
        beginning = word[:max(_SHORTEST, min(shared, len(word)) - 1)]
        alike = (other for other in library.vocabulary(beginning) if other != word
                 and any(stemmers[language][other] == stem for language, stem in stems.items()))
        found[word] = tuple(sorted(alike))
    return found


def _languages(library: Library) -> tuple[str, ...]:
    """What the fleet's bases declare, else English and Portuguese, the two languages of the labels."""
    declared = [name for base in library.fleet.bases for name in declared_languages(base.language)]
    declared += declared_languages(library.fleet.manifest.last("language"))
    return tuple(dict.fromkeys(declared)) or _LATIN


def _for_script(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """The declared languages, and the one stemmer there is for a script other than Latin."""
    for first, last, language in _SCRIPTS:
        if first <= word[0] <= last:
            return (language,)
    return languages


def _shared(one: str, two: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
