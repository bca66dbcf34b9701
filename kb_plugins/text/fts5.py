"""SQLite FTS5: the text backend that is always there. It reads the chunks table of index.db and keeps nothing else.

FTS5's own bm25() weighs a word by how rare it is in one base. Here each word is asked for alone, its own weight is
divided out again, and the fleet-wide weight takes its place, so that the scores of several bases compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from kb.api import (
    Base,
    Changes,
    IndexMoved,
    IndexReader,
    KbError,
    analyse,
    declared_languages,
    fold,
    index_faults,
    is_unspaced,
    read_generation,
    spread,
)
from kb_plugins.stems import StemmerSet

HEADING_WEIGHT, TEXT_WEIGHT = 2.0, 1.0
PRUNE_FROM = 10_000       # chunks; below it every word is asked for
_CEILING = 2.2            # k1 + 1: what bm25's term frequency saturates at
_LEAST_IDF = 1e-6         # what FTS5 uses in place of an idf that is not positive
_LAST = "\U0010ffff"

# Words that tell which languages a base holds: present when one chunk in fifty has one of them.
_TELLING = {"the": "english", "and": "english", "nao": "portuguese", "uma": "portuguese", "los": "spanish", "una": "spanish",
            "les": "french", "dans": "french", "und": "german", "der": "german", "della": "italian", "sono": "italian",
            "\u0447\u0442\u043e": "russian", "\u043d\u0435": "russian"}
# Letters that the analyser takes apart and unicode61 leaves whole, by what they become inside a word.
_LIGATURES = {"ff": "\ufb00\ufb03\ufb04", "fi": "\ufb01", "fl": "\ufb02", "st": "\ufb05\ufb06", "ss": "\u00df"}
# Blocks of characters that stand for others: a term that begins with one is looked up by what it folds to.
_COMPATIBLE = (("\u00aa", "\u00bf"), ("\u2070", "\u24ff"), ("\u3200", "\u33ff"),
               ("\ufb00", "\ufb06"), ("\uff01", "\uffee"), ("\U0001d400", "\U0001d7ff"))
_ACCENTED = (("\u0370", "\u03ff"), ("\u0400", "\u052f"), ("\u1f00", "\u1fff"))  # Greek and Cyrillic, accents kept
_MOST_BEGINNINGS = 40


class Fts5:
    """The driver `fts5`."""

    name = "fts5"

    def apply(self, base: Base, generation: int, changes: Changes, *, fresh: bool) -> None:
        """Nothing to do: the chunks table is the index."""

    def open(self, base: Base, generation: int) -> Fts5Index:
        reader = IndexReader(base.root)
        if reader.generation != generation:
            reader.close()
            raise IndexMoved
        return Fts5Index(reader, declared_languages(base.language))

    def generation(self, base: Base) -> int | None:
        return read_generation(base.root)


class Fts5Index:
    """The chunks table of one base, at one generation."""

    def __init__(self, reader: IndexReader, languages: Sequence[str] = ()) -> None:
        self._reader = reader
        self._connection = reader.connection
        self._size = reader.size()
        self._stems = StemmerSet()
        self._matches: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, int] = {}
        with index_faults():
            self._connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, chunks, row)")
            self._languages = tuple(languages) or self._present_languages()
            self._odd = self._odd_terms()

    def size(self) -> int:
        return self._size

    def frequencies(self, words: Sequence[str]) -> Sequence[int]:
        with self._steadily():
            return [self._frequency(word) for word in words]

    def search(self, weights: Mapping[str, float], limit: int,
               allowed: Callable[[int], bool]) -> list[tuple[int, float]]:
        scores: dict[int, float] = {}
        with self._steadily():
            for word in self._worth_asking(weights):
                self._add(word, weights[word], scores)
        ranked = sorted((-score, row) for row, score in scores.items())
        best: list[tuple[int, float]] = []
        for negative, row in ranked:
            if allowed(row):
                best.append((row, -negative))
                if len(best) == limit:
                    break
        return best

    def close(self) -> None:
        self._reader.close()

    @contextmanager
    def _steadily(self) -> Iterator[None]:
        """Ask SQLite; an index that was written to meanwhile is said to have moved, whatever came of it."""
        try:
            with index_faults():
                yield
        except KbError:
            if self._reader.moved():
                raise IndexMoved from None
            raise
        if self._reader.moved():
            raise IndexMoved

    # -- scoring ---------------------------------------------------------------------------------------------------

    def _worth_asking(self, weights: Mapping[str, float]) -> list[str]:
        """The words in a steady order; in a large base without those that a quarter of it holds, unless all are."""
        words = sorted(word for word in weights if self._frequency(word))
        if self._size <= PRUNE_FROM:
            return words
        return [word for word in words if self._frequency(word) <= self._size // 4] or words

    def _add(self, word: str, weight: float, scores: dict[int, float]) -> None:
        matches = self._matches_of(word)
        if len(matches) == 1:
            for row, part in self._saturated(matches[0]):
                scores[row] = scores.get(row, 0.0) + weight * part
            return
        # Several spellings: a share p of the ceiling is tf / (tf + K), so tf / K is p / (1 - p), and those add up.
        together: dict[int, float] = {}
        for match in matches:
            for row, part in self._saturated(match):
                share = min(part / _CEILING, 0.999999)
                together[row] = together.get(row, 0.0) + share / (1.0 - share)
        for row, odds in together.items():
            scores[row] = scores.get(row, 0.0) + weight * _CEILING * odds / (1.0 + odds)

    def _saturated(self, match: str) -> Iterator[tuple[int, float]]:
        """(row, saturated term frequency, 0 to 2.2) of every chunk that matches: bm25 with its own idf taken out."""
        holding = self._count(match)
        if not holding:
            return
        idf = max(math.log((self._size - holding + 0.5) / (holding + 0.5)), 0.0) or _LEAST_IDF
        rows = self._connection.execute(
            f"SELECT rowid, bm25(chunks, 0.0, 0.0, {HEADING_WEIGHT}, {TEXT_WEIGHT}) FROM chunks WHERE chunks MATCH ?",
            (match,))
        for row, score in rows:
            yield row, -score / idf

    # -- from a word to what stands in the index -------------------------------------------------------------------

    def _frequency(self, word: str) -> int:
        found = self._found.get(word)
        if found is None:
            matches = self._matches_of(word)
            found = self._count(matches[0]) if len(matches) == 1 else self._count(" OR ".join(matches))
            self._found[word] = found
        return found

    def _count(self, match: str) -> int:
        found = self._found.get(match)
        if found is None:
            term = match[1:-1]
            if match.startswith('"') and '"' not in term and term.isascii() and term.isalnum():
                row = self._connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
                found = row[0] if row else 0
            else:
                row = self._connection.execute("SELECT count(*) FROM chunks WHERE chunks MATCH ?", (match,)).fetchone()
                found = row[0]
            self._found[match] = found
        return found

    def _matches_of(self, word: str) -> tuple[str, ...]:
        """Quoted FTS5 strings, one for each spelling that the index holds; the word itself comes first."""
        known = self._matches.get(word)
        if known is None:
            spellings = dict.fromkeys([word])
            if not is_unspaced(word):
                spellings.update(dict.fromkeys(self._spellings(word)))
            spellings.update(dict.fromkeys(self._odd.get(word, ())))
            known = tuple(_quoted(spelling) for spelling in spellings)
            if len(known) > 1:
                known = tuple(match for match in known if self._count(match)) or known[:1]
            self._matches[word] = known
        return known

    def _spellings(self, word: str) -> Iterator[str]:
        """Terms of the index that analyser and stemmer take for `word`, by a scan of those that begin like it."""
        stems = {language: self._stems[language][word] for language in self._languages}
        for first in _beginnings(word, set(stems.values()) or {word}):
            terms = self._connection.execute(
                "SELECT term FROM vocabulary WHERE term >= ? AND term < ?", (first, first + _LAST))
            for (term,) in terms:
                words = [term] if term.isascii() else analyse(term)
                if term != word and len(words) == 1 and (words[0] == word or any(
                        self._stems[language][words[0]] == stem for language, stem in stems.items())):
                    yield term

    def _present_languages(self) -> tuple[str, ...]:
        least = max(1, self._size // 50)
        held = self._connection.execute(
            f"SELECT term FROM vocabulary WHERE doc >= ? AND term IN ({','.join('?' * len(_TELLING))})", (least, *_TELLING))
        return tuple(dict.fromkeys(_TELLING[term] for (term,) in held)) or ("english",)

    def _odd_terms(self) -> dict[str, list[str]]:
        """Terms that begin with a compatibility character, by the word that the analyser makes of them."""
        odd: dict[str, list[str]] = {}
        for first, last in _COMPATIBLE:
            for (term,) in self._connection.execute(
                    "SELECT term FROM vocabulary WHERE term >= ? AND term < ?", (first, last + _LAST)):
                for word in analyse(term):
                    odd.setdefault(word, []).append(term)
        return odd


def _beginnings(word: str, stems: set[str]) -> list[str]:
    """What a term may begin with to be a spelling of `word`, without one being the beginning of another."""
    shared = min(_shared(word, stem) for stem in stems)
    length = max(2, min(shared, len(word)) - (1 if shared > 3 else 0))
    if not word.isascii() and any(low <= word[0] <= high for low, high in _ACCENTED):
        return _accented_beginnings(word[:length])
    found = [word[:length]]
    for at in range(1, length):  # a ligature may stand astride the end of the beginning
        found += [word[:at] + letter for letter in _LIGATURES.get(word[at:at + 2], "")]
    return found


def _accented_beginnings(first: str) -> list[str]:
    """The ways to write the first letters of `first` with and without accents, as many letters as stay few ways."""
    found = [""]
    for letter in first:
        letters = _accented(letter)
        if found != [""] and len(found) * len(letters) > _MOST_BEGINNINGS:
            break
        found = [beginning + one for beginning in found for one in letters]
    return found


@cache
def _accented(letter: str) -> list[str]:
    """The letters of its alphabet that fold to `letter`, itself included."""
    return [letter, *(c for low, high in _ACCENTED for c in map(chr, range(ord(low), ord(high) + 1))
                      if c == c.lower() and c != letter and fold(c) == letter)]


def _shared(one: str, two: str) -> int:
    length = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        length += 1
    return length


def _quoted(term: str) -> str:
    """`term` as one FTS5 string: never syntax, and a phrase of characters where the script has no blanks."""
    return '"' + spread(term).replace('"', '""').replace("\0", "") + '"'


