"""The catalogue: today's notes, whatever the caches say."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.core.values import Place
from kb.store.catalogue import Catalogue
from kb.store.entries import EntryCache, cache_path
from kb.store.entry_writer import write_entries
from kb.store.fleet import open_fleet
from kb.store.notes import Bucket, Note, is_settled, read_note
from kb.store.walk import walk_base


def no_text(name: str) -> object:
    raise AssertionError(f"no text backend was asked for, and {name} was")


def catalogue(root: Path, include_private: bool = False) -> Catalogue:
    return Catalogue(open_fleet([str(root)]), include_private, no_text, "auto")  # type: ignore[arg-type]


def keyed(root: Path, path: str, keys: str, title: str = "X", age: float = 60) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"# {title}\n\n**Search for:** {keys}\n" if keys else f"# {title}\n", encoding="utf-8")
    moment = time.time() - age
    os.utime(target, (moment, moment))


def cache(root: Path, include_private: bool = True) -> None:
    """What `kb index` does for the entry cache, without a text index."""
    for base in open_fleet([str(root)]).bases:
        notes: list[Note] = [read_note(base.root, stat, None)[0] for stat in walk_base(base, include_private).files]
        write_entries(base.root, 1, [note._replace(number=at + 1) for at, note in enumerate(notes)])


def facts(found: Catalogue) -> object:
    """Everything that scoring reads, by place and not by number."""
    words = sorted({word for entry in found.entries() for key in entry.keys for word in key.lower().split()} | {"x1", "gone"})
    phrases = sorted({key for entry in found.entries() for key in entry.keys if " " in key})
    postings = {word: sorted((found.place(n), bits) for n, bits in zip(*pair, strict=True))
                for word, pair in found.postings(words).items()}
    declared = {phrase: sorted(map(found.place, numbers)) for phrase, numbers in found.phrases(phrases).items()}
    return (found.size(), sorted(found.entries()), postings, declared, found.unreachable(),
            found.suggestions(["keywrd", "x1x1"]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "agent.txt").write_text("name = A\n")
    for at, keys in enumerate(("x1, keyword", "two words, x1", "x2; keyword", "")):
        keyed(tmp_path, f"k/n{at}.md", keys)
    keyed(tmp_path, "profile/p.md", "secret, keyword")
    return tmp_path


@pytest.mark.parametrize("include_private", [False, True])
def test_a_cached_base_reads_like_one_without_a_cache(root: Path, include_private: bool) -> None:
    plain = facts(catalogue(root, include_private))
    cache(root)
    assert facts(catalogue(root, include_private)) == plain


def edit(root: Path) -> None:
    keyed(root, "k/n0.md", "x3, fresh phrase here")


def touch_only(root: Path) -> None:
    os.utime(root / "k/n0.md")


def same_size_and_time(root: Path) -> None:
    path = root / "k/n0.md"
    stat = path.stat()
    path.write_text(path.read_text().replace("keyword", "keyw0rd"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


def delete(root: Path) -> None:
    (root / "k/n1.md").unlink()


def rename(root: Path) -> None:
    (root / "k/n1.md").rename(root / "k/renamed.md")


def copy_back(root: Path) -> None:
    text = (root / "k/n1.md").read_bytes()
    (root / "k/n1.md").unlink()
    (root / "k/n1.md").write_bytes(text)


def lose_keys(root: Path) -> None:
    keyed(root, "k/n1.md", "")


def become_map(root: Path) -> None:
    (root / "k/n1.md").rename(root / "MAP.md")


def declare_private(root: Path) -> None:
    (root / "agent.txt").write_text("private = k\n")


CHANGES: list[Callable[[Path], None]] = [edit, touch_only, same_size_and_time, delete, rename, copy_back, lose_keys, become_map,
                                         declare_private]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_after_the_cache_is_seen_at_once(root: Path, change: Callable[[Path], None]) -> None:
    cache(root)
    change(root)
    seen = facts(catalogue(root))
    os.unlink(cache_path(str(root)))
    assert seen == facts(catalogue(root))


@pytest.mark.parametrize("change", CHANGES)
def test_an_incremental_cache_equals_a_fresh_one(root: Path, change: Callable[[Path], None]) -> None:
    cache(root)
    change(root)
    cache(root)
    incremental = facts(catalogue(root, include_private=True))
    os.unlink(cache_path(str(root)))
    cache(root)
    assert incremental == facts(catalogue(root, include_private=True))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["", "x1", "x1, two words", "keyword; x2"]),
                                      max_size=4), min_size=1, max_size=4))
def test_any_history_of_writes_leaves_the_cache_equal_to_the_files(tmp_path_factory: pytest.TempPathFactory,
                                                                   steps: list[dict[str, str]]) -> None:
    root = tmp_path_factory.mktemp("history")
    for files in steps:
        for old in root.glob("*.md"):
            old.unlink()
        for name, keys in files.items():
            keyed(root, f"{name}.md", keys)
        cache(root)
    seen = facts(catalogue(root))
    if os.path.exists(cache_path(str(root))):
        os.unlink(cache_path(str(root)))
    assert seen == facts(catalogue(root))


def test_a_file_written_within_two_seconds_of_the_cache_is_read_again(root: Path) -> None:
    keyed(root, "k/n0.md", "x1, keyword", age=0)
    cache(root)
    path = root / "k/n0.md"
    stat = path.stat()
    path.write_text(path.read_text().replace("keyword", "keyw0rd"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "keyw0rd" in next(iter(catalogue(root).entries())).keys


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_cache_that_cannot_be_believed_costs_time_and_no_answer(root: Path, damage: bytes) -> None:
    plain = facts(catalogue(root))
    cache(root)
    Path(cache_path(str(root))).write_bytes(damage)
    assert facts(catalogue(root)) == plain
    cache(root)
    assert EntryCache.open(str(root)) is not None and facts(catalogue(root)) == plain


TABLES = ("meta", "notes", "manifest", "words", "phrases", "keywords", "grams")
SPOILED = {
    "notes": ["header = '{'", "header = x'00ff'", "header = 5", "header = replace(header, 'keyword', 'keyw0rd')", "id = id + 1000"],
    "words": ["postings = x'01'", "postings = 7", "postings = CAST(postings || x'0000' AS BLOB)",
              "postings = randomblob(length(postings))"],
    "phrases": ["entries = x'01'", "entries = 'abc'", "entries = randomblob(8)"],
    "keywords": ["entries = x'01'", "entries = randomblob(8)"],
    "grams": ["words = x'01'", "words = randomblob(12)"],
    "manifest": ["data = x'01'", "data = 'text'", "data = randomblob(length(data))"],
    "meta": ["value = 'x'", "value = NULL", "value = x'ff'"],
}


@pytest.mark.parametrize(("table", "change"), [(table, change) for table, changes in SPOILED.items() for change in changes])
def test_a_row_of_the_cache_that_is_not_what_was_written_changes_no_answer(root: Path, table: str, change: str) -> None:
    plain = facts(catalogue(root))
    cache(root)
    with closing(sqlite3.connect(cache_path(str(root)))) as db, db:
        db.execute(f"UPDATE OR IGNORE {table} SET {change}")
    assert facts(catalogue(root)) == plain


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_the_cache_that_is_gone_changes_no_answer(root: Path, table: str) -> None:
    plain = facts(catalogue(root))
    cache(root)
    with closing(sqlite3.connect(cache_path(str(root)))) as db, db:
        db.execute(f"DROP TABLE {table}")
    assert facts(catalogue(root)) == plain


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=600)), min_size=1, max_size=6))
def test_bytes_that_changed_anywhere_in_the_cache_change_no_answer(root: Path, damage: list[tuple[float, bytes]]) -> None:
    place = Path(cache_path(str(root)))
    place.unlink(missing_ok=True)
    plain = facts(catalogue(root))
    cache(root)
    data = bytearray(place.read_bytes())
    for where, patch in damage:
        at = int(where * len(data))
        data[at:at + len(patch)] = patch
    place.write_bytes(data)
    assert facts(catalogue(root)) == plain


def test_a_cache_that_proves_damaged_in_the_middle_of_an_answer_keeps_the_numbers_of_its_entries(root: Path) -> None:
    cache(root)
    found = catalogue(root)
    first = found.postings(["keyword"])["keyword"]
    with closing(sqlite3.connect(cache_path(str(root)))) as db, db:
        db.execute("UPDATE phrases SET entries = x'01'")
    assert [str(found.place(number)) for number in found.phrases(["two words"])["two words"]] == [f"{root.name}/k/n1.md"]
    again = found.postings(["keyword"])["keyword"]
    assert sorted(again.entries) == sorted(first.entries)


@pytest.mark.parametrize(("age", "settled"), [(1_999_999_999, False), (2_000_000_000, False), (2_000_000_001, True)])
def test_two_seconds_between_writing_and_reading_are_too_few_to_tell_files_apart(age: int, settled: bool) -> None:
    assert is_settled(5_000_000_000, 5_000_000_000 + age) is settled


def test_reading_creates_nothing(root: Path) -> None:
    cache(root)
    before = sorted(p.relative_to(root) for p in root.rglob("*"))
    found = catalogue(root)
    facts(found)
    found.close()
    assert sorted(p.relative_to(root) for p in root.rglob("*")) == before


def test_an_alias_in_memory_changes_a_copy_only(root: Path) -> None:
    found = catalogue(root)
    assert found.with_alias("a", "gancho", "x1").query("gancho").terms == ("gancho", "x1")
    assert found.query("gancho").terms == ("gancho",)


def test_a_refreshed_catalogue_sees_what_changed_and_keeps_the_rest(root: Path) -> None:
    cache(root)
    first = catalogue(root)
    edit(root)
    second = first.refreshed(open_fleet([str(root)]))
    entry = second.entry(Place(root.name, "k/n0.md"))
    assert entry is not None and entry.keys == ("x3", "fresh phrase here") and second.size() == 3


def test_every_file_falls_into_exactly_one_bucket(root: Path) -> None:
    (root / "README.md").write_text("# R\n")
    (root / "latin.md").write_bytes(b"# caf\xe9\n")
    (shelf,) = catalogue(root, include_private=True).shelves
    buckets = {bucket: shelf.in_bucket(bucket) for bucket in Bucket}
    assert sorted(path for paths in buckets.values() for path in paths) == sorted(stat.path for stat in shelf.stats())
    assert buckets[Bucket.UNREADABLE] == ["latin.md"] and buckets[Bucket.UNREACHABLE] == ["k/n3.md"]
