"""Counted logs on disk: many writers, unreadable files, lines that are no rows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kb.core.logrows import MISROUTES, MISSES, REJECTIONS
from kb.errors import KbError
from kb.store import ledgers, misses
from kb.store.logs import log_path, read_log, stray_lines
from tests.conftest import Shell

EIGHT = """
import multiprocessing, sys
from kb.store import ledgers, misses

def write(start, number):
    start.wait()
    for round_ in range(12):
        misses.record(sys.argv[1] + "/kb-misses.txt", "asked by all", ("a", "b"), "2026-09-20")
        misses.record(sys.argv[1] + "/kb-misses.txt", f"asked by {number}", (), "2026-09-20")
        ledgers.record_rejection(sys.argv[1], "ana", f"slug-{round_}", "scope", f"said by {number}")

context = multiprocessing.get_context("fork")
start = context.Barrier(8)
writers = [context.Process(target=write, args=(start, number)) for number in range(8)]
[writer.start() for writer in writers]
[writer.join() for writer in writers]
sys.exit(sum(writer.exitcode != 0 for writer in writers))
"""


def test_eight_processes_writing_one_log_at_once_lose_nothing(sh: Shell) -> None:
    sh.run(sys.executable, "-c", EIGHT, sh.root).ok()
    rows = {row.question: row.times for row in misses.read(str(sh.root / "kb-misses.txt")).rows}
    assert rows == {"asked by all": 96, **{f"asked by {number}": 12 for number in range(8)}}
    rejected = read_log(log_path(str(sh.root), REJECTIONS), REJECTIONS).rows
    assert [(row.slug, row.times) for row in rejected] and all(row.times == 8 for row in rejected) and len(rejected) == 12


@pytest.mark.parametrize("content", [b"\xff\xfe no text\n", b"caf\xe9\n"], ids=["not UTF-8", "Latin-1"])
def test_a_log_that_cannot_be_read_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "kb-misses.txt"
    log.write_bytes(content)
    with pytest.raises(KbError, match="UTF-8"):
        misses.record(str(log), "a question", (), "2026-09-20")
    with pytest.raises(KbError):
        misses.read(str(log))
    assert log.read_bytes() == content


def test_a_folder_in_the_place_of_a_log_is_an_error_and_not_a_log(tmp_path: Path) -> None:
    (tmp_path / "kb-misroutes.txt").mkdir()
    with pytest.raises(KbError, match="not a file"):
        ledgers.record_misroute(str(tmp_path), "hello", "ana", "bo")


def test_lines_that_are_no_rows_are_kept_in_place_of_being_dropped_and_are_named(tmp_path: Path) -> None:
    log = tmp_path / "kb-misroutes.txt"
    log.write_text("# mine\nnonsense\n2\t2026-09-01\t2026-09-02\tbo\tana\tbook a berth\n# between\nmany\tfields\tno count\n")
    ledgers.record_misroute(str(tmp_path), "book a berth", "Bo", "ANA", "why not")
    text = log.read_text()
    assert text.startswith("# mine\n") and {"nonsense", "# between", "many\tfields\tno count"} <= set(text.splitlines())
    found = read_log(str(log), MISROUTES)
    assert [(row.times, row.first, row.why) for row in found.rows] == [(3, "2026-09-01", "why not")]
    assert [line.split(":")[1] for line in stray_lines(str(log), found)] == [str(line.number) for line in found.strays]


def test_a_line_that_follows_no_question_stays_apart_from_the_questions(tmp_path: Path) -> None:
    log = tmp_path / "kb-misses.txt"
    log.write_text("     looked like: an orphan\n\nmany 2026-09-01 2026-09-01 no count\n     looked like: another\n")
    for _ in range(3):
        misses.record(str(log), "a question", ("key",), "2026-09-20")
    found = misses.read(str(log))
    assert [(row.question, row.times, row.looked_like) for row in found.rows] == [("a question", 3, ("key",))]
    assert [line.text.strip() for line in found.strays] == [
        "looked like: an orphan", "many 2026-09-01 2026-09-01 no count", "looked like: another"]


def test_two_spellings_that_a_hand_wrote_count_together(tmp_path: Path) -> None:
    log = tmp_path / "kb-misses.txt"
    log.write_text("2    2026-09-03 2026-09-03 Moor\r\n\r\n3    2026-09-01 2026-09-02 MOOR\r\n", newline="")
    assert [(row.times, row.first, row.last, row.question) for row in misses.read(str(log)).rows] == [
        (5, "2026-09-01", "2026-09-03", "Moor")]


def test_a_question_of_several_lines_is_one_row_and_its_secrets_are_cut(tmp_path: Path) -> None:
    log = str(tmp_path / "kb-misses.txt")
    for _ in range(2):
        misses.record(log, "where is\n9    2026-01-01 2026-01-01 forged\tAKIA0123456789ABCDEF", (), "2026-09-20")
    (row,) = misses.read(log).rows
    assert (row.times, row.question) == (2, "where is 9    2026-01-01 2026-01-01 forged [REDACTED_KEY]")


@pytest.mark.parametrize("question", ["", "  \n\t "])
def test_a_blank_question_creates_no_log(tmp_path: Path, question: str) -> None:
    misses.record(str(tmp_path / "kb-misses.txt"), question, (), "2026-09-20")
    assert not list(tmp_path.iterdir())


def test_an_abstention_is_keyed_on_its_subject_and_takes_the_newest_ruling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.core.logrows import ABSTENTIONS

    root = str(tmp_path)
    monkeypatch.setenv("KB_NOW", "2026-09-20T12:00:00Z")
    ledgers.record_abstention(root, "Tax Law", "how do I file", "uncovered", "", "no lawyer", [])
    monkeypatch.setenv("KB_NOW", "2026-09-21T12:00:00Z")
    ledgers.record_abstention(root, "tax law", "which form", "adjacent", "ana", "near", [("ana", 9.46), ("bo", 1), ("cy", 1), ("d", 1)])
    (row,) = read_log(log_path(root, ABSTENTIONS), ABSTENTIONS).rows
    assert row == (2, "2026-09-20", "2026-09-21", "adjacent", "ana", "Tax Law", "which form", "near", "ana 9.5, bo 1.0, cy 1.0")


def test_the_log_path_is_the_file_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MISSES_PATH", "  ")
    assert misses.misses_path(str(tmp_path)) == str(tmp_path / MISSES.file)
    monkeypatch.setenv("KB_MISSES_PATH", str(tmp_path / "deep/other.txt"))
    misses.record(misses.misses_path(str(tmp_path)), "a question", (), "2026-09-20")
    assert (tmp_path / "deep/other.txt").exists()


def test_a_log_keeps_its_line_endings(tmp_path: Path) -> None:
    path = tmp_path / "kb-misses.txt"
    path.write_bytes(b"# mine\r\n\r\n1    2026-01-01 2026-01-01 how deep\r\n     looked like: depth\r\nno row at all\r\n")
    misses.record(str(path), "how wide", ["width"], "2026-02-02")
    data = path.read_bytes()
    assert b"how wide\r\n     looked like: width\r\n" in data and b"no row at all\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")
