"""A clone can bring links: whatever file or folder of a fleet is one that leads out, no verb writes through it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run, Shell
from tests.models import REJECT, proposal, stand_in

PRECIOUS = "export PATH=/usr/bin\n"
UNKNOWN = "xylophone qwertz?"


def hook(sh: Shell, *words: object) -> Run:
    return sh.kb("boot", "f", "--session", "s1", *words, stdin=UNKNOWN)


WRITERS: dict[str, Callable[[Shell], Run]] = {
    "kb-misses.txt": hook,
    "kb-misroutes.txt": lambda sh: sh.kb("misroute", "flush it", "--chose", "ada", "--owner", "ben", "f"),
    "kb-rounds.txt": lambda sh: sh.kb("panel", "plan.md", "f", "--owner", "ada", "--reviewer", "ben"),
    ".kb/panel/ben-constitution.txt": lambda sh: sh.kb("panel", "plan.md", "f", "--owner", "ada", "--reviewer", "ben"),
    "kb-decided.txt": lambda sh: sh.kb("promote", "f", env={"KB_TRUST": "1"}),
    "kb-rejections.txt": lambda sh: sh.kb("promote", "f", env={"KB_TRUST": "1"}),
    "fleet/ada/MAP.md": lambda sh: sh.kb("write", "ada", "night", "--keys", "night freeze", "--summary", "say it", "f",
                                         stdin="# Night\n\nText.\n"),
    ".kb/boot.log": lambda sh: sh.kb("boot", "f", "--top", "none", stdin="flush the pump", cwd=sh.root / "f"),
    ".kb/sessions/s1": lambda sh: sh.kb("boot", "f", "--session", "s1", stdin="flush the pump"),
    ".kb/sessions/s1.events": lambda sh: sh.kb("boot", "f", "--session", "s1", stdin="flush the pump"),
    ".kb/sessions/latest-handoff.txt": lambda sh: sh.kb("handoff", "save", "ada", "f", "--task", "x"),
    ".kb/sessions/s1.handoff.md": lambda sh: sh.kb("handoff", "save", "ada", "f", "--task", "x", "--session", "s1"),
}


@pytest.fixture
def clone(fleet: Shell) -> Shell:
    """The fleet in the folder `f`, with something to promote, beside a file and a folder that are none of its business."""
    stand_in(fleet, "promoter", proposal(), "NOTHING")
    stand_in(fleet, "reviewer", REJECT)
    (fleet.root / "f").mkdir()
    for name in ("fleet.txt", "fleet", "tools"):
        os.rename(fleet.root / name, fleet.root / "f" / name)
    fleet.write("f/plan.md", "The plan.\n")
    fleet.write("f/fleet/ben/blocks.txt", "[voice]\nvoice.md\n")
    fleet.write("f/fleet/ben/voice.md", "Speak plainly.\n")
    fleet.write("mine/profile", PRECIOUS)
    return fleet


def untouched(sh: Shell) -> None:
    assert sh.read("mine/profile") == PRECIOUS
    assert os.listdir(sh.root / "mine") == ["profile"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_a_link_out_of_the_fleet_is_not_written_through(clone: Shell, name: str) -> None:
    link = clone.root / "f" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(clone.root / "mine/profile")

    done = WRITERS[name](clone)

    untouched(clone)
    assert "bug in kb" not in done.err
    assert "leads out" in done.err or name.endswith("s1.handoff.md"), done.err  # which is no record, so it is passed over


@pytest.mark.parametrize("name", ["fleet/ada/inbox", ".kb/sessions", ".kb", "fleet/ada/.kb", "fleet/ada/sources", ".kb/panel"])
def test_a_folder_that_is_a_link_out_of_the_fleet_takes_nothing(clone: Shell, name: str) -> None:
    clone.kb("boot", "f", "--session", "s1", stdin="flush the pump").ok()
    clone.kb("capture", "f", "--session", "s1", "--conclusion", "the seal is new").ok()
    place = clone.root / "f" / name
    if place.exists():
        os.rename(place, clone.root / "put aside")
    elsewhere = clone.root / "elsewhere"
    elsewhere.mkdir()
    if name in (".kb", ".kb/sessions"):  # the record of the session is there, so that there is something to capture
        for file in (clone.root / "put aside").rglob("s1*"):
            target = elsewhere / (file.name if name == ".kb/sessions" else f"sessions/{file.name}")
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(elsewhere)
    before = _contents(elsewhere)

    runs = [clone.kb("capture", "f", "--session", "s1"),
            clone.kb("boot", "f", "--session", "s2", stdin=UNKNOWN),
            clone.kb("handoff", "save", "ada", "f", "--task", "x"),
            clone.kb("panel", "plan.md", "f", "--owner", "ada", "--reviewer", "ben"),
            clone.kb("source", "add", "f/fleet/ada", "--type", "book", "--title", "T", "--author", "A, B", "--year", "2001",
                     "--url", "https://example.org/", "--retrieved-on", "2026-09-01", "--retrieval-status", "full"),
            clone.kb("write", "ada", "night", "--keys", "night freeze", "--summary", "say it", "f", stdin="# Night\n\nText.\n"),
            clone.kb("promote", "f", env={"KB_TRUST": "1"})]

    assert _contents(elsewhere) == before
    assert not any(run.code == 2 for run in runs), [run.err for run in runs]
    assert not any("bug in kb" in run.err for run in runs), [run.err for run in runs]


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_log_that_is_a_link_inside_the_fleet_stays_one(clone: Shell) -> None:
    clone.write("f/logs/misses.txt", "")
    (clone.root / "f/kb-misses.txt").symlink_to("logs/misses.txt")
    hook(clone).ok()
    assert "xylophone" in clone.read("f/logs/misses.txt")
    assert (clone.root / "f/kb-misses.txt").is_symlink()
