"""`kb index`: what it counts, what it keeps, and what happens to it in a hard world."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kb.store.index_db import VERSION, IndexReader, read_generation
from tests.conftest import Shell, note


def rows(root: Path, query: str) -> list[tuple[object, ...]]:
    with IndexReader(str(root)) as reader:
        return reader.connection.execute(query).fetchall()


def line(sh: Shell, base: str, *words: object) -> list[int]:
    """[reindexed, unchanged, removed, chunks, unreachable] of one base after `kb index`."""
    out = sh.kb("index", ".", *words).ok().out
    found = next(text for text in out.splitlines() if text.split()[0] == base)
    return [int(part.split()[0]) for part in found.split(None, 1)[1].split(", ")[:5]]


@pytest.fixture
def one(sh: Shell) -> Shell:
    """One base with two notes and a map, every file a minute old."""
    sh.write("fleet/ada/MAP.md", "# Ada\n")
    sh.write("fleet/ada/a.md", note("A", "kelp", "say a.", "## Part\n\nThe walrus rests."))
    sh.write("fleet/ada/b.md", note("B", "brine", "say b.", "## Part\n\nThe heron stands."))
    for path in (sh.root / "fleet").rglob("*.md"):
        os.utime(path, (time.time() - 60,) * 2)
    return sh


def test_the_first_run_writes_and_the_second_reads_nothing(one: Shell) -> None:
    assert line(one, "ada") == [2, 0, 0, 4, 0]
    before = read_generation(str(one.root / "fleet/ada"))
    assert line(one, "ada") == [0, 2, 0, 0, 0]
    assert read_generation(str(one.root / "fleet/ada")) == before


def change(path: Path) -> None:
    path.write_text(note("A", "kelp", "say a.", "## Part\n\nThe walrus swims."), encoding="utf-8")


@pytest.mark.parametrize(("act", "counts"), [
    (change, [1, 1, 0, 2, 0]),
    (lambda path: path.touch(), [0, 2, 0, 0, 0]),
    (lambda path: path.unlink(), [0, 1, 1, 0, 0]),
    (lambda path: path.rename(path.with_name("z.md")), [1, 1, 1, 2, 0]),
    (lambda path: shutil.copy(path, path.with_name("copy.md")), [1, 2, 0, 2, 0]),
    (lambda path: path.write_bytes(b"\xff\xfe no text"), [0, 1, 1, 0, 0]),
    (lambda path: path.write_text(""), [1, 1, 0, 0, 1]),
], ids=["edit", "touch", "delete", "rename", "copy", "not UTF-8 any more", "emptied"])
def test_a_run_after_a_change_touches_that_file_alone(one: Shell, act: Callable[[Path], object], counts: list[int]) -> None:
    line(one, "ada")
    act(one.root / "fleet/ada/a.md")
    assert line(one, "ada") == counts
    base = one.root / "fleet/ada"
    assert rows(base, "SELECT count(*) FROM chunks WHERE path NOT IN (SELECT path FROM files)") == [(0,)]
    assert line(one, "ada")[:3] == [0, sum(counts[:2]), 0]


def test_a_file_that_comes_back_byte_for_byte_is_indexed_again(one: Shell) -> None:
    line(one, "ada")
    path = one.root / "fleet/ada/a.md"
    kept = path.rename(one.root / "kept")
    line(one, "ada")
    kept.rename(path)
    assert line(one, "ada") == [1, 1, 0, 2, 0]


def test_a_row_is_the_file_number_times_two_to_the_twentieth_and_the_chunk_number(one: Shell) -> None:
    line(one, "ada")
    found = rows(one.root / "fleet/ada", "SELECT f.rowid, c.rowid, c.path FROM chunks c JOIN files f ON f.path = c.path")
    assert [row for _, row, _ in found] == [number * 2**20 + i for number in (1, 2) for i in (0, 1)]


def test_deleting_the_derived_folder_loses_a_rebuild_and_no_fact(one: Shell) -> None:
    line(one, "ada")
    before = rows(one.root / "fleet/ada", "SELECT path, heading_path, text FROM chunks ORDER BY 1, 2")
    shutil.rmtree(one.root / "fleet/ada/.kb")
    assert line(one, "ada") == [2, 0, 0, 4, 0]
    assert rows(one.root / "fleet/ada", "SELECT path, heading_path, text FROM chunks ORDER BY 1, 2") == before


@pytest.mark.parametrize("change_", [
    "ALTER TABLE files DROP COLUMN private", "ALTER TABLE files DROP COLUMN captured_from",
    "ALTER TABLE files ADD COLUMN tracked INTEGER", "PRAGMA user_version = 1", "DROP TABLE sources",
])
def test_an_index_of_another_version_is_emptied_and_said_to_be(one: Shell, change_: str) -> None:
    line(one, "ada")
    db = sqlite3.connect(one.root / "fleet/ada/.kb/index.db")
    db.execute(change_)
    db.commit()
    db.close()
    out = one.kb("index", ".").ok().out
    assert "2 reindexed" in out and "rebuilt" in out
    assert rows(one.root / "fleet/ada", "PRAGMA user_version") == [(VERSION,)]
    assert "rebuilt" not in one.kb("index", ".").ok().out


def test_a_base_that_was_renamed_keeps_no_row_of_its_old_name(one: Shell) -> None:
    line(one, "ada")
    (one.root / "fleet/ada").rename(one.root / "fleet/eda")
    line(one, "eda")
    assert rows(one.root / "fleet/eda", "SELECT DISTINCT base FROM chunks") == [("eda",)]


@pytest.mark.parametrize("rubbish", [b"", b"rubbish " * 1_000, "half"])
def test_a_damaged_index_is_built_again(one: Shell, rubbish: bytes | str) -> None:
    line(one, "ada")
    place = one.root / "fleet/ada/.kb/index.db"
    whole = place.read_bytes()
    place.write_bytes(whole[:len(whole) // 2] if isinstance(rubbish, str) else rubbish)
    assert line(one, "ada")[0] == 2
    assert rows(one.root / "fleet/ada", "PRAGMA integrity_check") == [("ok",)]


# -- the private layer ---------------------------------------------------------------------------------------------------


def test_a_public_run_takes_out_what_a_run_with_all_put_in(one: Shell) -> None:
    one.write("fleet/ada/profile/self.md", note("Self", "self", body="Mine alone."))
    line(one, "ada", "--all")
    assert rows(one.root / "fleet/ada", "SELECT path FROM files WHERE private = 1") == [("profile/self.md",)]
    assert line(one, "ada") == [0, 2, 1, 0, 0]
    assert "Mine alone" not in str(rows(one.root / "fleet/ada", "SELECT text FROM chunks"))


def test_a_folder_declared_private_later_is_marked_so_without_reindexing(one: Shell) -> None:
    one.write("fleet/ada/drawer/x.md", note("X", "x", body="In a drawer."))
    line(one, "ada")
    one.write("fleet/ada/agent.txt", "private = drawer\n")
    assert line(one, "ada", "--all") == [0, 3, 0, 0, 0]
    assert rows(one.root / "fleet/ada", "SELECT path FROM files WHERE private = 1") == [("drawer/x.md",)]


def test_private_sources_are_indexed_only_with_all(one: Shell) -> None:
    one.write("fleet/ada/agent.txt", "private = sources\n")
    one.write("fleet/ada/sources/ABCDEFGH23.txt",
              "type = book\ntitle = On #1 Knots = good\nretrieved_on = 2026-09-01\nretrieval_status = full\n")
    line(one, "ada")
    public = rows(one.root / "fleet/ada", "SELECT title FROM sources")
    line(one, "ada", "--all")
    assert (public, rows(one.root / "fleet/ada", "SELECT title FROM sources")) == ([], [("On #1 Knots = good",)])


# -- what it says --------------------------------------------------------------------------------------------------------


def test_the_totals_sum_to_the_files_on_disk(one: Shell) -> None:
    one.write("fleet/ada/keyless.md", "# K\n")
    one.write("fleet/ada/latin.md", "# Caf\xe9\n".encode("latin-1"))
    one.write("fleet/ada/inbox/drop.md", "# D\n")
    one.write(os.fsdecode(b"fleet/ada/bad\xff.md"), "# name is not UTF-8\n")
    out = one.kb("index", ".").ok().out
    totals = next(text for text in out.splitlines() if "total:" in text)
    files, _, _, unreachable, exempt, unreadable = (int(part.split()[0]) for part in totals.split(":")[1].split(","))
    assert (files, unreachable, exempt, unreadable) == (7, 1, 2, 2) and files == 2 + unreachable + exempt + unreadable
    assert "ada/latin.md: it is not UTF-8" in out


def test_json_is_one_line_and_nothing_is_built(one: Shell) -> None:
    run = one.kb("index", ".", "--json").ok()
    assert run.out.count("\n") == 1 and [entry["path"] for entry in json.loads(run.out)] == ["a.md", "b.md"]
    assert not (one.root / "fleet/ada/.kb").exists()


def test_what_was_skipped_is_told_on_stderr(one: Shell) -> None:
    (one.root / "fleet/ada/out.md").symlink_to("/etc/hostname.md")
    (one.root / "elsewhere.md").write_text("# Secret\n")
    (one.root / "fleet/ada/leak.md").symlink_to(one.root / "elsewhere.md")
    run = one.kb("index", ".").ok()
    assert "leak.md" in run.err and "leak" not in str(rows(one.root / "fleet/ada", "SELECT path FROM files"))


@pytest.mark.parametrize("place", ["/", "home"])
def test_the_disk_and_a_home_directory_are_refused(sh: Shell, place: str) -> None:
    sh.write("home/note.md", "# N\n")
    run = sh.kb("index", place, timeout=30)
    assert run.code == 1 and run.err.count("\n") == 1 and not (sh.root / "home/.kb").exists()


def test_an_unknown_backend_is_a_usage_error_and_a_named_one_is_built(one: Shell) -> None:
    run = one.kb("index", ".", env={"KB_TEXT_BACKEND": "lucene"})
    assert (run.code, "lucene" in run.err, (one.root / "fleet/ada/.kb").exists()) == (2, True, False)
    one.kb("index", ".", env={"KB_TEXT_BACKEND": "fts5"}).ok()
    assert not (one.root / "fleet/ada/.kb/tantivy").exists()
    one.write("fleet.txt", "text_backend = tantivy\n")
    one.kb("index", ".").ok()
    assert (one.root / "fleet/ada/.kb/tantivy/meta.json").exists()


def test_a_link_in_place_of_the_derived_folder_is_not_followed_out_of_the_base(one: Shell) -> None:
    (one.root / "treasure").mkdir()
    (one.root / "fleet/ada/.kb").symlink_to(one.root / "treasure")
    run = one.kb("index", ".")
    assert run.code == 1 and "leaves the base" in run.err and not list((one.root / "treasure").iterdir())


def test_a_bar_is_shown_on_a_terminal_only(one: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.cli.index import Progress

    main, other = pty.openpty()
    with os.fdopen(other, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        progress = Progress(after=-1)
        for done in range(1, 101):
            progress.tick("ada", done, 100)
        progress.finish()
    shown = b""
    with contextlib.suppress(OSError):  # what Linux says at the end of a terminal that was closed
        while piece := os.read(main, 65_536):
            shown += piece
    os.close(main)
    assert b"ada" in shown and b"100%" in shown
    assert one.kb("index", ".").ok().err == ""


# -- a hard world --------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(sh: Shell) -> Shell:
    for i in range(400):
        sh.write(f"fleet/ada/n{i:03}.md", note(f"N{i}", f"key{i}", body=f"## A\n\nText {i}.\n\n## B\n\nMore {i}."))
    return sh


def whole(root: Path) -> None:
    assert rows(root, "PRAGMA integrity_check") == [("ok",)]
    assert rows(root, "SELECT count(*), count(DISTINCT path) FROM chunks") == [(800, 400)]
    assert rows(root, "SELECT count(*) FROM files") == [(400,)]


def test_a_run_killed_at_any_point_is_completed_by_the_next(many: Shell) -> None:
    rng = random.Random(5)
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-m", "kb", "index", "."], cwd=many.root, env=many.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(0.1, 0.6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        many.kb("route", "key7", ".").ok()
    assert "total: 400 files" in many.kb("index", ".").ok().out
    whole(many.root / "fleet/ada")
    answer = many.kb("route", "text 7", ".", "--json", env={"KB_TEXT_BACKEND": "tantivy"}).ok().json()
    assert answer["skipped"] == []  # type: ignore[index]


def test_eight_runs_at_once_on_a_fresh_base_all_succeed(many: Shell) -> None:
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: many.kb("index", "."), range(8)))
    assert [run.code for run in runs] == [0] * 8, [run.err for run in runs]
    assert sorted(int(run.out.split()[1]) for run in runs) == [0] * 7 + [400]
    whole(many.root / "fleet/ada")


def test_questions_during_a_run_see_the_index_before_or_after_it(many: Shell) -> None:
    line(many, "ada")
    for path in (many.root / "fleet/ada").glob("n*.md"):
        path.write_text(path.read_text().replace("Text", "Tale"))
    process = subprocess.Popen([sys.executable, "-m", "kb", "index", "."], cwd=many.root, env=many.env,
                               stdout=subprocess.DEVNULL)
    answers = []
    while process.poll() is None:
        answers.append(many.kb("route", "key7 tale", ".", "--json").ok().json())
    assert process.returncode == 0
    assert all(answer["skipped"] == [] for answer in answers)  # type: ignore[index]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, for what root is allowed and others are not."""
    folder = Path(tempfile.mkdtemp(prefix="kb-test-"))
    folder.chmod(0o777)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o777)
    shutil.rmtree(folder)


@pytest.fixture
def nobody(open_folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `kb` in that folder as a user without special rights."""
    become = []
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("running as root without setpriv: no permission is ever refused")
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    env = {**Shell(open_folder).env, "PYTHONDONTWRITEBYTECODE": "1"}
    (open_folder / "home").chmod(0o777)
    if subprocess.run([*become, sys.executable, "-c", "import kb"], env=env, capture_output=True).returncode:
        pytest.skip("another user may not read this checkout")

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*become, sys.executable, "-m", "kb", *map(str, words)], cwd=open_folder, env=env,
                              capture_output=True, text=True, timeout=60)

    return run


def opened(folder: Path) -> Path:
    """A base with two folders of one note each, writable by all."""
    base = folder / "fleet/ada"
    for name in ("open", "shut"):
        (base / name).mkdir(parents=True)
        (base / name / "n.md").write_text(note(name, f"kelp {name}", body=f"The walrus of {name}."))
    for path in [folder / "fleet", base, *base.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    return base


def test_a_folder_that_cannot_be_read_keeps_its_rows(
        open_folder: Path, nobody: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    base = opened(open_folder)
    assert nobody("index", ".").returncode == 0
    (base / "shut").chmod(0)
    run = nobody("index", ".")
    assert (run.returncode, "0 removed" in run.stdout, "shut" in run.stderr) == (0, True, True)
    (base / "shut").chmod(0o777)
    assert rows(base, "SELECT path FROM files ORDER BY path") == [("open/n.md",), ("shut/n.md",)]


def test_a_file_that_cannot_be_read_is_counted_named_and_keeps_its_row(
        open_folder: Path, nobody: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    base = opened(open_folder)
    nobody("index", ".")
    (base / "shut/n.md").write_text("# changed\n")
    (base / "shut/n.md").chmod(0)
    run = nobody("index", ".")
    assert "1 unreadable" in run.stdout and "ada/shut/n.md" in run.stdout and "0 removed" in run.stdout


def test_a_read_only_base_answers_from_its_index_and_refuses_a_new_one(
        open_folder: Path, nobody: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    base = opened(open_folder)
    nobody("index", ".")
    for path in [*base.rglob("*"), base]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(base.rglob("*"))
    run = nobody("route", "walrus kelp", ".", "--json")
    assert run.returncode == 0 and '"skipped": []' in run.stdout and "The walrus of open." in run.stdout
    assert sorted(base.rglob("*")) == before
    (base / "open/n.md").chmod(0o666)
    (base / "open/n.md").write_text("# changed\n")
    again = nobody("index", ".")
    assert again.returncode == 1 and again.stderr.startswith("kb: indexing ada failed") and again.stderr.count("\n") == 1
