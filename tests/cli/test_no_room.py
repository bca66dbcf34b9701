"""A disk that takes nothing and folders that cannot be made: one line says so, what was there stays, and reading goes on."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kb.cli import boundary
from tests.conftest import Shell
from tests.models import ACCEPT, proposal, stand_in

TRUSTED = {"KB_TRUST": "1"}
WRITERS = {
    "capture": ["capture", "--session", "s1"],
    "conclusion": ["capture", "--session", "s1", "--conclusion", "more"],
    "promote": ["promote"],
    "ingest": ["ingest", "paper.md", "--agent", "ada"],
    "ingest --keep": ["ingest", "paper.md", "--agent", "ada", "--keep"],
    "consolidate": ["consolidate", "ada"],
    "handoff save": ["handoff", "save", "ada", "--task", "x"],
    "handoff claim": ["handoff", "claim", "ben"],
    "panel": ["panel", "paper.md", "--owner", "ada", "--reviewer", "ben"],
    "misroute": ["misroute", "flush", "--chose", "ada", "--owner", "ben"],
    "trust": ["trust", "."],
    "write": ["write", "ada", "night", "--keys", "night freeze", "--summary", "say it"],
}


@pytest.fixture
def busy(fleet: Shell) -> Shell:
    """A fleet in which every verb has something to write."""
    stand_in(fleet, "promoter", proposal())
    stand_in(fleet, "reviewer", ACCEPT)
    fleet.write("paper.md", "About the pump and its valve.\n")
    fleet.write("fleet/ben/blocks.txt", "[voice]\nvoice.md\n")
    fleet.write("fleet/ben/voice.md", "Speak plainly.\n")
    for session in ("s1", "s2"):
        fleet.write(f".kb/sessions/{session}.events", "routed\tada\nconclusion\tthe seal is new\n")
        fleet.write(f"fleet/ada/inbox/2026-09-19-session-{session}.md", f"# Session {session}, 2026-09-19\n\n"
                    "## Decisions and conclusions\n\nAs recorded.\n\n- the seal is new\n")
    fleet.kb("handoff", "save", "ada", "--task", "mend it", "--session", "s1").ok()
    return fleet


def _texts(sh: Shell) -> dict[str, bytes]:
    """What people and models wrote; locks are empty and say nothing."""
    return {str(path.relative_to(sh.root)): path.read_bytes() for path in sh.root.rglob("*")
            if path.is_file() and not {"calls", "home"} & set(path.relative_to(sh.root).parts) and not path.name.endswith(".lock")}


@pytest.mark.parametrize("name", WRITERS)
def test_on_a_full_disk_a_verb_says_so_and_changes_nothing(busy: Shell, name: str) -> None:
    before = _texts(busy)
    line = f"ulimit -f 0; exec {shlex.join([sys.executable, '-m', 'kb', *WRITERS[name]])}"
    done = busy.run("bash", "-c", line, stdin="# Night\n\nText.\n" if name == "write" else "", env=TRUSTED)
    assert done.code == 1 and "bug in kb" not in done.err and "Traceback" not in done.err, done
    assert done.err.count("\n") <= 6 and done.err.startswith("kb: ")
    assert _texts(busy) == before


@pytest.mark.parametrize("message", ["flush the pump", "xylophone qwertz"])
def test_on_a_full_disk_the_hook_still_says_who_answers(busy: Shell, message: str) -> None:
    line = f"ulimit -f 0; exec {shlex.join([sys.executable, '-m', 'kb', 'boot', '--session', 's9'])}"
    done = busy.run("bash", "-c", line, stdin=message)
    assert done.code == 0 and "VESTA" in done.out
    said = [told for told in done.err.splitlines() if "session's record" in told]
    assert len(said) == 1, done.err


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "trust"])
def test_a_file_where_a_folder_should_be_is_a_message_and_no_bug(busy: Shell, name: str) -> None:
    for folder in (".kb", "fleet/ada/.kb", "fleet/ada/inbox", "fleet/ada/knowledge/deeper"):
        place: Path = busy.root / folder
        if place.exists():
            place.rename(busy.root / ("home/aside-" + folder.replace("/", "-")))
        place.write_bytes(b"")
    done = busy.kb(*WRITERS[name], stdin="# Night\n\nText.\n" if name == "write" else "", env=TRUSTED)
    assert "bug in kb" not in done.err and "Traceback" not in done.err, done


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM])
def test_what_a_disk_says_of_a_file_is_no_bug_and_names_the_file(number: int, monkeypatch: pytest.MonkeyPatch,
                                                                 capsys: pytest.CaptureFixture[str]) -> None:
    def fails(**settings: object) -> None:
        raise OSError(number, os.strerror(number), "/vault/a note.md")

    monkeypatch.setattr(boundary, "root", SimpleNamespace(main=fails))
    assert boundary.guarded(["check"]) == 1
    assert capsys.readouterr().err == f"kb: cannot read or write /vault/a note.md: {os.strerror(number)}\n"
