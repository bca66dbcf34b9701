"""The text side of a question: one set of words, asked of every base's text index, merged on one scale.

The weight of a word is its idf over the whole fleet, ln(1 + (N - df + 0.5) / (df + 0.5)), so that forty small bases rank
as one large one would. What may be served is decided here, file by file, from today's disk, before anything is cut off.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from kb.core.excerpt import excerpt
from kb.core.ports import ChunkHit, TextBackend, TextHits, TextIndex
from kb.core.values import Base, Passage, Place
from kb.errors import KbError
from kb.store.index_db import CHUNK_BITS, IndexMissing, IndexMoved, IndexOutdated, IndexReader, read_generation

MOST_HITS = 1000
_ATTEMPTS = 3
_DIGITS = 4  # engines score in single precision: what is equal must stay equal


class AllowedFiles(NamedTuple):
    """The files of one base that a question may see: in scope, and unchanged since they were indexed.

    numbers:    file number in index.db -> path, as they stood at `generation` (None: not known).
    hashes:     asked when index.db stands at another generation: path -> content hash today, of every file in scope.
    """

    generation: int | None
    numbers: Mapping[int, str]
    hashes: Callable[[], Mapping[str, str]]


class _Opened(NamedTuple):
    """One base whose index answers."""

    base: Base
    engine: TextIndex
    allowed: Mapping[int, str]


class TextSide:
    """Asks the text backend about all bases of a fleet.

    backend_for: the backend of a name; raises UsageError when no plugin provides it.
    choice:      `auto`, or a name. `auto` asks tantivy where it is there and in step with index.db, else fts5.
    allowed:     by base name. A base without files in scope is not asked.
    languages:   `language =` of fleet.txt: for bases that declare none.

    An index that is missing, locked, damaged or out of step becomes a sentence in `skipped` that names the base.
    """

    def __init__(self, bases: Sequence[Base], backend_for: Callable[[str], TextBackend], choice: str,
                 allowed: Mapping[str, AllowedFiles], languages: str | None = None) -> None:
        self.bases = bases
        self.choice = choice
        self.allowed = allowed
        self.languages = languages
        self._backend_for = backend_for
        self._backends: dict[str, TextBackend] = {}

    def search(self, words: Sequence[str], limit: int = MOST_HITS) -> TextHits:
        """The best `limit` (at most 1,000) chunks for the analyser's `words`; ties by score, base, path, row.

        Raises UsageError when no plugin provides the chosen backend.
        """
        if self.choice != "auto":
            self._backend(self.choice)
        unique = list(dict.fromkeys(words))
        limit = min(limit, MOST_HITS)
        for attempt in range(_ATTEMPTS):
            skipped: list[str] = []
            try:
                with self._opened(skipped) as opened:
                    hits = self._ask_all(opened, unique, limit, skipped) if unique else []
            except IndexMoved as error:
                if attempt == _ATTEMPTS - 1:
                    return TextHits((), (*skipped, str(error)))
                continue
            best = heapq.nsmallest(limit, hits, key=lambda hit: (-hit.score, hit.place, hit.row))
            return TextHits(tuple(best), tuple(skipped))
        raise AssertionError("unreachable")

    def fetch(self, hits: Iterable[ChunkHit], words: Sequence[str]) -> list[Passage]:
        """The passages of some hits, in their order, each with an excerpt around the first of `words` it holds.

        A chunk that is gone since it was ranked is left out.
        """
        wanted = list(hits)
        by_base: dict[str, list[int]] = {}
        for hit in wanted:
            by_base.setdefault(hit.place.base, []).append(hit.row)
        found: dict[tuple[str, int], Passage] = {}
        for base in self.bases:
            if base.name not in by_base:
                continue
            try:
                with IndexReader(base.root) as reader:
                    rows = reader.chunks(by_base[base.name])
            except KbError:
                continue
            places = {hit.row: hit.place.path for hit in wanted if hit.place.base == base.name}
            for row, chunk in rows.items():
                if chunk.path == places[row]:
                    found[base.name, row] = Passage(chunk.heading_path, chunk.text, excerpt(chunk.text, words),
                                                    chunk.provenance, chunk.stage, chunk.captured_from)
        return [found[key] for hit in wanted if (key := (hit.place.base, hit.row)) in found]

    def outdated(self) -> bool:
        """Whether the index of some base in scope was written by another version, so that none of its text is served."""
        for base in self.bases:
            if base.name not in self.allowed:
                continue
            try:
                IndexReader(base.root).close()
            except IndexOutdated:
                return True
            except KbError:
                continue
        return False

    # -- opening ---------------------------------------------------------------------------------------------------

    def _backend(self, name: str) -> TextBackend:
        found = self._backends.get(name)
        if found is None:
            found = self._backends[name] = self._backend_for(name)
        return found

    @contextmanager
    def _opened(self, skipped: list[str]) -> Iterator[list[_Opened]]:
        opened: list[_Opened] = []
        try:
            for base in self.bases:
                if base.name not in self.allowed:
                    continue
                try:
                    one = self._open(base, self.allowed[base.name])
                except KbError as error:
                    skipped.append(f"{base.name}: {error}")
                else:
                    if one is not None:
                        opened.append(one)
            yield opened
        finally:
            for one in opened:
                one.engine.close()

    def _open(self, base: Base, scope: AllowedFiles) -> _Opened | None:
        """One base's index, or None when none of its files may be served. A sync in between is tried again."""
        for attempt in range(_ATTEMPTS):
            try:
                reader = IndexReader(base.root)
            except IndexMissing:
                if not scope.hashes():
                    return None
                raise
            with reader:
                generation = reader.generation
                allowed = _allowed_numbers(scope, reader)
            if not allowed:
                return None
            try:
                return _Opened(base, self._open_index(base, generation), allowed)
            except KbError:
                if attempt == _ATTEMPTS - 1 or read_generation(base.root) in (None, generation):
                    raise
        return None

    def _open_index(self, base: Base, generation: int) -> TextIndex:
        base = base._replace(language=base.language or self.languages)
        if self.choice != "auto":
            chosen = self._backend(self.choice)
            try:
                return chosen.open(base, generation)
            except KbError:
                if chosen.generation(base) is None:
                    raise KbError(f"the {chosen.name} index is not built", hint="run kb index") from None
                raise
        with suppress(KbError):  # whatever is the matter with it, the embedded index holds the same chunks
            return self._backend("tantivy").open(base, generation)
        return self._backend("fts5").open(base, generation)

    # -- asking ----------------------------------------------------------------------------------------------------

    def _ask_all(self, opened: list[_Opened], words: Sequence[str], limit: int, skipped: list[str]) -> list[ChunkHit]:
        held: list[tuple[_Opened, int, Sequence[int]]] = []
        for one in opened:
            with _named(one.base, skipped):
                held.append((one, one.engine.size(), one.engine.frequencies(words)))
        size = sum(size for _, size, _ in held)
        weights = {}
        for at, word in enumerate(words):
            holding = min(sum(frequencies[at] for _, _, frequencies in held), size)
            if holding:
                weights[word] = math.log(1 + (size - holding + 0.5) / (holding + 0.5))
        hits: list[ChunkHit] = []
        for one, _, frequencies in held:
            own = {word: weights[word] for word, count in zip(words, frequencies, strict=True) if count}
            if own:
                with _named(one.base, skipped):
                    hits += self._ask(one, own, limit)
        return hits

    def _ask(self, one: _Opened, weights: Mapping[str, float], limit: int) -> list[ChunkHit]:
        allowed = one.allowed
        found = one.engine.search(weights, limit, lambda row: row >> CHUNK_BITS in allowed)
        return [ChunkHit(Place(one.base.name, allowed[row >> CHUNK_BITS]), row, round(score, _DIGITS))
                for row, score in found]


def _allowed_numbers(scope: AllowedFiles, reader: IndexReader) -> Mapping[int, str]:
    if scope.generation == reader.generation:
        return scope.numbers
    today = scope.hashes()
    return {row.number: path for path, row in reader.files().items() if today.get(path) == row.hash}


@contextmanager
def _named(base: Base, skipped: list[str]) -> Iterator[None]:
    """A fault of one base's index is told by name; the others go on. One that moved is for the caller to ask again."""
    try:
        yield
    except IndexMoved:
        raise
    except KbError as error:
        skipped.append(f"{base.name}: {error}")
