"""`.kb/index.db`: the record of what was indexed, one SQLite file per base, with the three tables of the page.

A chunk's row is `file number x 2**20 + chunk number`, where the file number is the rowid of its row in `files`, so what
belongs to a file is a range of rows. The generation is a random 31-bit number in `PRAGMA application_id` that each sync
which changes something replaces; whatever is derived from this file names the generation it was derived from.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from kb.core.spacing import gather, spread
from kb.errors import KbError

SCHEMA_VERSION = 1
CHUNKER_VERSION = 1
VERSION = SCHEMA_VERSION * 1000 + CHUNKER_VERSION
CHUNK_BITS = 20
MOST_CHUNKS = 1 << CHUNK_BITS
BUSY_SECONDS = 10.0
_FTS_MEMORY = 16_000_000   # bytes of postings that FTS5 gathers before it writes a segment

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
_FILE_COLUMNS = ["base", "path", "hash", "provenance", "stage", "captured_from", "private"]


class IndexMissing(KbError):
    """The base has no index yet."""


class IndexOutdated(KbError):
    """The index was written by another version of kb: nothing in it may be served."""


class IndexMoved(KbError):
    """The index was written to while it was read: what was read may be torn."""

    def __init__(self) -> None:
        super().__init__("the text index changed while it was read", hint="ask again")


class FileRow(NamedTuple):
    """A row of `files`: its number, the hash of the content that was indexed, and the layer it had then."""

    number: int
    hash: str
    private: bool


class ChunkRow(NamedTuple):
    """A chunk as served, with what its file's front matter declared when it was indexed."""

    path: str
    heading_path: str
    text: str
    provenance: str | None
    stage: str | None
    captured_from: str | None


def index_path(root: str) -> str:
    """Where the index of the base at `root` is."""
    return os.path.join(root, ".kb", "index.db")


def rows_of(number: int) -> tuple[int, int]:
    """The half-open range of rows that belong to file `number`."""
    return number << CHUNK_BITS, (number + 1) << CHUNK_BITS


@contextmanager
def told(what: str = "the text index") -> Iterator[None]:
    """Turn what SQLite says into a KbError about `what`: locked, damaged, or its own words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = str(error)
        if "locked" in reason or "busy" in reason:
            raise KbError(f"{what} is locked by another process", hint="ask again in a moment") from None
        if isinstance(error, sqlite3.OperationalError) and ("unable to open" in reason or "readonly" in reason):
            raise KbError(f"{what} cannot be opened ({reason})", hint="check the permissions of .kb") from None
        raise KbError(f"{what} is damaged ({reason})", hint="delete .kb and run kb index: nothing is lost") from None


class IndexReader:
    """The index of one base, opened for reading at one generation. Creates and changes nothing on disk.

    Without a write-ahead log beside it the file is at rest and is read as immutable, which leaves no lock file behind;
    `moved()` then says whether somebody wrote to it in the meantime. Raises IndexMissing, IndexOutdated or KbError.
    """

    def __init__(self, root: str) -> None:
        self.path = index_path(root)
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            raise IndexMissing("there is no text index yet", hint="run kb index") from None
        except OSError as error:
            raise KbError(f"the text index cannot be read: {error.strerror}") from None
        self._stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        self._at_rest = not _has_log(self.path)
        with told():
            self.connection = _connect_to_read(self.path, self._at_rest)
        try:
            with told():
                self.generation = _checked_generation(self.connection)
        except BaseException:
            self.connection.close()
            raise

    def moved(self) -> bool:
        """Whether the file changed under an immutable reading: what was read may be torn, and is read again."""
        if not self._at_rest:
            return False
        try:
            found = os.stat(self.path)
        except OSError:
            return True
        return (found.st_mtime_ns, found.st_size, found.st_ino) != self._stamp

    def files(self) -> dict[str, FileRow]:
        """Every indexed file by its path."""
        with told():
            rows = self.connection.execute("SELECT path, rowid, hash, private FROM files")
            return {path: FileRow(number, hash_, bool(private)) for path, number, hash_, private in rows}

    def size(self) -> int:
        """How many chunks there are."""
        with told():
            count: int = self.connection.execute("SELECT count(*) FROM chunks_docsize").fetchone()[0]
            return count

    def chunks(self, rows: Iterable[int]) -> dict[int, ChunkRow]:
        """The chunks at `rows`; a row that is not there is left out."""
        found = {}
        with told():
            for row in rows:
                chunk = self.connection.execute(
                    "SELECT c.path, c.heading_path, c.text, f.provenance, f.stage, f.captured_from FROM chunks c "
                    "LEFT JOIN files f ON f.rowid = ? WHERE c.rowid = ?", (row >> CHUNK_BITS, row)).fetchone()
                if chunk:
                    path, heading, text, *rest = chunk
                    found[row] = ChunkRow(path, gather(heading), gather(text), *rest)
        return found

    def chunks_of(self, numbers: Sequence[int] | None) -> Iterator[tuple[int, str, str]]:
        """(row, heading path, text) of every chunk of the files `numbers` (None: of all), streamed in order of rows."""
        with told():
            if numbers is None:
                cursor = self.connection.execute("SELECT rowid, heading_path, text FROM chunks ORDER BY rowid")
                for row, heading, text in cursor:
                    yield row, gather(heading), gather(text)
                return
            for number in numbers:
                cursor = self.connection.execute(
                    "SELECT rowid, heading_path, text FROM chunks WHERE rowid >= ? AND rowid < ? ORDER BY rowid",
                    rows_of(number))
                for row, heading, text in cursor:
                    yield row, gather(heading), gather(text)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> IndexReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
                and [row[1] for row in self._execute("PRAGMA table_info(files)")] == _FILE_COLUMNS)
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
        rows = self._execute("SELECT path, rowid, hash, private FROM files")
        return {path: FileRow(number, hash_, bool(private)) for path, number, hash_, private in rows}

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


def read_generation(root: str) -> int | None:
    """The generation of the index of the base at `root`, or None when there is none that can be served."""
    try:
        with IndexReader(root) as reader:
            return reader.generation
    except KbError:
        return None


def discard(root: str) -> None:
    """Remove a damaged index: it holds nothing that the next sync cannot rebuild."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(index_path(root) + suffix)
        except FileNotFoundError:
            continue


def _checked_generation(connection: sqlite3.Connection) -> int:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(files)")]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not columns and not version:
        raise IndexMissing("there is no text index yet", hint="run kb index")
    if columns != _FILE_COLUMNS or version != VERSION:
        raise IndexOutdated("the text index was built by another version of kb", hint="run kb index")
    generation: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return generation


def _connect_to_read(path: str, at_rest: bool) -> sqlite3.Connection:
    """Immutable where nobody is writing; else through the log, and immutable again where that may not be opened."""
    place = "file:" + "".join(chr(b) if b in _PLAIN else f"%{b:02x}" for b in os.fsencode(path))
    if not at_rest:
        try:
            connection = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
    return sqlite3.connect(f"{place}?immutable=1", uri=True, isolation_level=None)


def _has_log(path: str) -> bool:
    try:
        return os.stat(path + "-wal").st_size > 0
    except OSError:
        return False


_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
