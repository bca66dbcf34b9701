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
