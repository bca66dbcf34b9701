"""The text side of a question: one set of words, asked of every base's text index, merged on one scale.

The weight of a word is its idf over the whole fleet, ln(1 + (N - df + 0.5) / (df + 0.5)), so that forty small bases rank
as one large one would. What may be served is decided here, file by file, from today's disk, before anything is cut off.
Where an index holds files that the scope does not see, words and chunks are counted over those it does, so that no private
note moves a public ranking by them. What is left of it is the mean length of a chunk, which engines know of a whole index only.
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
from kb.errors import KbError, PluginError, UsageError
from kb.store.index_db import (
    CHUNK_BITS,
    IndexDamaged,
    IndexMissing,
    IndexMoved,
    IndexOutdated,
    IndexOutOfStep,
    IndexReader,
    read_generation,
)

MOST_HITS = 1000
_ATTEMPTS = 3
_DIGITS = 4  # engines score in single precision: what is equal must stay equal


class AllowedFiles(NamedTuple):
    """The files of one base that a question may see: in scope, and unchanged since they were indexed.

    numbers:    file number in index.db -> path, as they stood at `generation` (None: not known).
    hashes:     asked when index.db stands at another generation: path -> content hash today, of every file in scope.
    others:     whether the index held, at `generation`, files that are out of scope or gone.
    """

    generation: int | None
    numbers: Mapping[int, str]
    hashes: Callable[[], Mapping[str, str]]
    others: bool = False


class _Opened(NamedTuple):
    """One base whose index answers.

    in_scope: its chunks that may be counted, None for all of them.
    fault:    what is the matter with the index that would have answered, "" when nothing is.
    """

    base: Base
    engine: TextIndex
    allowed: Mapping[int, str]
    in_scope: int | None
    fault: str = ""


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
        self._ranked_at: dict[str, int] = {}                      # by base: the generation that was last ranked
        self._held: tuple[list[_Opened], list[str]] | None = None  # kept open between questions, with what was skipped
        self._holding = False

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
                self._let_go()
                if attempt == _ATTEMPTS - 1:
                    return TextHits((), (*skipped, str(error)))
                continue
            best = heapq.nsmallest(limit, hits, key=lambda hit: (-hit.score, hit.place, hit.row))
            return TextHits(tuple(best), tuple(skipped))
        raise AssertionError("unreachable")

    def fetch(self, hits: Iterable[ChunkHit], words: Sequence[str]) -> tuple[dict[ChunkHit, Passage], tuple[str, ...]]:
        """hit -> passage, in the order of the hits, each with an excerpt around the first of `words` it holds, and what failed.

        A chunk that is gone since it was ranked is left out; one that is there and cannot be read is told.
        """
        wanted = list(hits)
        found: dict[ChunkHit, Passage] = {}
        skipped: list[str] = []
        for base in self.bases:
            own = [hit for hit in wanted if hit.place.base == base.name]
            if own:
                try:
                    self._fetch(base, own, words, found)
                except KbError as error:
                    skipped.append(f"{base.name}: {error}")
        return {hit: found[hit] for hit in wanted if hit in found}, tuple(skipped)

    def _fetch(self, base: Base, hits: Sequence[ChunkHit], words: Sequence[str], found: dict[ChunkHit, Passage]) -> None:
        """Add the passages of one base to `found`: whatever can be read, and then the first fault, if there was one."""
        fault: KbError | None = None
        with IndexReader(base.root) as reader:
            current = reader.generation == self._ranked_at.get(base.name, reader.generation)
            for hit in hits:
                try:
                    chunk = reader.chunks([hit.row]).get(hit.row)
                except KbError as error:
                    fault = fault or error
                    continue
                if chunk is not None and chunk.path == hit.place.path:
                    found[hit] = Passage(chunk.heading_path, chunk.text, excerpt(chunk.text, words), chunk.provenance,
                                         chunk.stage, chunk.captured_from)
                elif current:
                    fault = fault or IndexDamaged("a chunk that it ranks is not in it")
            if fault is not None and not reader.moved():
                raise fault

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

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the indexes open from one question to the next, as long as none of them is written to."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            self._let_go()

    def _let_go(self) -> None:
        if self._held is not None:
            _close(self._held[0])
        self._held = None

    # -- opening ---------------------------------------------------------------------------------------------------

    def _backend(self, name: str) -> TextBackend:
        found = self._backends.get(name)
        if found is None:
            found = self._backends[name] = self._backend_for(name)
        return found

    @contextmanager
    def _opened(self, skipped: list[str]) -> Iterator[list[_Opened]]:
        found = self._held or self._open_all()
        if self._holding:
            self._held = found
        opened, unopened = found
        skipped += unopened
        try:
            yield opened
        finally:
            if not self._holding:
                _close(opened)

    def _open_all(self) -> tuple[list[_Opened], list[str]]:
        """Every base's index that can be opened, and a sentence about each that cannot."""
        opened: list[_Opened] = []
        skipped: list[str] = []
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
                        skipped += [f"{base.name}: {one.fault}"] if one.fault else []
        except BaseException:
            _close(opened)
            raise
        return opened, skipped

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
                allowed, others = _allowed_numbers(scope, reader)
                in_scope = _chunks_of(reader, allowed) if allowed and others else None
            if not allowed:
                return None
            self._ranked_at[base.name] = generation
            try:
                engine, fault = self._open_index(base, generation)
                return _Opened(base, engine, allowed, in_scope, fault)
            except KbError:
                if attempt == _ATTEMPTS - 1 or read_generation(base.root) in (None, generation):
                    raise
        return None

    def _open_index(self, base: Base, generation: int) -> tuple[TextIndex, str]:
        """The index that answers, and what is the matter with the one that would have answered under `auto`."""
        base = base._replace(language=base.language or self.languages)
        if self.choice != "auto":
            return self._backend(self.choice).open(base, generation), ""
        fault = ""
        with suppress(UsageError, PluginError):  # it is off, or there is none
            faster = self._backend("tantivy")
            try:
                return faster.open(base, generation), ""
            except IndexOutOfStep:
                pass
            except KbError as error:
                fault = str(error)
        return self._backend("fts5").open(base, generation), fault  # it holds the same chunks

    # -- asking ----------------------------------------------------------------------------------------------------

    def _ask_all(self, opened: list[_Opened], words: Sequence[str], limit: int, skipped: list[str]) -> list[ChunkHit]:
        held: list[tuple[_Opened, int, Sequence[int]]] = []
        for one in opened:
            with _named(one.base, skipped):
                held.append((one, *_counts(one, words)))
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


def _close(opened: Sequence[_Opened]) -> None:
    for one in opened:
        one.engine.close()


def _allowed_numbers(scope: AllowedFiles, reader: IndexReader) -> tuple[Mapping[int, str], bool]:
    """File number -> path of what may be served, and whether the index holds files out of scope beside them."""
    if scope.generation == reader.generation:
        return scope.numbers, scope.others
    today = scope.hashes()
    rows = reader.files()
    return ({row.number: path for path, row in rows.items() if today.get(path) == row.hash},
            any(path not in today for path in rows))


def _chunks_of(reader: IndexReader, numbers: Mapping[int, str]) -> int:
    return sum(count for number, count in reader.sizes().items() if number in numbers)


def _counts(one: _Opened, words: Sequence[str]) -> tuple[int, Sequence[int]]:
    """How many chunks there are and, for each word, how many hold it, over what is in scope.

    An engine counts over its whole index. Where that holds more, the rows that each word finds are counted one by one.
    """
    if one.in_scope is None:
        return one.engine.size(), one.engine.frequencies(words)
    allowed, every = one.allowed, one.engine.size()
    return one.in_scope, [
        count and len(one.engine.search({word: 1.0}, every, lambda row: row >> CHUNK_BITS in allowed))
        for word, count in zip(words, one.engine.frequencies(words), strict=True)]


@contextmanager
def _named(base: Base, skipped: list[str]) -> Iterator[None]:
    """A fault of one base's index is told by name; the others go on. One that moved is for the caller to ask again."""
    try:
        yield
    except IndexMoved:
        raise
    except KbError as error:
        skipped.append(f"{base.name}: {error}")
