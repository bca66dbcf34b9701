"""The notes of an opened fleet in one scope: the library that scorers rank, and what verbs ask about files."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kb.core.ports import Postings, TextBackend, TextHits
from kb.core.query import Alias, Query, parse_aliases, prepare
from kb.core.suggest import best_keys, grams, lookalikes
from kb.core.values import Base, Entry, Fleet, Header, Passage, Place
from kb.errors import KbError
from kb.store.declared import CARD
from kb.store.files import read_text
from kb.store.notes import Bucket
from kb.store.shelf import Shelf

if TYPE_CHECKING:
    from kb.core.ports import ChunkHit
    from kb.store.textside import TextSide

T = TypeVar("T")

_BASE_SHIFT = 32


class Catalogue:
    """An opened fleet's notes as they are today. Implements `kb.core.ports.Library`."""

    def __init__(self, fleet: Fleet, include_private: bool, backend_for: Callable[[str], TextBackend], text_choice: str,
                 previous: Catalogue | None = None) -> None:
        self.fleet = fleet
        self.include_private = include_private
        self._backend_for = backend_for
        self._text_choice = text_choice
        before: dict[str, Shelf] = {} if previous is None else {shelf.base.root: shelf for shelf in previous.shelves}
        self.shelves: list[Shelf] = [Shelf(base, include_private, before.get(base.root)) for base in fleet.bases]
        self._by_name = {shelf.base.name: shelf for shelf in self.shelves}
        self.skipped: list[str] = [line for shelf in self.shelves for line in shelf.skipped]
        self.aliases: list[Alias] = [alias for base in fleet.bases for alias in self._aliases_of(base)]
        self._text: TextSide | None = None
        self._faults: dict[str, None] = {}
        self._steady: dict[str, Any] | None = None  # what is asked once while the catalogue is `held`

    def with_alias(self, base: str, alias: str, canonical: str) -> Catalogue:
        """The same notes with one more alias, held in memory only: what an alias would do before it is written."""
        other = copy.copy(self)
        other.aliases = [*self.aliases, Alias(base, alias, canonical)]
        return other

    def refreshed(self, fleet: Fleet) -> Catalogue:
        """The catalogue as the disk has it now; notes whose files are unchanged are not read again."""
        fresh = Catalogue(fleet, self.include_private, self._backend_for, self._text_choice, previous=self)
        self.close()
        return fresh

    def close(self) -> None:
        for shelf in self.shelves:
            shelf.close()

    # -- the library that scorers rank -----------------------------------------------------------------------------

    def query(self, question: str) -> Query:
        """The question made ready, with the aliases of every opened base."""
        return prepare(question, self.aliases)

    def size(self) -> int:
        return sum(shelf.size for shelf in self.shelves)

    def postings(self, words: Iterable[str]) -> Mapping[str, Postings]:
        wanted = list(dict.fromkeys(words))
        found: dict[str, Postings] = {}
        for offset, shelf in self._numbered():
            for word, (numbers, fields) in shelf.postings(wanted).items():
                entries = [offset + number for number in numbers] if offset else numbers
                if word in found:
                    found[word] = Postings([*found[word].entries, *entries], [*found[word].fields, *fields])
                else:
                    found[word] = Postings(entries, fields)
        return found

    def vocabulary(self, beginning: str) -> set[str]:
        return {word for shelf in self.shelves for word in shelf.vocabulary(beginning)}

    def phrases(self, candidates: Iterable[str]) -> Mapping[str, Sequence[int]]:
        wanted = list(dict.fromkeys(candidates))
        found: dict[str, list[int]] = {}
        for offset, shelf in self._numbered() if wanted else ():
            for phrase, numbers in shelf.phrases(wanted).items():
                found.setdefault(phrase, []).extend(offset + number for number in numbers)
        return found

    def longest_phrase(self) -> int:
        return max((shelf.longest_phrase for shelf in self.shelves), default=0)

    def place(self, number: int) -> Place:
        shelf = self.shelves[number >> _BASE_SHIFT]
        return Place(shelf.base.name, shelf.path_of(number & ((1 << _BASE_SHIFT) - 1)))

    def entry(self, place: Place) -> Entry | None:
        shelf = self._by_name.get(place.base)
        return None if shelf is None else shelf.entry(place.path)

    def entries(self) -> Iterator[Entry]:
        for shelf in self.shelves:
            headers = shelf.headers()
            for path in shelf.in_bucket(Bucket.ENTRY):
                header = headers[path]
                yield Entry(shelf.base.name, path, header.title, header.keys, header.purpose)

    def text(self, query: Query) -> TextHits:
        return self._side.search(query.terms)

    def passages(self, query: Query, hits: Sequence[ChunkHit]) -> tuple[Passage, ...]:
        return tuple(self.passages_of(query, hits).values())

    def passages_of(self, query: Query, hits: Sequence[ChunkHit]) -> Mapping[ChunkHit, Passage]:
        """The text behind each of some ranked chunks, in their order; what failed is kept for `take_faults`."""
        found, faults = self._side.fetch(hits, query.terms)
        self._faults.update(dict.fromkeys(faults))
        return found

    def take_faults(self) -> tuple[str, ...]:
        """What could not be read of the passages that were asked for since the last call."""
        faults = tuple(self._faults)
        self._faults.clear()
        return faults

    # -- what verbs ask --------------------------------------------------------------------------------------------

    @property
    def index_was_rebuilt(self) -> bool:
        """Whether some index is from before the private column, so that none of its text is served."""
        return self._once("outdated", self._side.outdated)

    def unindexed(self) -> list[Place]:
        """Files in scope that the text index has no current chunks for: never indexed, or changed since."""
        return self._once("unindexed", lambda: [Place(shelf.base.name, path) for shelf in self.shelves
                                                for path in _unindexed(shelf)])

    def unreachable(self) -> list[Place]:
        """Files no question can reach: no key line, and none by design."""
        return self._once("unreachable", lambda: [Place(shelf.base.name, path) for shelf in self.shelves
                                                  for path in shelf.in_bucket(Bucket.UNREACHABLE)])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the text indexes open, and what holds for every question, from one question to the next."""
        self._steady = {}
        try:
            with self._side.held():
                yield
        finally:
            self._steady = None

    def _once(self, name: str, find: Callable[[], T]) -> T:
        if self._steady is None:
            return find()
        if name not in self._steady:
            self._steady[name] = find()
        found: T = self._steady[name]
        return found

    def private_places(self) -> frozenset[Place]:
        """The files in scope that are private, by whatever base keeps them so."""
        return frozenset(Place(shelf.base.name, stat.path) for shelf in self.shelves for stat in shelf.stats() if stat.private)

    def header(self, place: Place) -> Header | None:
        """The header of any file in scope, keyed or not."""
        shelf = self._by_name.get(place.base)
        return None if shelf is None else shelf.header(place.path)

    def has(self, place: Place) -> bool:
        """Whether a file is in scope."""
        shelf = self._by_name.get(place.base)
        return shelf is not None and place.path in shelf.paths

    def text_of(self, place: Place) -> str | None:
        """The whole text of a file in scope, as it is on disk now; None when it is not in scope or cannot be read."""
        shelf = self._by_name.get(place.base)
        if shelf is None or not self.has(place):
            return None
        try:
            return read_text(os.path.join(shelf.base.root, place.path))
        except (OSError, UnicodeDecodeError):
            return None

    def suggestions(self, words: Sequence[str]) -> tuple[str, ...]:
        """Keys in scope that look like one of `words`, best first, at most eight."""
        wanted = sorted({gram for word in words for gram in grams(word)})
        if not wanted:
            return ()
        spelled: list[str] = []
        position: dict[str, int] = {}
        vocabulary: dict[str, set[int]] = {}
        for shelf in self.shelves:
            for gram, known in shelf.key_words_with(wanted).items():
                for word in known:
                    if word not in position:
                        position[word] = len(spelled)
                        spelled.append(word)
                    vocabulary.setdefault(gram, set()).add(position[word])
        alike = lookalikes(words, {gram: sorted(numbers) for gram, numbers in vocabulary.items()}, spelled)
        if not alike:
            return ()
        return best_keys((key for shelf in self.shelves for key in shelf.keys_with(list(alike))), alike)

    def inner_cards(self) -> Iterator[str]:
        """Where the cards of the bases that lie in the opened ones stand, or would stand."""
        return (os.path.join(shelf.base.root, folder, CARD) for shelf in self.shelves for folder in shelf.walk.inner)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _numbered(self) -> Iterator[tuple[int, Shelf]]:
        return ((index << _BASE_SHIFT, shelf) for index, shelf in enumerate(self.shelves))

    def _aliases_of(self, base: Base) -> list[Alias]:
        if base.privacy.whole and not self.include_private:
            return []
        try:
            return parse_aliases(read_text(os.path.join(base.root, "kb-aliases.txt")), base.name)
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError):
            self.skipped.append(f"{base.name}/kb-aliases.txt cannot be read")
            return []

    @property
    def _side(self) -> TextSide:
        if self._text is None:
            from kb.store.textside import AllowedFiles, TextSide

            allowed = {shelf.base.name: AllowedFiles(shelf.generation, shelf.path_of_number, partial(_hashes, shelf),
                                                     shelf.out_of_scope)
                       for shelf in self.shelves if shelf.stats()}
            self._text = TextSide(self.fleet.bases, self._backend_for, self._text_choice, allowed,
                                  self.fleet.manifest.last("language"))
        return self._text


def _hashes(shelf: Shelf) -> dict[str, str]:
    return {file.path: file.hash for file in shelf.current() if file.path != shelf.map_name}


def _unindexed(shelf: Shelf) -> list[str]:
    """Paths of a shelf without current chunks in index.db, sorted. The map is never indexed, and is not missing there."""
    if not shelf.stats():
        return []
    from kb.store.index_db import IndexReader, read_generation

    generation = read_generation(shelf.base.root)
    if generation is not None and generation == shelf.generation:
        return [path for path in shelf.without_number() if path != shelf.map_name]
    try:
        with IndexReader(shelf.base.root) as reader:
            stored = reader.files()
    except KbError:
        stored = {}
    return sorted(file.path for file in shelf.current()
                  if file.path != shelf.map_name and (file.path not in stored or stored[file.path].hash != file.hash))
