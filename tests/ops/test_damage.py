"""Damaged caches: a question says so or goes without, and the next `kb index` makes them anew."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing

import pytest

from tests.conftest import Shell, note


def index(sh: Shell) -> str:
    return sh.kb("index", sh.root / "fleet/ada").ok().out


@pytest.fixture
def shelf(sh: Shell) -> Shell:
    """One base of sixty notes, every file years old, asked through the embedded engine."""
    for i in range(60):
        path = sh.write(f"fleet/ada/n{i:02}.md", note(f"N{i}", f"key{i}, walrus, two words{i}", f"say {i}.",
                                                      f"## A\n\nThe walrus of n{i} sleeps on a stone of its own."))
        os.utime(path, (1.6e9, 1.6e9))
    sh.env["KB_TEXT_BACKEND"] = "fts5"
    return sh


@pytest.fixture
def answers(shelf: Shell) -> tuple[object, ...]:
    """What verbs say of a base whose caches are sound: everything later is compared with it."""
    index(shelf)
    return said(shelf)


def said(sh: Shell) -> tuple[object, ...]:
    place = sh.root / "fleet/ada"
    runs = [sh.kb("route", "note walrus n7", place, "--json"), sh.kb("list", place),
            sh.kb("remember", "The walrus of n7 sleeps", place, "--json"), sh.kb("check", place, "--format", "json")]
    assert all(run.code in (0, 1) and "bug in kb" not in run.err and "Traceback" not in run.err for run in runs), runs
    return tuple(run.out for run in runs)


@pytest.mark.parametrize("change", [
    "UPDATE notes SET header = '{'", "UPDATE words SET postings = x'01'", "UPDATE phrases SET entries = 'abc'",
    "UPDATE grams SET words = zeroblob(8)", "UPDATE manifest SET data = x'00'", "DELETE FROM notes WHERE id % 2",
    "UPDATE notes SET content = 'x'", "UPDATE meta SET value = NULL WHERE key = 'longest phrase'", "DELETE FROM words",
])
def test_a_damaged_entry_cache_stops_no_verb_and_is_mended_by_the_next_run(shelf: Shell, answers: tuple[object, ...],
                                                                            change: str) -> None:
    place = shelf.root / "fleet/ada/.kb/entries.db"
    with closing(sqlite3.connect(place)) as db, db:
        db.execute(change)
    damaged = place.read_bytes()
    if "DELETE FROM words" not in change:  # a row that is gone is only seen by the next run
        assert said(shelf) == answers
    index(shelf)
    assert said(shelf) == answers and place.read_bytes() != damaged


@pytest.mark.parametrize("name", ["entries.db", "index.db"])
def test_whatever_bytes_change_in_a_cache_verbs_say_so_and_the_next_run_mends_it(shelf: Shell, answers: tuple[object, ...],
                                                                                 name: str) -> None:
    place = shelf.root / "fleet/ada/.kb" / name
    chance = random.Random(name)
    for number in range(3):
        data = bytearray(place.read_bytes())
        if number == 0:
            data[100:4096] = chance.randbytes(3996)  # the page of the schema
        else:
            page = 4096 * chance.randrange(1, len(data) // 4096)
            data[page:page + 4096] = chance.randbytes(4096)
        place.write_bytes(data)
        said(shelf)
        index(shelf)
        assert said(shelf) == answers


def test_one_changed_byte_of_a_text_is_found_by_the_next_run(shelf: Shell, answers: tuple[object, ...]) -> None:
    place = shelf.root / "fleet/ada/.kb/index.db"
    data = place.read_bytes()
    assert b"The walrus of n7 sleeps" in data
    place.write_bytes(data.replace(b"The walrus of n7 sleeps", b"The walrus of n7 sleept", 1))
    assert "rebuilt" in shelf.kb("index", shelf.root / "fleet/ada").ok().out
    assert said(shelf) == answers


def test_a_passage_that_cannot_be_read_is_told_and_no_claim_is_said_to_be_new(shelf: Shell, answers: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(shelf.root / "fleet/ada/.kb/index.db")) as db, db:
        db.execute("UPDATE chunks_content SET c3 = x'ff'")
    route = shelf.kb("route", "walrus n7", shelf.root / "fleet/ada", "--json", "--hybrid")
    assert "ada: the text index is damaged" in route.out and "ada: the text index is damaged" in route.err
    remember = shelf.kb("remember", "The walrus of n7 sleeps", shelf.root / "fleet/ada", "--json")
    assert "none of them could be read" in remember.out and "ada: the text index is damaged" in remember.err


def test_a_run_without_changes_reads_the_caches_and_writes_none(shelf: Shell, answers: tuple[object, ...]) -> None:
    folder = shelf.root / "fleet/ada/.kb"
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir() if path.name != ".index.lock"}
    index(shelf)
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()
            if path.name != ".index.lock"} == before and "sums.json" in before
