"""A process that is killed at any step leaves every file old or new, and the next run puts the rest in order."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kb.app import open_app
from kb.core.draft import NoteDraft
from kb.core.mapfile import lists
from kb.core.sources import Record, parse_record
from kb.errors import KbError
from kb.ops.commit import commit
from kb.ops.write import write_note
from tests.conftest import Shell
from tests.crashes import crashes

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")


def fresh_map(sh: Shell) -> Iterator[None]:
    while True:
        sh.write("fleet/ada/MAP.md", "# Ada\n\nWhat this base holds.\n")
        for name in ("seals", "oil"):
            (sh.root / f"fleet/ada/knowledge/{name}.md").unlink(missing_ok=True)
        (sh.root / "fleet/ada/.kb/write-pending.json").unlink(missing_ok=True)
        yield


def test_a_killed_write_leaves_whole_files_and_the_next_write_completes_the_map(fleet: Shell) -> None:
    words = ("write", "ada", "seals", "--keys", "seal, cracked seal", "--summary", "how a seal is replaced")
    fleet.kb(*words, stdin="Cut, grease, press.").ok()
    new_note, new_map = fleet.read("fleet/ada/knowledge/seals.md"), fleet.read("fleet/ada/MAP.md")
    old_map = "# Ada\n\nWhat this base holds.\n"
    seen = set()
    for _ in crashes(fleet, *words, stdin="Cut, grease, press.", reset=fresh_map(fleet)):
        note_file = fleet.root / "fleet/ada/knowledge/seals.md"
        note = note_file.read_text() if note_file.exists() else None
        map_ = fleet.read("fleet/ada/MAP.md")
        assert note in (None, new_note) and map_ in (old_map, new_map)
        assert not (map_ == new_map and note is None), "the map lists a note that is not there"
        seen.add((note is not None, map_ == new_map))
        write_note(open_app([str(fleet.root)]), NoteDraft("ada", "oil", ["oil"], "which oil", "Thirty weight."))
        assert lists(fleet.read("fleet/ada/MAP.md"), "seals") == note_file.exists()
        assert lists(fleet.read("fleet/ada/MAP.md"), "oil")
    assert (False, False) in seen and (True, False) in seen and (True, True) in seen


def test_a_killed_source_add_leaves_no_broken_record(fleet: Shell) -> None:
    words = ("source", "add", "fleet/ada", "--type", "book", "--title", "Pumps", "--retrieved-on", "2026-01-02",
             "--retrieval-status", "full")
    for _ in crashes(fleet, *words):
        for file in (fleet.root / "fleet/ada").glob("sources/*.txt"):
            assert isinstance(parse_record(file.name, file.read_text()), Record)
    assert fleet.kb("sources", "fleet/ada").ok().err == ""


def test_a_killed_init_leaves_a_whole_base_or_none(sh: Shell) -> None:
    def gone() -> Iterator[None]:
        import shutil

        while True:
            shutil.rmtree(sh.root / "fleet", ignore_errors=True)
            yield
    for _ in crashes(sh, "init", "zed", reset=gone(), stride=9):
        if (sh.root / "fleet/zed").exists():
            assert len([path for path in (sh.root / "fleet/zed").rglob("*") if path.is_file()]) == 12


def test_a_killed_adoption_leaves_every_note_old_or_new(sh: Shell) -> None:
    old = {"a.md": b"\xef\xbb\xbf# Alder\r\n\r\nThe alder grows by water.\r\n", "b.md": b"# Birch\n\nThe birch is white."}

    def put() -> Iterator[None]:
        while True:
            for name, data in old.items():
                sh.write(f"vault/{name}", data)
            yield
    next(put())
    sh.kb("init", "--adopt", "vault", "--keys", "--yes").ok()
    new = {name: (sh.root / "vault" / name).read_bytes() for name in old}
    assert all(b"Search for:" in data for data in new.values())
    for _ in crashes(sh, "init", "--adopt", "vault", "--keys", "--yes", reset=put()):
        for name in old:
            assert (sh.root / "vault" / name).read_bytes() in (old[name], new[name])


def test_a_killed_commit_leaves_head_old_or_new_and_can_be_run_again(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL"):
        monkeypatch.setenv(name, sh.env[name])
    sh.git("init", "-q", "-b", "main")
    sh.write("other.md", "other")
    sh.write("mine.md", "one")
    sh.git("add", "mine.md")
    sh.git("commit", "-q", "-m", "first")

    def change() -> Iterator[None]:
        number = 0
        while True:
            number += 1
            sh.write("mine.md", f"text {number}")
            yield
    for _ in crashes(sh, "commit", "mine.md", "-m", "mine", reset=change()):
        sh.git("fsck")
        assert sh.git("ls-files", "other.md").out == "", "a file that nobody named was staged"
        with contextlib.suppress(KbError), contextlib.chdir(sh.root):
            commit(["mine.md"], "mine")
        assert sh.git("show", "HEAD:mine.md").out == sh.read("mine.md")


def test_many_writers_lose_no_note_and_no_map_entry(fleet: Shell) -> None:
    def start(number: int) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "kb", "write", "ada", f"note-{number}", "--keys", f"alpha{number}, beta", "--summary", "s"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   cwd=fleet.root, env=fleet.env)
        assert process.stdin is not None
        process.stdin.write(b"Text.")
        process.stdin.close()
        return process
    processes = [start(number) for number in range(6)]
    assert [process.wait(60) for process in processes] == [0] * 6
    for process in processes:
        assert process.stderr is not None
        process.stderr.close()
    map_ = fleet.read("fleet/ada/MAP.md")
    assert all(map_.count(f"[[note-{number}]]") == 1 for number in range(6))
    assert map_.count("### knowledge/") == 1


def test_many_writers_of_one_name_leave_one_note_and_one_entry(fleet: Shell) -> None:
    words = [sys.executable, "-m", "kb", "write", "ada", "same", "--keys", "alpha, beta", "--summary", "s"]
    body = fleet.write("body.txt", "Text.")
    with body.open("rb") as a, body.open("rb") as b, body.open("rb") as c:
        processes = [subprocess.Popen(words, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      cwd=fleet.root, env=fleet.env) for file in (a, b, c)]
        assert sorted(process.wait(60) for process in processes) == [0, 1, 1]
    assert fleet.read("fleet/ada/MAP.md").count("[[same]]") == 1


def test_a_map_that_is_a_link_stays_one(fleet: Shell) -> None:
    target = fleet.root / "fleet/ada/maps/real.md"
    target.parent.mkdir()
    os.rename(fleet.root / "fleet/ada/MAP.md", target)
    os.symlink("maps/real.md", fleet.root / "fleet/ada/MAP.md")
    fleet.kb("write", "ada", "seals", "--keys", "seal", "--summary", "s", stdin="Text.").ok()
    assert (fleet.root / "fleet/ada/MAP.md").is_symlink() and "[[seals]]" in target.read_text()
