"""Writing `.kb/entries.db`: only the rows of files that changed, in one transaction."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing

from kb.core.bags import bag_of
from kb.core.content import encode_content
from kb.core.suggest import grams
from kb.core.values import Header
from kb.store.entries import (
    BYTE_ORDER,
    FIELD_BITS,
    FORMAT,
    Cached,
    CacheDamaged,
    EntryCache,
    cache_path,
    decode_header,
    manifest_sum,
    pack,
    sealed,
    undamaged,
    unpack,
)
from kb.store.notes import Bucket, Note

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE notes (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, header TEXT NOT NULL, content TEXT);
CREATE TABLE manifest (part TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE words (word TEXT PRIMARY KEY, postings BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE phrases (phrase TEXT PRIMARY KEY, entries BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keywords (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, entries BLOB NOT NULL);
CREATE TABLE grams (gram TEXT PRIMARY KEY, words BLOB NOT NULL) WITHOUT ROWID;
"""


def write_entries(root: str, generation: int, notes: Sequence[Note]) -> None:
    """Bring the cache of the base at `root` to exactly `notes` (their `number` is that in index.db), in one transaction.

    Unreadable notes are left out, so that they are looked at again every time. Only the rows of files that changed are
    touched; a cache that cannot be believed is rebuilt. The caller holds the base's lock.
    """
    path = cache_path(root)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kept = sorted((note for note in notes if note.bucket is not Bucket.UNREADABLE), key=lambda note: note.path)
    old = EntryCache.open(root)
    before = {} if old is None else {p: old.manifest.at(i) for i, p in enumerate(old.manifest.paths)}
    if old is not None:
        old.close()
    else:
        discard_entries(root)
    try:
        with undamaged():
            _write(path, generation, kept, before)
    except CacheDamaged:
        discard_entries(root)
        _write(path, generation, kept, {})


def discard_entries(root: str) -> None:
    """Remove the cache of the base at `root`: it holds nothing that the files do not."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        try:
            os.unlink(cache_path(root) + suffix)
        except FileNotFoundError:
            continue


def _write(path: str, generation: int, notes: Sequence[Note], before: Mapping[str, Cached]) -> None:
    with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        if not before:
            for statement in _SCHEMA.strip().split(";"):
                if statement.strip():
                    db.execute(statement)
        today = {note.path for note in notes}
        stale = {p: old for p, old in before.items() if p not in today}
        fresh = [note for note in notes if note.path not in before or before[note.path].hash != note.hash
                 or before[note.path].bucket != note.bucket]
        stale.update({note.path: before[note.path] for note in fresh if note.path in before})
        change = _Change(db)
        for number, header, place in _stored(db, stale):
            change.forget(number, place, header, stale[place].bucket)
        next_id = 1 + max((old.id for old in before.values()), default=0)
        ids = {p: old.id for p, old in before.items() if p in today}
        for note in fresh:
            if note.path not in ids:
                ids[note.path] = next_id
                next_id += 1
            change.learn(ids[note.path], note)
        change.apply()
        longest = db.execute(
            "SELECT coalesce(max(length(phrase) - length(replace(phrase, ' ', '')) + 1), 0) FROM phrases").fetchone()[0]
        parts = _manifest_of(notes, ids)
        db.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", parts.items())
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [
            ("format", FORMAT), ("byte order", BYTE_ORDER), ("generation", generation),
            ("longest phrase", longest), ("sum", manifest_sum(generation, longest, parts))])
        db.execute("COMMIT")


class _Change:
    """What one write adds to and takes from each blob, gathered first so that every row is written once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._gone: set[int] = set()
        self._touched: dict[str, set[str]] = {"words": set(), "phrases": set(), "keywords": set()}
        self._added: dict[str, dict[str, list[int]]] = {"words": {}, "phrases": {}, "keywords": {}}
        self._notes: list[tuple[int, str, str, str | None]] = []

    def forget(self, number: int, path: str, header: Header, bucket: Bucket) -> None:
        self._gone.add(number)
        if bucket is Bucket.ENTRY:
            bag = bag_of(path, header.title, header.keys, header.purpose)
            self._touched["words"].update(bag.words)
            self._touched["phrases"].update(bag.phrases)
            self._touched["keywords"].update(bag.key_words)

    def learn(self, number: int, note: Note) -> None:
        self._notes.append((number, note.path, _encode_header(note.header),
                            None if note.content is None else sealed(encode_content(note.content))))
        if note.bucket is Bucket.ENTRY:
            bag = bag_of(note.path, note.header.title, note.header.keys, note.header.purpose)
            words, phrases, keywords = (self._added[table] for table in ("words", "phrases", "keywords"))
            for word, bits in bag.words.items():
                words.setdefault(word, []).append(number << FIELD_BITS | bits)
            for phrase in bag.phrases:
                phrases.setdefault(phrase, []).append(number)
            for word in bag.key_words:
                keywords.setdefault(word, []).append(number)

    def apply(self) -> None:
        self._db.executemany("DELETE FROM notes WHERE id = ?", [(number,) for number in self._gone])
        self._db.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", self._notes)
        self._merge("words", "word", "postings", FIELD_BITS)
        self._merge("phrases", "phrase", "entries", 0)
        fresh = self._merge("keywords", "word", "entries", 0)
        self._add_grams(fresh)

    def _merge(self, table: str, key: str, column: str, shift: int) -> list[str]:
        """Rewrite the touched blobs of one table; the keys that were not there before."""
        added = self._added[table]
        touched = self._touched[table] | added.keys()
        old: dict[str, array[int]] = {}
        for part in _parts(sorted(touched), 500):
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT {key}, {column} FROM {table} WHERE {key} IN ({marks})", part)
            old.update((name, unpack(name, blob)) for name, blob in rows)
        gone = self._gone
        rewritten, empty = [], []
        for name in sorted(touched):
            kept = [item for item in old.get(name, ()) if item >> shift not in gone] + added.get(name, [])
            if kept:
                rewritten.append((pack(name, kept), name))
            else:
                empty.append((name,))
        fresh = [name for name in added if name not in old]
        self._db.executemany(f"INSERT INTO {table} ({column}, {key}) VALUES (?, ?) "
                             f"ON CONFLICT ({key}) DO UPDATE SET {column} = excluded.{column}", rewritten)
        self._db.executemany(f"DELETE FROM {table} WHERE {key} = ?", empty)
        return fresh

    def _add_grams(self, fresh: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        for part in _parts(fresh, 500):
            marks = ",".join("?" * len(part))
            numbers.update(self._db.execute(f"SELECT word, id FROM keywords WHERE word IN ({marks})", part))
        added: dict[str, list[int]] = {}
        for word, number in numbers.items():
            for gram in set(grams(word)):
                added.setdefault(gram, []).append(number)
        rows = []
        for part in _parts(sorted(added), 500):
            marks = ",".join("?" * len(part))
            old = {gram: unpack(gram, blob) for gram, blob in self._db.execute(
                f"SELECT gram, words FROM grams WHERE gram IN ({marks})", part)}
            rows += [(gram, pack(gram, [*old.get(gram, ()), *added[gram]])) for gram in part]
        self._db.executemany("INSERT OR REPLACE INTO grams VALUES (?, ?)", rows)


def _stored(db: sqlite3.Connection, stale: Mapping[str, Cached]) -> Iterable[tuple[int, Header, str]]:
    for part in _parts(sorted(stale), 500):
        marks = ",".join("?" * len(part))
        rows = db.execute(f"SELECT id, path, header FROM notes WHERE path IN ({marks})", part)
        for number, path, header in rows.fetchall():
            yield number, decode_header(header), path


def _manifest_of(notes: Sequence[Note], ids: Mapping[str, int]) -> dict[str, bytes]:
    return {
        "paths": "\0".join(note.path for note in notes).encode(),
        "ids": array("I", [ids[note.path] for note in notes]).tobytes(),
        "sizes": array("Q", [note.size for note in notes]).tobytes(),
        "mtimes": array("q", [note.mtime_ns for note in notes]).tobytes(),
        "reads": array("q", [note.read_ns for note in notes]).tobytes(),
        "numbers": array("I", [note.number for note in notes]).tobytes(),
        "buckets": bytes(note.bucket for note in notes),
        "hashes": b"".join(bytes.fromhex(note.hash) for note in notes),
    }


def _encode_header(header: Header) -> str:
    return sealed(json.dumps([header.title, header.keys, header.purpose, dict(header.front)], ensure_ascii=False))


def _parts(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[start:start + size] for start in range(0, len(items), size))
