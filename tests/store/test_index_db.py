"""index.db: one transaction a sync, readers that leave no trace, and a generation that moves when anything did."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from kb.errors import KbError
from kb.store.index_db import (
    IndexMissing,
    IndexMoved,
    IndexOutdated,
    IndexReader,
    index_faults,
    index_path,
    read_generation,
    rows_of,
)
from kb.store.index_writer import IndexWriter, is_sound

BLANK = (None, None, None)


def put(root: Path, path: str, text: str, commit: bool = True) -> int:
    with IndexWriter(str(root), "ada") as index:
        index.put(path, "h" + text, BLANK, False, [("T", text)], index.files().get(path))
        return index.commit() if commit else 0


def texts(root: Path) -> list[str]:
    with IndexReader(str(root)) as reader:
        return [text for _, _, text in reader.chunks_of(None)]


def test_there_is_nothing_to_read_before_the_first_sync(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing):
        IndexReader(str(tmp_path))
    assert list(tmp_path.iterdir()) == [] and read_generation(str(tmp_path)) is None


def test_an_empty_file_is_no_index(tmp_path: Path) -> None:
    (tmp_path / ".kb").mkdir()
    (tmp_path / ".kb/index.db").touch()
    with pytest.raises(IndexMissing):
        IndexReader(str(tmp_path))


def test_a_sync_that_does_not_end_leaves_no_trace(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    before = read_generation(str(tmp_path))
    put(tmp_path, "a.md", "two", commit=False)
    assert (texts(tmp_path), read_generation(str(tmp_path))) == (["one"], before)


def test_the_generation_moves_with_every_change_and_only_then(tmp_path: Path) -> None:
    seen = [put(tmp_path, "a.md", "one"), put(tmp_path, "a.md", "two")]
    with IndexWriter(str(tmp_path), "ada") as index:
        index.replace_sources([])
        seen.append(index.commit())
    with IndexWriter(str(tmp_path), "ada") as index:
        index.replace_sources([("ABCDEFGH23", "book", "T", *[None] * 6, "2026-01-01", "full", None)])
        seen.append(index.commit())
    assert seen[0] != seen[1] == seen[2] != seen[3] and all(0 < generation < 2**31 for generation in seen)


def test_a_file_s_rows_are_replaced_and_dropped_together(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    put(tmp_path, "b.md", "other")
    put(tmp_path, "a.md", "two")
    assert texts(tmp_path) == ["two", "other"]
    with IndexWriter(str(tmp_path), "ada") as index:
        index.drop(index.files()["a.md"].number)
        index.commit()
    assert texts(tmp_path) == ["other"]


def test_chunks_come_by_row_with_what_their_file_declared(tmp_path: Path) -> None:
    with IndexWriter(str(tmp_path), "ada") as index:
        number, written = index.put("a.md", "h", ("agent", "raw", "inbox/x.md"), False, [("T", "一二"), ("T > U", "b")], None)
        index.commit()
    first = rows_of(number)[0]
    with IndexReader(str(tmp_path)) as reader:
        found = reader.chunks([first + 1, first, first + 2])
        assert written == 2 and list(found) == [first + 1, first]
        assert found[first] == ("a.md", "T", "一二", "agent", "raw", "inbox/x.md")
        assert (reader.size(), reader.files()["a.md"]) == (2, (number, "h", False))


def test_a_reader_beside_a_writer_sees_what_was_committed(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    with IndexWriter(str(tmp_path), "ada") as index:
        index.put("a.md", "h2", BLANK, False, [("T", "two")], index.files()["a.md"])
        assert texts(tmp_path) == ["one"]
        index.commit()
    assert texts(tmp_path) == ["two"]


def test_a_reader_follows_a_log_that_another_process_left(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    holder = sqlite3.connect(index_path(str(tmp_path)))       # keeps the log from being folded in
    holder.execute("SELECT count(*) FROM files").fetchone()
    put(tmp_path, "a.md", "two")
    assert os.path.getsize(index_path(str(tmp_path)) + "-wal") > 0
    assert texts(tmp_path) == ["two"]
    holder.close()


def test_a_reader_at_rest_notices_that_the_file_moved(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    with IndexReader(str(tmp_path)) as reader:
        assert not reader.moved()
        put(tmp_path, "a.md", "two")
        assert reader.moved()
    assert isinstance(IndexMoved(), KbError)


def test_a_folder_with_any_name_is_read(tmp_path: Path) -> None:
    root = tmp_path / "a b%20?x=1#é'"
    root.mkdir()
    put(root, "a.md", "one")
    assert texts(root) == ["one"]


def test_another_version_is_refused_by_readers(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    with sqlite3.connect(index_path(str(tmp_path))) as db:
        db.execute("PRAGMA user_version = 7")
    db.close()
    with pytest.raises(IndexOutdated):
        IndexReader(str(tmp_path))


def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one")
    other = sqlite3.connect(index_path(str(tmp_path)), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = Timer(0.5, other.rollback)
    release.start()
    put(tmp_path, "a.md", "two")
    release.join()
    other.close()
    assert texts(tmp_path) == ["two"]


def coded(kind: type[sqlite3.Error], code: int, words: str) -> sqlite3.Error:
    """An error as SQLite raises it: what it is stands in its code, and its words are for people."""
    error = kind(words)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(("error", "words"), [
    (coded(sqlite3.OperationalError, sqlite3.SQLITE_BUSY_SNAPSHOT, "database table is in use"), "locked by another process"),
    (coded(sqlite3.OperationalError, sqlite3.SQLITE_CANTOPEN_ISDIR, "no"), "cannot be opened"),
    (coded(sqlite3.OperationalError, sqlite3.SQLITE_READONLY, "no"), "cannot be opened"),
    (coded(sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT_VTAB, "a note called locked is malformed"), "damaged .a note called locked"),
    (sqlite3.OperationalError("Could not decode to UTF-8 column 'path'"), "damaged"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "damaged"),
])
def test_what_sqlite_says_becomes_a_sentence(error: Exception, words: str) -> None:
    with pytest.raises(KbError, match=words), index_faults():
        raise error


def crash(root: Path) -> None:
    """What a process leaves that was killed between its commit and the folding in of its log."""
    script = (f"import os, sqlite3\ndb = sqlite3.connect({index_path(str(root))!r}, isolation_level=None)\n"
              "db.execute(\"UPDATE files SET hash = 'later'\")\nos._exit(0)\n")
    subprocess.run([sys.executable, "-c", script], check=True)
    assert os.path.getsize(index_path(str(root)) + "-wal") > 0


@pytest.mark.parametrize("with_shm", [True, False])
def test_reading_after_a_crash_creates_no_file(tmp_path: Path, with_shm: bool) -> None:
    put(tmp_path, "a.md", "one")
    crash(tmp_path)
    if not with_shm:
        os.unlink(index_path(str(tmp_path)) + "-shm")
    before = sorted(os.listdir(tmp_path / ".kb"))
    if with_shm:
        with IndexReader(str(tmp_path)) as reader:
            assert reader.files()["a.md"].hash == "later"
    else:
        with pytest.raises(KbError, match="in the middle of a write; run kb index"):
            IndexReader(str(tmp_path))
    assert sorted(os.listdir(tmp_path / ".kb")) == before


def test_a_look_through_the_pages_finds_an_index_sound_or_not(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "one " * 4000)
    assert is_sound(str(tmp_path))
    place = Path(index_path(str(tmp_path)))
    whole = place.read_bytes()
    for page in range(1, len(whole) // 4096):
        place.write_bytes(whole[:4096 * page] + b"\xff" * 100 + whole[4096 * page + 100:])
        if not is_sound(str(tmp_path)):
            break
    else:
        raise AssertionError("no damage was found")
