"""The entry cache of one base, `.kb/entries.db`: what a question needs, read only for the question's words.

Derived and disposable. It is believed file by file while size and mtime are what they were (`Catalogue` decides that),
and rewritten by `kb index` alone: every other verb, and a server, only reads it. Numbers are kept in blobs of machine
integers: one row a word, so that a question of twelve words reads a dozen rows however large the base is.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from kb.core.values import Header
from kb.store.notes import Bucket, is_settled
from kb.store.walk import FileStat

if TYPE_CHECKING:
    from kb.core.content import Content

FORMAT = 6
BYTE_ORDER = sys.byteorder
FIELD_BITS = 5
_SUM_BYTES = 4
_SUM_DIGITS = 8


class CacheDamaged(Exception):
    """The entry cache does not hold what was written to it. It is left alone, and the files are read instead."""


@contextmanager
def undamaged() -> Iterator[None]:
    """Turn whatever reading damaged rows raises into CacheDamaged."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise CacheDamaged(str(error)) from None


class Cached(NamedTuple):
    """What the cache believes of one file. `number` is its file number in index.db, 0 when it has none there."""

    id: int
    size: int
    mtime_ns: int
    read_ns: int
    hash: str
    number: int
    bucket: Bucket


@dataclass(slots=True)
class CacheManifest:
    """Every file of the cache in parallel columns, sorted by path; `generation` is that of index.db at writing."""

    generation: int
    paths: list[str]
    ids: array[int]
    sizes: array[int]
    mtimes: array[int]
    reads: array[int]
    numbers: array[int]
    buckets: bytes
    hashes: bytes

    def at(self, position: int) -> Cached:
        return Cached(self.ids[position], self.sizes[position], self.mtimes[position], self.reads[position],
                      self.hash_at(position), self.numbers[position], Bucket(self.buckets[position]))

    def hash_at(self, position: int) -> str:
        return self.hashes[16 * position:16 * position + 16].hex()

    def unchanged(self, position: int, stat: FileStat) -> bool:
        """Whether a file has the size and mtime it had when it was read, and was not written too shortly before that."""
        return (self.sizes[position] == stat.size and self.mtimes[position] == stat.mtime_ns
                and is_settled(stat.mtime_ns, self.reads[position]))


def cache_path(root: str) -> str:
    """Where the entry cache of the base at `root` is."""
    return os.path.join(root, ".kb", "entries.db")


class EntryCache:
    """The cache opened for reading. `open` gives None where there is none, or none that can be believed."""

    def __init__(self, db: sqlite3.Connection, manifest: CacheManifest, longest_phrase: int) -> None:
        self._db = db
        self.manifest = manifest
        self.longest_phrase = longest_phrase

    @classmethod
    def open(cls, root: str) -> EntryCache | None:
        """Open read-only; nothing is created. A missing, torn, foreign or older cache is None: it costs time, not truth."""
        path = cache_path(root)
        if not os.path.isfile(path):
            return None
        db = None
        try:
            with undamaged():
                db = _connect_read_only(path)
                meta = dict(db.execute("SELECT key, value FROM meta"))
                if meta.get("format") == FORMAT and meta.get("byte order") == BYTE_ORDER:
                    parts = dict(db.execute("SELECT part, data FROM manifest"))
                    generation, longest, total = meta["generation"], meta["longest phrase"], meta["sum"]
                    if total != manifest_sum(generation, longest, parts):
                        raise ValueError("the manifest is not what was written")
                    return cls(db, _load_manifest(generation, parts), longest)
        except CacheDamaged:
            pass
        if db is not None:
            db.close()
        return None

    def close(self) -> None:
        self._db.close()

    def postings(self, words: Sequence[str]) -> dict[str, tuple[array[int], array[int]]]:
        """word -> (ids, field bits) for the words that some entry holds."""
        found = {}
        mask = (1 << FIELD_BITS) - 1
        with undamaged():
            for word, blob in self._rows("SELECT word, postings FROM words WHERE word IN", words):
                packed = unpack(word, blob)
                found[word] = (array("I", [item >> FIELD_BITS for item in packed]), array("B", [item & mask for item in packed]))
        return found

    def vocabulary(self, beginning: str) -> list[str]:
        """The words of entries that begin so."""
        with undamaged():
            rows = self._db.execute("SELECT word FROM words WHERE word >= ? AND word < ?", (beginning, beginning + "\U0010ffff"))
            return [word for (word,) in rows]

    def phrases(self, phrases: Sequence[str]) -> dict[str, array[int]]:
        """phrase -> ids of the entries that declare it."""
        with undamaged():
            return {phrase: unpack(phrase, blob)
                    for phrase, blob in self._rows("SELECT phrase, entries FROM phrases WHERE phrase IN", phrases)}

    def key_words_with(self, wanted: Sequence[str]) -> dict[str, list[str]]:
        """gram -> key words that hold it, for the grams asked for."""
        with undamaged():
            rows = {gram: unpack(gram, blob) for gram, blob in self._rows("SELECT gram, words FROM grams WHERE gram IN", wanted)}
            numbers = sorted({number for numbers in rows.values() for number in numbers})
            spelled = dict(self._rows("SELECT id, word FROM keywords WHERE id IN", numbers))
            return {gram: [spelled[number] for number in numbers if number in spelled] for gram, numbers in rows.items()}

    def entries_with_key_words(self, words: Sequence[str]) -> set[int]:
        """The entries one of whose keys holds one of `words`."""
        found: set[int] = set()
        with undamaged():
            for word, blob in self._rows("SELECT word, entries FROM keywords WHERE word IN", words):
                found.update(unpack(word, blob))
        return found

    def headers(self, ids: Sequence[int]) -> dict[int, Header]:
        """The headers of some files, by id."""
        with undamaged():
            found = {number: decode_header(text) for number, text in self._rows("SELECT id, header FROM notes WHERE id IN", ids)}
            if not found.keys() >= set(ids):
                raise ValueError("a file of the manifest has no row")
            return found

    def all_headers(self) -> dict[str, Header]:
        """Every file's header, by path."""
        with undamaged():
            found = {path: decode_header(text) for path, text in self._db.execute("SELECT path, header FROM notes")}
            self._hold_every_file(found)
            return found

    def contents(self) -> dict[str, tuple[Header, Content]]:
        """Every file's header and content, by path; a file whose content was not looked at is left out."""
        from kb.core.content import decode_content

        with undamaged():
            rows = self._db.execute("SELECT path, header, content FROM notes").fetchall()
            self._hold_every_file(path for path, _, _ in rows)
            rows = [(path, unsealed(header), unsealed(content)) for path, header, content in rows if content is not None]
            headers = json.loads(f"[{','.join(header for _, header, _ in rows)}]")  # at once: a third of the time of one by one
            return {path: (Header(title, tuple(keys), purpose, front), decode_content(content))
                    for (path, _, content), (title, keys, purpose, front) in zip(rows, headers, strict=True)}

    def _hold_every_file(self, paths: Iterable[str]) -> None:
        if not set(self.manifest.paths) <= set(paths):
            raise ValueError("a file of the manifest has no row")

    def _rows(self, query: str, values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        for start in range(0, len(values), 500):
            part = values[start:start + 500]
            yield from self._db.execute(f"{query} ({','.join('?' * len(part))})", part).fetchall()


def manifest_sum(generation: int, longest_phrase: int, parts: Mapping[str, bytes]) -> int:
    """The checksum of what is read on opening: the generation, the longest phrase, and every part of the manifest."""
    total = crc32(f"{generation} {longest_phrase}".encode())
    for name in sorted(parts):
        total = crc32(parts[name], crc32(name.encode(), total))
    return total


def _load_manifest(generation: int, parts: Mapping[str, bytes]) -> CacheManifest:
    columns = {name: array(kind) for name, kind in
               (("ids", "I"), ("sizes", "Q"), ("mtimes", "q"), ("reads", "q"), ("numbers", "I"))}
    for name, column in columns.items():
        column.frombytes(parts[name])
    paths = parts["paths"].decode().split("\0") if parts["paths"] else []
    manifest = CacheManifest(generation, paths, columns["ids"], columns["sizes"], columns["mtimes"], columns["reads"],
                             columns["numbers"], parts["buckets"], parts["hashes"])
    if not all(len(column) == len(paths) for column in (*columns.values(), manifest.buckets)) or \
            len(manifest.hashes) != 16 * len(paths):
        raise ValueError("the columns of the cache have different lengths")
    return manifest


def _connect_read_only(path: str) -> sqlite3.Connection:
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=5, check_same_thread=False)


def decode_header(text: str) -> Header:
    """The header of a row. Raises ValueError or TypeError for one that is damaged."""
    title, keys, purpose, front = json.loads(unsealed(text))
    return Header(title, tuple(keys), purpose, front)


def sealed(text: str) -> str:
    """`text` after its checksum."""
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):0{_SUM_DIGITS}x}{text}"


def unsealed(text: str) -> str:
    """The text that was `sealed`. Raises ValueError when it is another by now."""
    found = text[_SUM_DIGITS:]
    if int(text[:_SUM_DIGITS], 16) != crc32(found.encode("utf-8", "surrogatepass")):
        raise ValueError("a text of the cache is damaged")
    return found


def pack(key: str, numbers: Iterable[int]) -> bytes:
    """The numbers of a row as a blob, after the checksum of the row's key and of them."""
    data = array("I", numbers).tobytes()
    return _sum_of(key, data) + data


def unpack(key: str, blob: bytes) -> array[int]:
    """The numbers of a row. Raises ValueError when key or numbers are not what was packed."""
    data = blob[_SUM_BYTES:]
    if blob[:_SUM_BYTES] != _sum_of(key, data):
        raise ValueError("a row of the cache is damaged")
    column = array("I")
    column.frombytes(data)
    return column


def _sum_of(key: str, data: bytes) -> bytes:
    return crc32(data, crc32(key.encode("utf-8", "surrogatepass"))).to_bytes(_SUM_BYTES, "big")
