"""What a clone, a disk or a shell can put where kb expects a file, a folder, a home or an open stream."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Shell

READERS = ("route pump", "list", "fleet", "remember pump", "check", "sources", "blocks")
KB = f'"{sys.executable}" -m kb'


def whole(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def says_what_is_wrong(err: str) -> bool:
    return "Traceback" not in err and "bug in kb" not in err and all(line.startswith("kb: ") for line in err.splitlines())


@pytest.mark.parametrize("words", [*READERS, "index", "--version", "--help", "plugins", "route pump --json"])
def test_a_full_disk_under_stdout_is_one_line_and_exit_1(fleet: Shell, words: str) -> None:
    fleet.write("blocks.txt", "agent.txt\n")
    done = fleet.run("sh", "-c", f"{KB} {words} >/dev/full")
    assert done.code == 1
    assert "kb: cannot write the output: No space left on device\n" in done.err and says_what_is_wrong(done.err)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["route pump", "index", "--version", "--help", "check", "nonsense"])
def test_streams_that_the_caller_closed_break_nothing(fleet: Shell, words: str, closed: str) -> None:
    before = whole(fleet.root / "fleet")
    done = fleet.run("sh", "-c", f"{KB} {words} {closed}")
    assert done.code == (2 if words == "nonsense" else 0)
    assert "Traceback" not in done.err and "bug in kb" not in done.err
    assert before.items() <= whole(fleet.root / "fleet").items()  # no file was taken for a stream


def test_a_reader_that_leaves_early_is_no_failure(fleet: Shell) -> None:
    for number in range(3000):
        fleet.write(f"fleet/ada/knowledge/many/n{number}.md", f"# A rather long title of note number {number}\n")
    done = fleet.run("bash", "-c", f"{KB} list | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.out.splitlines()[-1] == "0" and done.err == ""


@pytest.mark.parametrize("words", [*READERS, "index", "plugins", "init new", "trust"])
def test_a_current_folder_that_is_gone_is_named(fleet: Shell, words: str) -> None:
    done = fleet.run("sh", "-c", f"mkdir gone && cd gone && rmdir ../gone && {KB} {words}")
    assert says_what_is_wrong(done.err)
    assert words == "plugins" or (done.code == 1 and done.err == "kb: the current folder is gone; change to one that exists\n")


def test_a_path_is_answered_from_a_folder_that_is_gone(fleet: Shell) -> None:
    done = fleet.run("sh", "-c", f"mkdir gone && cd gone && rmdir ../gone && {KB} list '{fleet.root}'")
    assert done.code == 0 and "ada/knowledge/pump.md" in done.out


@pytest.mark.parametrize("home", [{"HOME": "relative"}, {"HOME": ""}, {"XDG_CACHE_HOME": "relative"}, {"HOME": "/nonexistent"},
                                  {"HOME": "relative", "XDG_CACHE_HOME": "./also", "XDG_CONFIG_HOME": "too"}])
def test_a_home_that_is_no_place_makes_no_folder_where_one_stands(fleet: Shell, home: dict[str, str]) -> None:
    account = {"XDG_CACHE_HOME": ""} if "HOME" in home and "XDG_CACHE_HOME" not in home else {}
    before = set(whole(fleet.root))
    for words in ("list", "fleet", "plugins"):
        fleet.kb(*words.split(), env={**account, **home}).ok()
    left = {path for path in set(whole(fleet.root)) - before if not path.startswith("home/")}
    assert left == set()
    assert not (fleet.root / "relative").exists() and not (fleet.root / "also").exists()


def test_no_home_at_all_is_no_failure(fleet: Shell) -> None:
    del fleet.env["HOME"], fleet.env["XDG_CACHE_HOME"]
    assert "pump.md" in fleet.kb("list").ok().out


PLACES = ("fleet.txt", "fleet/ada/agent.txt", "fleet/ada/kb-aliases.txt", "fleet/ada/MAP.md", "fleet/ada/knowledge/new.md",
          "fleet/ada/.gitignore", "fleet/ada/sources/a.md", "blocks.txt", "kb-misses.txt", "fleet/ada/.kb")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop", "binary"])
@pytest.mark.parametrize("place", PLACES)
def test_whatever_stands_for_a_file_of_the_fleet_every_verb_ends_and_says_so(fleet: Shell, place: str, kind: str) -> None:
    path = fleet.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    else:
        path.write_bytes(bytes(range(256)) * 8)
    for words in ("route nonesuch", "list", "fleet", "check", "sources", "blocks", "index"):
        done = fleet.kb(*words.split(), timeout=20)
        assert says_what_is_wrong(done.err), (words, done.err)
        assert done.code in (0, 1), (words, done.err)


@pytest.mark.parametrize("kind", ["file", "folder", "garbage", "empty"])
@pytest.mark.parametrize("cache", ["index.db", "entries.db", "tantivy"])
def test_a_spoiled_cache_costs_no_answer_and_index_mends_it_or_says_which_file_is_in_the_way(
        fleet: Shell, cache: str, kind: str) -> None:
    fleet.kb("index").ok()
    path = fleet.root / "fleet/ada/.kb" / cache
    subprocess.run(["rm", "-rf", str(path)], check=True)
    if kind == "folder":
        path.mkdir()
        (path / "kept.txt").write_text("a person's")
    else:
        path.write_bytes({"file": b"x", "garbage": os.urandom(9000), "empty": b""}[kind])
    answered = fleet.kb("route", "flush the pump", "--json").ok()
    assert answered.json()["verdict"] == "hit"  # type: ignore[index]
    done = fleet.kb("index")
    assert says_what_is_wrong(done.err)
    if done.code:
        assert kind == "folder" and f".kb/{cache} " in done.err
        assert (path / "kept.txt").exists()
    else:
        text = fleet.kb("route", "motor minute", "--json").ok()
        assert text.json()["results"] and text.err == ""  # type: ignore[index]


def test_a_name_of_a_folder_with_a_line_end_adds_no_line_to_the_roster(fleet: Shell) -> None:
    fleet.write("fleet/eve\n- Forged\n  root/agent.txt", "role = \x1b[31mred\n")
    out = fleet.kb("fleet").ok().out
    assert "\n- Forged" not in out and "\\x0a- Forged" in out and "\x1b" not in out
    assert out.count("\n- ") == 4


without_rights = pytest.mark.skipif(os.geteuid() == 0 and subprocess.run(
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "true"], capture_output=True).returncode != 0,
    reason="root reads everything here")


def bound(sh: Shell, *words: str) -> subprocess.CompletedProcess[str]:
    """kb as one whom the permissions bind, root or not."""
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    return subprocess.run([*prefix, sys.executable, "-m", "kb", *words], cwd=sh.root, env=sh.env, capture_output=True,
                          text=True, timeout=60)


@without_rights
@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("closed", ["", "/knowledge", "/knowledge/pump.md", "/agent.txt"])
def test_what_may_not_be_read_is_named_by_every_verb_and_the_rest_serves(fleet: Shell, closed: str, loose: bool) -> None:
    top = "loose" if loose else "fleet"
    (fleet.root / "fleet").rename(fleet.root / top)
    place = fleet.root / top / f"ada{closed}"
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        for words in (["list"], ["route", "sow beans"], ["fleet"], ["check"], ["index"]):
            done = bound(fleet, *words, *(["loose"] if loose else []))
            assert done.returncode in ((0, 1) if words == ["check"] else (0,)), (words, done.stderr)
            shown = done.stdout + done.stderr
            if words != ["fleet"] or closed in ("", "/agent.txt"):
                assert "ada" in shown and ("annot be read" in shown or "Permission denied" in shown), (words, shown)
            assert "eva" in shown.lower() or words == ["index"]
    finally:
        place.chmod(mode)


@without_rights
def test_a_base_that_could_not_be_read_for_a_while_keeps_its_index(fleet: Shell) -> None:
    fleet.kb("index").ok()
    folder = fleet.root / "fleet/ada/knowledge"
    folder.chmod(0)
    try:
        bound(fleet, "index")
    finally:
        folder.chmod(0o755)
    assert "0 reindexed, 2 unchanged" in fleet.kb("index").ok().out


def test_gold_may_come_through_a_pipe(fleet: Shell) -> None:
    fleet.kb("index").ok()
    fleet.run("bash", "-c", f"{KB} eval <(printf 'flush the pump\\tada/knowledge/pump.md\\n')").ok()


@pytest.mark.parametrize("words", [*READERS, "index", "init zed", "init --adopt"])
def test_a_blank_path_is_no_current_folder(fleet: Shell, words: str) -> None:
    done = fleet.kb(*words.split(), "")
    assert done.code == 1 and "blank" in done.err and done.out == ""
    assert not (fleet.root / "fleet/zed").exists()
