"""`kb init`: a base in the shape the catalogue needs, whole or not at all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kb.core.skeleton import agent_files, person_files
from kb.errors import KbError
from kb.ops.init import init_agent, init_person
from tests.conftest import Shell


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_is_the_published_skeleton(sh: Shell) -> None:
    told = sh.kb("init", "agent-2").ok().out
    assert files(sh.root / "fleet/agent-2") == agent_files("agent-2")
    assert told.startswith(f"created {sh.root}/fleet/agent-2\n  12 files and directories\n") and "Next:" in told
    sh.kb("init", "--person").ok()
    assert files(sh.root / "fleet/person") == person_files()
    assert not (sh.root / "fleet.txt").exists() and not list(sh.root.glob("**/.git"))


def test_a_fresh_base_is_found_elected_indexed_and_clean(sh: Shell) -> None:
    sh.kb("init", "zed").ok()
    assert "zed" in sh.kb("fleet").ok().out.lower()
    sh.kb("index").ok()
    answer = sh.kb("route", "what is the role of the zed agent", "--json").ok().json()
    assert isinstance(answer, dict) and answer["agent"] is not None and "zed" in str(answer["agent"])
    assert "clean" in sh.kb("check", "--all", "--strict").ok().out
    ignored = (sh.root / "fleet/zed/.gitignore").read_text()
    assert all(f"{folder}/\n" in ignored for folder in ("profile", "projects", "records", ".kb"))


def test_git_keeps_the_private_layer_and_loose_deposits_out(sh: Shell) -> None:
    sh.git("init", "-q", "-b", "main")
    sh.kb("init", "zed").ok()
    for name in ("profile/me.md", "records/r.md", "inbox/scan.pdf", "inbox/deep/scan.pdf", "inbox/note.md", "inbox/deep/SOURCES.md",
                 ".kb/index.db"):
        sh.write(f"fleet/zed/{name}", "x")
    told = sh.git("status", "--porcelain", "-z", "--untracked-files=all").out
    assert "inbox/note.md" in told and "inbox/deep/SOURCES.md" in told and "inbox/.gitkeep" in told
    assert not any(name in told for name in ("profile", "records", "scan.pdf", "index.db"))


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a-", "a/b", "..", ".", "é", "a.b", "a" * 41, "a\n", "person", "a\x00b"])
def test_a_name_outside_the_rule_is_refused_and_nothing_is_made(sh: Shell, name: str) -> None:
    with pytest.raises(KbError):
        init_agent(name, str(sh.root))
    assert not (sh.root / "fleet").exists()


@pytest.mark.parametrize("kind", ["folder", "file", "link", "dangling link"])
def test_a_target_that_exists_in_any_form_is_left_alone(sh: Shell, kind: str) -> None:
    target = sh.root / "fleet/zed"
    target.parent.mkdir()
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to(sh.root if kind == "link" else "nowhere")
    with pytest.raises(KbError, match="exists already"):
        init_agent("zed", str(sh.root))
    assert os.listdir(sh.root / "fleet") == ["zed"]


def test_a_failed_init_leaves_no_half_of_a_base(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.store.files import write_atomic as real

    def full(path: str, data: str) -> None:
        if str(path).endswith("blocks.txt"):
            raise OSError(28, "No space left on device")
        real(path, data)
    monkeypatch.setattr("kb.ops.init.write_atomic", full)
    with pytest.raises(KbError, match="No space left"):
        init_person(str(sh.root)) and init_agent("zed", str(sh.root))
    assert os.listdir(sh.root / "fleet") == ["person"]


def test_two_at_once_make_one_base(sh: Shell) -> None:
    import sys

    processes = [subprocess.Popen([sys.executable, "-m", "kb", "init", "zed"], cwd=sh.root, env=sh.env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for _ in range(4)]
    assert sorted(process.wait(60) for process in processes) == [0, 1, 1, 1]
    assert files(sh.root / "fleet/zed") == agent_files("zed") and os.listdir(sh.root / "fleet") == ["zed"]


@pytest.mark.parametrize("words", [("init", ""), ("init", " "), ("write", "", "note"), ("write", "ada", "")])
def test_a_name_that_is_blank_is_called_blank(fleet: Shell, words: tuple[str, ...]) -> None:
    more = ("--keys", "pump valve", "--summary", "s") if words[0] == "write" else ()
    done = fleet.kb(*words, *more, stdin="Text.")
    assert done.code == 1 and done.out == "" and "is blank" in done.err and "  " not in done.err
