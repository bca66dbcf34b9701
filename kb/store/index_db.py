"""`.kb/index.db`: the record of what was indexed, one SQLite file per base, with the three tables of the page.

A chunk's row is `file number x 2**20 + chunk number`, where the file number is the rowid of its row in `files`, so what
belongs to a file is a range of rows. The generation is a random 31-bit number in `PRAGMA application_id` that each sync
which changes something replaces; whatever is derived from this file names the generation it was derived from.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from kb.core.spacing import gather
from kb.errors import KbError

SCHEMA_VERSION = 1
CHUNKER_VERSION = 2
VERSION = SCHEMA_VERSION * 1000 + CHUNKER_VERSION
CHUNK_BITS = 20
BUSY_SECONDS = 10.0

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SHUT = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_LOG_SECONDS = 0.25  # between a writer's last two steps its log stands alone; after that long it was left behind

FILE_COLUMNS = ["base", "path", "hash", "provenance", "stage", "captured_from", "private"]


class IndexMissing(KbError):
    """The base has no index yet."""


class IndexOutdated(KbError):
    """The index was written by another version of kb: nothing in it may be served."""


class IndexDamaged(KbError):
    """The index does not hold what was written to it."""

    def __init__(self, reason: str, what: str = "the text index") -> None:
        super().__init__(f"{what} is damaged ({reason})", hint="run kb index: nothing is lost")


class IndexOutOfStep(KbError):
    """A backend's own index that is not built, stands at another generation or cannot be opened here: nothing in it is damaged."""


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


def primary_code(error: BaseException) -> int:
    """SQLite's primary result code of an error, such as sqlite3.SQLITE_BUSY; 0 when SQLite named none."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


@contextmanager
def index_faults(what: str = "the text index") -> Iterator[None]:
    """Turn what SQLite says into a KbError about `what`: locked, not to be opened, or IndexDamaged.

    Bytes that are no text, in a table or in the schema itself, are damage too, and Python tells of them in its own way.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise IndexDamaged(error.reason, what) from None
    except sqlite3.DatabaseError as error:
        code = primary_code(error)
        if code in _LOCKED:
            raise KbError(f"{what} is locked by another process", hint="ask again in a moment") from None
        if code in _SHUT:
            raise KbError(f"{what} cannot be opened ({error})", hint="check the permissions of .kb") from None
        raise IndexDamaged(str(error), what) from None


class IndexReader:
    """The index of one base, opened for reading at one generation. Creates and changes nothing on disk.

    Without a write-ahead log beside it the file is at rest and is read as immutable, which leaves no lock file behind;
    `moved()` then says whether somebody wrote to it in the meantime. Raises IndexMissing, IndexOutdated, IndexDamaged or KbError.
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
        with index_faults():
            self.connection = _connect_to_read(self.path, self._at_rest)
        try:
            with index_faults():
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
        with index_faults():
            return file_rows(self.connection)

    def sizes(self) -> dict[int, int]:
        """How many chunks each file has, by file number."""
        with index_faults():
            return dict(self.connection.execute(
                f"SELECT id >> {CHUNK_BITS}, count(*) FROM chunks_docsize GROUP BY id >> {CHUNK_BITS}").fetchall())

    def size(self) -> int:
        """How many chunks there are."""
        with index_faults():
            count: int = self.connection.execute("SELECT count(*) FROM chunks_docsize").fetchone()[0]
            return count

    def chunks(self, rows: Iterable[int]) -> dict[int, ChunkRow]:
        """The chunks at `rows`; a row that is not there is left out."""
        found = {}
        with index_faults():
            for row in rows:
                chunk = self.connection.execute(
                    "SELECT c.path, c.heading_path, c.text, f.provenance, f.stage, f.captured_from FROM chunks c "
                    "LEFT JOIN files f ON f.rowid = ? WHERE c.rowid = ?", (row >> CHUNK_BITS, row)).fetchone()
                if chunk:
                    path, heading, text, *rest = chunk
                    if not isinstance(heading, str) or not isinstance(text, str):
                        raise IndexDamaged("a chunk is no text")
                    found[row] = ChunkRow(path, gather(heading), gather(text), *rest)
        return found

    def chunks_of(self, numbers: Sequence[int] | None) -> Iterator[tuple[int, str, str]]:
        """(row, heading path, text) of every chunk of the files `numbers` (None: of all), streamed in order of rows."""
        with index_faults():
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


def file_rows(connection: sqlite3.Connection) -> dict[str, FileRow]:
    """The table of files by path. Raises sqlite3.Error, and IndexDamaged for a row that no sync wrote."""
    found = {}
    for path, number, hash_, private in connection.execute("SELECT path, rowid, hash, private FROM files"):
        if not isinstance(path, str) or not isinstance(hash_, str):
            raise IndexDamaged("the table of files is no text")
        found[path] = FileRow(number, hash_, bool(private))
    return found


def read_generation(root: str) -> int | None:
    """The generation of the index of the base at `root`, or None when there is none that can be served."""
    try:
        with IndexReader(root) as reader:
            return reader.generation
    except KbError:
        return None


def _checked_generation(connection: sqlite3.Connection) -> int:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(files)")]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not columns and not version:
        raise IndexMissing("there is no text index yet", hint="run kb index")
    if columns != FILE_COLUMNS or version != VERSION:
        raise IndexOutdated("the text index was built by another version of kb", hint="run kb index")
    generation: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return generation


def _connect_to_read(path: str, at_rest: bool) -> sqlite3.Connection:
    """Immutable where nobody is writing; else through the log, and immutable again where that may not be opened."""
    place = "file:" + "".join(chr(b) if b in _PLAIN else f"%{b:02x}" for b in os.fsencode(path))
    if not at_rest:
        _require_the_log(path)
        connection = None
        try:
            connection = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            if connection is not None:
                connection.close()
            if primary_code(error) not in _SHUT:
                raise
    return sqlite3.connect(f"{place}?immutable=1", uri=True, isolation_level=None)


def _require_the_log(path: str) -> None:
    """Refuse a log whose index file (`-shm`) is gone: SQLite would make one, and without the log the file may be half old.

    Where the folder may not be written, none can be made, and what stands is read.
    """
    until = time.monotonic() + _LOG_SECONDS
    while _has_log(path) and not os.path.exists(path + "-shm") and os.access(os.path.dirname(path), os.W_OK):
        if time.monotonic() > until:
            raise KbError("the text index was left in the middle of a write", hint="run kb index")
        time.sleep(0.01)


def _has_log(path: str) -> bool:
    try:
        return os.stat(path + "-wal").st_size > 0
    except OSError:
        return False


_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
