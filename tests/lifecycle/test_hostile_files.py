"""A clone brings files that anybody wrote: whatever stands in them, a command says what is wrong and is no bug."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kb_plugins.lifecycle.events import EVENTS
from tests.lifecycle.yard import CANDIDATES, CURATED, EPISODE, LEDGER, RECORD, Yard

_READING = [("knowledge", "derive", "--episode", EPISODE, "--dry-run"), ("knowledge", "candidates", "--json"),
            ("knowledge", "check"), ("knowledge", "validate"), ("knowledge", "status"), ("doctor",), ("watch",), ("context",),
            ("history",), ("recover", "--older-than", "1h"), ("session", "status"), ("session", "list"), ("question", "list"),
            ("task", "status"), ("knowledge", "record", "coil-cables")]
_QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None,
                  max_examples=6)
_VALUE = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(["none", EPISODE]),
                      lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
                      max_leaves=4)
_FIELDS = sorted({name for fields in EVENTS.values() for name in fields} | {"session", "head", "branch", "verify", "by"})
_ROW = st.fixed_dictionaries({"ts": st.sampled_from(["2026-09-18T09:00:00Z", "2026-13-45T09:00:00Z", "x", ""]),
                              "event": st.sampled_from(sorted(EVENTS)) | st.text(max_size=5)},
                             optional=dict.fromkeys(_FIELDS, _VALUE))
_ODD: tuple[object, ...] = ([], {}, 7, None)
_LINES = st.lists(st.sampled_from(RECORD.split("\n")) | st.text(max_size=12) | st.sampled_from(
    ["---", "  - a", "relations:", "  - type: supports", "    target: file:x", "provenance: x", "tags: x", "status: candidate",
     "derived_from: [a, b]", "title:", "  title: x", "relations: [x]", "version: 1", "sources:", "session_id: [x]"]), max_size=14)


def nothing_is_a_bug(yard: Yard) -> None:
    for words in _READING:
        run = yard(*words)
        assert run.code in (0, 2, 10, 11, 12, 13) and "this is a bug" not in run.err, (words, run)


@_QUIET
@given(st.lists(_ROW, max_size=6))
@example([{"ts": "2026-09-18T09:00:00Z", "event": event, name: value} for event in sorted(EVENTS) for name in _FIELDS
          for value in _ODD])
def test_any_ledger_is_read(yard: Yard, rows: list[dict[str, object]]) -> None:
    yard.write(LEDGER, "".join(json.dumps({**row, "session": row.get("session", EPISODE)}) + "\n" for row in rows))
    nothing_is_a_bug(yard)


@_QUIET
@given(_LINES, _LINES, st.binary(max_size=30))
def test_any_record_file_is_read(yard: Yard, front: list[str], body: list[str], tail: bytes) -> None:
    text = "---\n" + "\n".join(front) + "\n---\n" + "\n".join(body)
    yard.write(f"{CURATED}/coil-cables.md", text.encode("utf-8", "replace") + tail)
    yard.write(f"{CANDIDATES}/{EPISODE}-0123456789ab.md", text.encode("utf-8", "replace"))
    yard.git("add", "-A")
    nothing_is_a_bug(yard)
    assert yard("knowledge", "promote", f"{EPISODE}-0123456789ab", stdin="Seen.\n").code in (0, 10, 12)


@pytest.mark.parametrize("path", [
    ".ai/repo/policy.yaml", ".ai/repo/knowledge/sources.yaml", ".ai/repo/scope.yaml", ".gitattributes",
    ".ai/local/state/sessions-open/hand.yaml", ".ai/local/state/current.yaml", ".ai/local/state/open-questions.md",
    ".ai/local/state/decisions.md", ".ai/repo/sessions/x.md", ".ai/repo/rules/x.md", ".ai/repo/project/issues/x.yaml",
    "docs/CLAIMS.yaml", ".ai/local/state/outbox/sessions/x.md", ".ai/local/state/completed/x.md"])
@_QUIET
@given(_LINES)
def test_any_text_in_any_of_the_files_is_read(yard: Yard, path: str, lines: list[str]) -> None:
    yard.write(path, "\n".join(lines).encode("utf-8", "replace"))
    if not path.startswith(".ai/local"):
        yard.git("add", path)
    nothing_is_a_bug(yard)


@pytest.mark.parametrize("path", [LEDGER, ".ai/repo/policy.yaml", CANDIDATES, CURATED, ".ai/local/state/current.yaml",
                                  ".ai/repo/knowledge/sources.yaml", f"{CURATED}/coil-cables.md/x"])
def test_a_folder_where_a_file_belongs_and_a_file_where_a_folder_does(yard: Yard, path: str) -> None:
    (yard.root / path).mkdir(parents=True)
    nothing_is_a_bug(yard)
    (yard.root / path).rmdir()
    yard.write(path, b"\xff\xfe\x00")
    nothing_is_a_bug(yard)


@pytest.mark.parametrize("place", ["sub", "sub/refs", "deep/er/sub"])
@pytest.mark.parametrize("words", [("doctor",), ("status",), ("check",), ("session", "start"), ("knowledge", "status"), ("history",)])
def test_a_bare_repository_inside_a_clone_runs_nothing(yard: Yard, place: str, words: tuple[str, ...]) -> None:
    """`kb` in a folder of a clone asks git where it is; git would take the folder's own configuration for an answer."""
    mark = yard.root.parent / "pwned"
    bare = place.removesuffix("/refs")
    yard.write(f"{bare}/HEAD", "ref: refs/heads/main\n")
    yard.write(f"{bare}/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n"
                                 f"\tfsmonitor = \"echo PWNED >> '{mark}'; false\"\n")
    yard.write(f"{bare}/refs/.keep", "")
    yard.write(f"{bare}/objects/.keep", "")
    said = yard(*words, cwd=yard.root / place)
    assert not mark.exists() and "Traceback" not in said.err
    subprocess.run(["git", "status"], cwd=yard.root / place, capture_output=True, check=False)
    assert mark.exists()  # or this test shows nothing


def test_the_watcher_that_a_configuration_names_is_never_asked(yard: Yard) -> None:
    mark = yard.root.parent / "pwned"
    yard.git("config", "core.fsmonitor", f"echo x >> '{mark}'; false")
    yard("doctor")
    yard("session", "start").ok()
    yard("watch")
    assert not mark.exists()


STATE = ".ai/local/state"
UNREADABLE = {  # a file of the state, and the commands that answer from it
    LEDGER: [("history",), ("history", "--validate"), ("history", "--rotate"), ("knowledge", "status"),
             ("knowledge", "derive", "--episode", EPISODE), ("session", "close"), ("watch",)],
    f"{STATE}/current.yaml": [("task", "status"), ("context",), ("finish", "--outcome", "completed")],
    f"{STATE}/open-questions.md": [("question", "list"), ("context",), ("question", "resolve", "1", "--answer", "x")],
    f"{STATE}/session-current.yaml": [("session", "status"), ("context",)],
    f"{STATE}/sessions-open/hand.yaml": [("session", "start")],
    ".ai/repo/scope.yaml": [("session", "close")],
    ".ai/repo/knowledge/sources.yaml": [("knowledge", "nodes"), ("knowledge", "validate")],
}


def loop(yard: Yard, path: str) -> None:
    """A link to itself in the place of a file: it is there, and not even root can read it."""
    place = yard.root / path
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(place.name)


@pytest.mark.parametrize("path", UNREADABLE)
def test_a_file_that_is_there_and_cannot_be_read_is_never_an_empty_one(yard: Yard, path: str) -> None:
    yard.start()
    yard.note("decision.recorded", task_id="none", decision="Coil it.")
    kept = (yard.root / LEDGER).read_bytes()
    loop(yard, path)
    for words in UNREADABLE[path]:
        run = yard(*words)
        assert run.code in (10, 11, 13) and path in run.out + run.err, (words, run)
        assert "bug" not in run.err
    assert path == LEDGER or (yard.root / LEDGER).read_bytes().startswith(kept)


@pytest.mark.parametrize("make", ["folder", "loop"])
def test_doctor_fails_on_a_ledger_that_cannot_be_read(yard: Yard, make: str) -> None:
    yard.start()
    (yard.root / LEDGER).rename(yard.root / "kept")
    if make == "folder":
        (yard.root / LEDGER).mkdir()
    else:
        loop(yard, LEDGER)
    run = yard("doctor")
    assert run.code == 10
    [row] = [line for line in run.out.splitlines() if line.startswith("FAIL") and " ledger " in line]
    assert LEDGER in row and "cannot be read" in row
    assert not [line for line in run.out.splitlines() if line.startswith("OK") and "ledger" in line]


@pytest.mark.parametrize("folder", [CANDIDATES, CURATED, f"{STATE}/sessions-open", f"{STATE}/outbox/sessions", ".ai/repo/sessions"])
def test_a_folder_that_cannot_be_listed_is_never_an_empty_one(yard: Yard, folder: str) -> None:
    place = yard.root / folder
    if place.exists():
        place.rename(yard.root / "moved")
    yard.write(folder, "a file in its place\n")
    readers = {".ai/repo/sessions": ("session", "list"), f"{STATE}/sessions-open": ("recover", "--older-than", "1h")}
    run = yard(*readers.get(folder, ("doctor",)))
    assert run.code in (10, 13) and folder in run.out + run.err and "bug" not in run.err


def test_a_record_that_waits_and_cannot_be_read_stays_and_the_others_are_carried(yard: Yard) -> None:
    yard.trunk()
    yard.decide("Coil it.", "Oil it.")
    waiting = sorted((yard.root / f"{STATE}/outbox/candidates").glob("*.md"))
    loop(yard, str(waiting[0].relative_to(yard.root)))
    yard.git("switch", "-q", "-c", "work")
    yard("session", "start").ok()
    assert waiting[1].name in yard("session", "close").ok().err
    assert waiting[0].is_symlink() and (yard.root / CANDIDATES / waiting[1].name).is_file()
