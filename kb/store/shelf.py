"""One base's notes as they are today: the cache where it can be believed, the files themselves where it cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kb.core.bags import Bag, bag_of
from kb.core.shelves import MAPS, map_of
from kb.core.suggest import grams
from kb.core.values import Base, Entry, Header
from kb.store.entries import CacheDamaged, EntryCache
from kb.store.notes import Bucket, Note, is_settled, read_note
from kb.store.walk import FileStat, Walk, walk_base

if TYPE_CHECKING:
    from kb.core.content import Content

T = TypeVar("T")

LIVE = 1 << 31           # ids of notes that were read from their files begin here


class CurrentFile(NamedTuple):
    """A file in scope today: `number` is what the cache believes its file number in index.db to be, 0 when unknown."""

    path: str
    hash: str
    number: int


class Shelf:
    """One base in one scope. Files are compared with the cache by size and mtime; what differs is read again.

    A cache that proves damaged at any later reading is let go, and every file is read in its stead, under the numbers that
    its entries had, so that an answer which has begun can go on.

    out_of_scope: whether the cache, and so the text index, holds files that this scope does not see or that are gone.
    `previous` is the same base some time ago, whose notes are taken over where their files are unchanged.
    """

    def __init__(self, base: Base, include_private: bool, previous: Shelf | None = None) -> None:
        self.base = base
        self.walk: Walk = walk_base(base, include_private, within=base.within)
        self.map_name = map_of(set(_root_files(base.root)))
        self.cache = EntryCache.open(base.root) if self.walk.files else None
        self.live: dict[int, Note] = {}
        self._believed: list[int] = []  # positions in the manifest, ascending
        before = {} if previous is None else {note.path: note for note in previous.live.values()}
        self._compare(before)
        self.skipped = [*self.walk.told(base.name), *(f"{base.name}/{note.path}: {note.reason}" for note in self.live.values()
                                              if note.bucket is Bucket.UNREADABLE),
                        *(f"{base.name}/{path}: {reason}" for path, reason, _ in self.walk.unnamed)]

    def _compare(self, before: dict[str, Note]) -> None:
        manifest = None if self.cache is None else self.cache.manifest
        position_of = {} if manifest is None else dict(zip(manifest.paths, range(len(manifest.paths)), strict=True))
        met = 0
        for stat in self.walk.files:
            position = position_of.get(stat.path)
            met += position is not None
            if manifest is not None and position is not None and manifest.unchanged(position, stat):
                self._believed.append(position)
                continue
            note = before.get(stat.path)
            if note is None or (note.size, note.mtime_ns) != (stat.size, stat.mtime_ns) or \
                    not is_settled(note.mtime_ns, note.read_ns) or note.bucket is Bucket.UNREADABLE:
                note, _ = read_note(self.base.root, stat, self.map_name)
            if manifest is not None and position is not None and note.hash == manifest.hash_at(position):
                self._believed.append(position)  # touched or racy, and yet the same
            else:
                self.live[LIVE + len(self.live)] = note
        self.out_of_scope = met < len(position_of)

    def _from_cache(self, read: Callable[[EntryCache], T]) -> T | None:
        """What the cache holds; None without one, and when it proves damaged: its files are among the live then."""
        if self.cache is None:
            return None
        try:
            return read(self.cache)
        except CacheDamaged:
            self._leave_cache()
            return None

    def _leave_cache(self) -> None:
        """Read every file that was believed, under the number it had, and forget what was derived with the cache."""
        if self.cache is None:
            return
        manifest = self.cache.manifest
        stats = {stat.path: stat for stat in self.walk.files}
        for position in self._believed:
            note, _ = read_note(self.base.root, stats[manifest.paths[position]], self.map_name)
            self.live[manifest.ids[position]] = note
        self.cache.close()
        self.cache = None
        self._believed = []
        for name in ("path_of_number", "size", "longest_phrase", "_dead", "_bags", "_live_words", "_live_by_path", "_id_of",
                     "_path_of_id", "_entry_paths"):
            self.__dict__.pop(name, None)

    def close(self) -> None:
        if self.cache is not None:
            self.cache.close()

    # -- files -----------------------------------------------------------------------------------------------------

    @property
    def generation(self) -> int | None:
        """The generation of index.db that the cache was written with; None without a cache."""
        return None if self.cache is None else self.cache.manifest.generation

    def current(self) -> Iterator[CurrentFile]:
        """Every readable file in scope, with the hash of its bytes today."""
        if self.cache is not None:
            manifest = self.cache.manifest
            for position in self._believed:
                yield CurrentFile(manifest.paths[position], manifest.hash_at(position), manifest.numbers[position])
        for note in self.live.values():
            if note.bucket is not Bucket.UNREADABLE:
                yield CurrentFile(note.path, note.hash, 0)

    def without_number(self) -> list[str]:
        """Readable files that had no place in index.db when the cache was written, or changed since; sorted."""
        found = [note.path for note in self.live.values() if note.bucket is not Bucket.UNREADABLE]
        if self.cache is not None:
            manifest = self.cache.manifest
            found += [manifest.paths[position] for position in self._believed if not manifest.numbers[position]]
        return sorted(found)

    @cached_property
    def path_of_number(self) -> dict[int, str]:
        """file number in index.db -> path, for the files that are unchanged since the cache was written."""
        if self.cache is None:
            return {}
        manifest = self.cache.manifest
        return {manifest.numbers[position]: manifest.paths[position] for position in self._believed}

    def in_bucket(self, bucket: Bucket) -> list[str]:
        """Paths of the files that fall into a bucket, sorted."""
        found = [note.path for note in self.live.values() if note.bucket is bucket]
        if self.cache is not None:
            manifest = self.cache.manifest
            found += [manifest.paths[position] for position in self._believed if manifest.buckets[position] == bucket]
        if bucket is Bucket.UNREADABLE:
            found += [one.path for one in self.walk.unnamed]
        return sorted(found)

    def stats(self) -> list[FileStat]:
        """Every file of the walk."""
        return self.walk.files

    @cached_property
    def paths(self) -> frozenset[str]:
        """The path of every file of the walk."""
        return frozenset(stat.path for stat in self.walk.files)

    def headers(self) -> dict[str, Header]:
        """The header of every readable file in scope, by path."""
        stored = self._from_cache(lambda cache: cache.all_headers()) or {}
        manifest = None if self.cache is None else self.cache.manifest
        found = {} if manifest is None else {manifest.paths[p]: stored[manifest.paths[p]] for p in self._believed}
        found.update((note.path, note.header) for note in self.live.values() if note.bucket is not Bucket.UNREADABLE)
        return found

    def header(self, path: str) -> Header | None:
        """The header of one file, or None when it is not in scope or cannot be read."""
        note = self._live_by_path.get(path)
        if note is not None:
            return note.header if note.bucket is not Bucket.UNREADABLE else None
        number = self._id_of.get(path)
        if number is None:
            return None
        found = self._from_cache(lambda cache: cache.headers([number]).get(number))
        return found if self.cache is not None else self.header(path)

    # -- entries ---------------------------------------------------------------------------------------------------

    @cached_property
    def size(self) -> int:
        """How many entries there are."""
        count = len(self._bags)
        if self.cache is not None:
            buckets = self.cache.manifest.buckets
            count += sum(1 for position in self._believed if buckets[position] == Bucket.ENTRY)
        return count

    @cached_property
    def longest_phrase(self) -> int:
        own = max((phrase.count(" ") + 1 for bag in self._bags.values() for phrase in bag.phrases), default=0)
        return max(own, 0 if self.cache is None else self.cache.longest_phrase)

    def path_of(self, number: int) -> str:
        """The path of entry `number` of this shelf."""
        note = self.live.get(number)
        return self._path_of_id[number] if note is None else note.path

    def entry(self, path: str) -> Entry | None:
        """The entry at `path`, or None."""
        header = self.header(path)
        if header is None or not header.keys or path not in self._entry_paths:
            return None
        return Entry(self.base.name, path, header.title, header.keys, header.purpose)

    def postings(self, words: Sequence[str]) -> dict[str, tuple[list[int], list[int]]]:
        """word -> (entry numbers, field bits), entries in scope only."""
        found: dict[str, tuple[list[int], list[int]]] = {}
        for word, (numbers, fields) in (self._from_cache(lambda cache: cache.postings(words)) or {}).items():
            found[word] = self._in_scope(numbers, fields)
        if self._bags:
            for word in words:
                for number, bits in self._live_words.get(word, ()):
                    pair = found.setdefault(word, ([], []))
                    pair[0].append(number)
                    pair[1].append(bits)
        return {word: pair for word, pair in found.items() if pair[0]}

    def vocabulary(self, beginning: str) -> list[str]:
        """Words of entries that begin so. Words of entries out of scope may be among them: ask for their postings."""
        found = self._from_cache(lambda cache: cache.vocabulary(beginning)) or []
        return found + [word for word in self._live_words if word.startswith(beginning)]

    def phrases(self, phrases: Sequence[str]) -> dict[str, list[int]]:
        """phrase -> numbers of the entries in scope that declare it."""
        found: dict[str, list[int]] = {}
        for phrase, numbers in (self._from_cache(lambda cache: cache.phrases(phrases)) or {}).items():
            found[phrase] = [number for number in numbers if number not in self._dead]
        if self._bags:
            wanted = set(phrases)
            for number, bag in self._bags.items():
                for phrase in bag.phrases:
                    if phrase in wanted:
                        found.setdefault(phrase, []).append(number)
        return {phrase: numbers for phrase, numbers in found.items() if numbers}

    def key_words_with(self, wanted: Sequence[str]) -> dict[str, list[str]]:
        """gram -> words of keys that hold it. Words of entries out of scope may be among them."""
        found = self._from_cache(lambda cache: cache.key_words_with(wanted)) or {}
        grams_wanted = set(wanted)
        for word in {word for bag in self._bags.values() for word in bag.key_words}:
            for gram in grams_wanted.intersection(grams(word)):
                found.setdefault(gram, []).append(word)
        return found

    def keys_with(self, words: Sequence[str]) -> Iterator[str]:
        """Every key of every entry in scope that has a key word among `words`."""
        for header in self._from_cache(lambda cache: self._cached_headers_with(cache, words)) or ():
            yield from header.keys
        wanted = set(words)
        for number, bag in self._bags.items():
            if wanted & bag.key_words:
                yield from self.live[number].header.keys

    def _cached_headers_with(self, cache: EntryCache, words: Sequence[str]) -> Sequence[Header]:
        numbers = sorted(number for number in cache.entries_with_key_words(words) if number not in self._dead)
        return list(cache.headers(numbers).values())

    def _in_scope(self, numbers: Iterable[int], fields: Iterable[int]) -> tuple[list[int], list[int]]:
        if not self._dead:
            return list(numbers), list(fields)
        kept = [(number, bits) for number, bits in zip(numbers, fields, strict=True) if number not in self._dead]
        return [number for number, _ in kept], [bits for _, bits in kept]

    @cached_property
    def _dead(self) -> frozenset[int]:
        """Ids of the cache that are changed, gone or out of scope."""
        if self.cache is None or len(self._believed) == len(self.cache.manifest.paths):
            return frozenset()
        alive = set(self._believed)
        return frozenset(number for position, number in enumerate(self.cache.manifest.ids) if position not in alive)

    @cached_property
    def _bags(self) -> dict[int, Bag]:
        return {number: bag_of(note.path, note.header.title, note.header.keys, note.header.purpose)
                for number, note in self.live.items() if note.bucket is Bucket.ENTRY}

    @cached_property
    def _live_words(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for number, bag in self._bags.items():
            for word, bits in bag.words.items():
                found.setdefault(word, []).append((number, bits))
        return found

    @cached_property
    def _live_by_path(self) -> dict[str, Note]:
        return {note.path: note for note in self.live.values()}

    @cached_property
    def _id_of(self) -> dict[str, int]:
        if self.cache is None:
            return {}
        manifest = self.cache.manifest
        return {manifest.paths[position]: manifest.ids[position] for position in self._believed}

    @cached_property
    def _path_of_id(self) -> dict[int, str]:
        if self.cache is None:
            return {}
        return dict(zip(self.cache.manifest.ids, self.cache.manifest.paths, strict=True))

    @cached_property
    def _entry_paths(self) -> frozenset[str]:
        return frozenset(self.in_bucket(Bucket.ENTRY))


def unchanged_notes(root: str, stats: Sequence[FileStat]) -> dict[str, tuple[Header, Content]]:
    """path -> (header, content) of the files that are as they were when `kb index` read them; empty without a sound entry cache."""
    cache = EntryCache.open(root)
    if cache is None:
        return {}
    try:
        kept = cache.contents()
    except CacheDamaged:
        return {}
    finally:
        cache.close()
    manifest = cache.manifest
    position_of = dict(zip(manifest.paths, range(len(manifest.paths)), strict=True))
    return {stat.path: kept[stat.path] for stat in stats
            if stat.path in kept and manifest.unchanged(position_of[stat.path], stat)}


def _root_files(root: str) -> list[str]:
    return [name for name in MAPS if os.path.isfile(os.path.join(root, name))] if os.path.isdir(root) else []
