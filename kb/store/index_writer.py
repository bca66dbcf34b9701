"""Writing `.kb/index.db`: the tables, and one sync as one transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from kb.core.spacing import spread
from kb.store.index_db import BUSY_SECONDS, CHUNK_BITS, FILE_COLUMNS, VERSION, FileRow, file_rows, index_path, primary_code, rows_of

# Faults that say nothing about what is in the file: it is not thrown away for them.
KEPT = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY)
MOST_CHUNKS = 1 << CHUNK_BITS
_FTS_MEMORY = 16_000_000  # bytes of postings that FTS5 gathers before it writes a segment

_FILES = """CREATE TABLE IF NOT EXISTS files (
    base        TEXT NOT NULL,
    path        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    provenance  TEXT,
    stage       TEXT,
    captured_from TEXT,
    private     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (base, path)
)"""
_SOURCES = """CREATE TABLE IF NOT EXISTS sources (
    base             TEXT NOT NULL,
    key              TEXT NOT NULL,
    type             TEXT NOT NULL,
    title            TEXT NOT NULL,
    author           TEXT,
    year             TEXT,
    container        TEXT,
    url              TEXT,
    doi              TEXT,
    isbn             TEXT,
    retrieved_on     TEXT NOT NULL,
    retrieval_status TEXT NOT NULL,
    replaces         TEXT,
    PRIMARY KEY (base, key)
)"""
_CHUNKS = """CREATE VIRTUAL TABLE IF NOT EXISTS chunks USING fts5(
    base         UNINDEXED,
    path         UNINDEXED,
    heading_path,
    text,
    tokenize = 'unicode61 remove_diacritics 2'
)"""
_TABLES = {"files": _FILES, "sources": _SOURCES, "chunks": _CHUNKS}


class IndexWriter:
    """One sync of one base: a single transaction, so that a crash at any point leaves the index as it was.

    rebuilt: whether an index was found that another version wrote, and emptied.
    """

    def __init__(self, root: str, base: str) -> None:
        self.base = base
        self.path = index_path(root)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        self._execute = self.connection.execute
        self._execute_many = self.connection.executemany
        self._fresh: list[tuple[object, ...]] = []    # rows of `files`, written last: a write to another table in
        self._altered: list[tuple[object, ...]] = []  # between makes FTS5 flush what it has gathered
        try:
            self._execute("PRAGMA journal_mode = WAL")
            self._execute("PRAGMA synchronous = NORMAL")
            self._execute("BEGIN IMMEDIATE")
            self.rebuilt, self._changed = self._prepare()
            self.generation: int = self._execute("PRAGMA application_id").fetchone()[0]
            self._next = self._execute("SELECT coalesce(max(rowid), 0) + 1 FROM files").fetchone()[0]
        except BaseException:
            self.connection.close()
            raise

    def _prepare(self) -> tuple[bool, bool]:
        """Make the tables, and empty what another version or another base's name left: (rebuilt, changed)."""
        there = {name for (name,) in self._execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ours = there & set(_TABLES)
        fits = (ours == set(_TABLES) and self._execute("PRAGMA user_version").fetchone()[0] == VERSION
                and [row[1] for row in self._execute("PRAGMA table_info(files)")] == FILE_COLUMNS)
        if fits and self._execute("SELECT 1 FROM files WHERE base <> ? LIMIT 1", (self.base,)).fetchone():
            fits = False
        if fits:
            return False, False
        for name in ours:
            self._execute(f"DROP TABLE {name}")
        for statement in _TABLES.values():
            self._execute(statement)
        self._execute("INSERT INTO chunks (chunks, rank) VALUES ('hashsize', ?)", (_FTS_MEMORY,))
        self._execute(f"PRAGMA user_version = {VERSION}")
        return bool(ours), True

    def files(self) -> dict[str, FileRow]:
        """Every indexed file by its path."""
        return file_rows(self.connection)

    @property
    def changed(self) -> bool:
        """Whether a commit would write anything."""
        return self._changed

    def put(self, path: str, hash_: str, declared: tuple[str | None, str | None, str | None], private: bool,
            chunks: Sequence[tuple[str, str]], known: FileRow | None) -> tuple[int, int]:
        """Write a file with its chunks in place of `known`: (file number, chunks written).

        `declared` is provenance, stage and captured_from. Chunks past 2**20 are left out.
        """
        self._changed = True
        row = (self.base, path, hash_, *declared, int(private))
        if known is None:
            number = self._next
            self._next += 1
            self._fresh.append((number, *row))
        else:
            number = known.number
            self._execute("DELETE FROM chunks WHERE rowid >= ? AND rowid < ?", rows_of(number))
            self._altered.append((*row, number))
        first = rows_of(number)[0]
        kept = chunks[:MOST_CHUNKS]
        self._execute_many(
            "INSERT INTO chunks (rowid, base, path, heading_path, text) VALUES (?, ?, ?, ?, ?)",
            [(first + i, self.base, path, spread(heading), spread(text)) for i, (heading, text) in enumerate(kept)])
        return number, len(kept)

    def mark(self, number: int, private: bool) -> None:
        """Note that a file moved into or out of the private layer."""
        self._changed = True
        self._execute("UPDATE files SET private = ? WHERE rowid = ?", (int(private), number))

    def drop(self, number: int) -> None:
        """Forget a file and its chunks."""
        self._changed = True
        self._execute("DELETE FROM chunks WHERE rowid >= ? AND rowid < ?", rows_of(number))
        self._execute("DELETE FROM files WHERE rowid = ?", (number,))

    def replace_sources(self, rows: Sequence[tuple[str | None, ...]]) -> None:
        """Make the sources table hold exactly `rows`: key, type, title ... replaces, in the order of the page."""
        wanted = sorted(((self.base, *row) for row in rows), key=lambda row: str(row[1]))
        if self._execute("SELECT * FROM sources ORDER BY key").fetchall() == wanted:
            return
        self._changed = True
        self._execute("DELETE FROM sources")
        self._execute_many(f"INSERT INTO sources VALUES ({', '.join('?' * 13)})", wanted)

    def commit(self) -> int:
        """End the sync and return the generation it leaves: a new one when anything changed."""
        self._execute_many("INSERT INTO files (rowid, base, path, hash, provenance, stage, captured_from, private) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._fresh)
        self._execute_many("UPDATE files SET base = ?, path = ?, hash = ?, provenance = ?, stage = ?, captured_from = ?, "
                           "private = ? WHERE rowid = ?", self._altered)
        if self._changed:
            fresh = self.generation
            while fresh in (0, self.generation):
                fresh = int.from_bytes(os.urandom(4), "big") & 0x7FFFFFFF
            self._execute(f"PRAGMA application_id = {fresh}")
            self.generation = fresh
        self._execute("COMMIT")
        self.close()
        return self.generation

    def close(self) -> None:
        """Let go; a sync that was not committed leaves no trace."""
        self.connection.close()

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_sound(root: str) -> bool:
    """Whether SQLite finds the pages of the index in order, table by table: without looking into texts and postings.

    Asked only where no checksum is known, after a crash: 137 MB take 0.3 s. Named tables keep it from asking FTS5, which
    would analyse every text anew. Raises sqlite3.Error when it is locked.
    """
    try:
        with closing(sqlite3.connect(index_path(root), timeout=BUSY_SECONDS, isolation_level=None)) as db:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")]
            return all(db.execute(f"PRAGMA quick_check({_quoted(name)})").fetchall() == [("ok",)]
                       for name in ("sqlite_master", *names))
    except UnicodeDecodeError:
        return False
    except sqlite3.Error as error:
        if primary_code(error) in KEPT:
            raise
        return False


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def discard(root: str) -> None:
    """Remove a damaged index: it holds nothing that the next sync cannot rebuild."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(index_path(root) + suffix)
        except FileNotFoundError:
            continue
