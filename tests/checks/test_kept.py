"""An indexed base is graded by what `kb index` kept of its notes, and the grade is the same as from the files."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from kb.store import checked
from kb.store.fleet import open_fleet
from tests.checks.test_codes import CODES, base_of, grade
from tests.conftest import Shell, note

VAULTS = ["eips", "foam", "jackyzha0", "react-ptbr", "rust-book", "zk-ronghuan-zh"]


def aged(root: Path) -> None:
    for path in root.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def unread(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that a grade parses from here on."""
    seen: list[str] = []
    parse = checked._parse

    def watch(root: str, paths: list[str]) -> list[checked.Parsed | str]:
        seen.extend(paths)
        return parse(root, paths)

    monkeypatch.setattr(checked, "_parse", watch)
    return seen


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("include_private", [False, True])
def test_a_fixture_gets_the_same_findings_before_and_after_it_is_indexed(code: str, include_private: bool, tmp_path: Path,
                                                                         sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    root = base_of(code, tmp_path)
    aged(root)
    before = grade(root, include_private)
    sh.kb("index", *(["--all"] if include_private else []), str(root)).ok()
    read = unread(monkeypatch)
    after = grade(root, include_private)
    assert list(after.findings) == list(before.findings) and after.bases[0].files == before.bases[0].files
    private = {path for path in read if not include_private}  # what is out of scope is not in the cache
    assert set(read) <= private


@pytest.mark.parametrize("vault", VAULTS)
def test_a_vault_gets_the_same_findings_before_and_after_it_is_indexed(vault: str, data: Path, tmp_path: Path, sh: Shell,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / vault
    shutil.copytree(data / "vaults" / vault, root)
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o755)  # the collections may be read-only, and so is their copy
    aged(root)
    before = list(grade(root).findings)
    sh.kb("index", str(root)).ok()
    read = unread(monkeypatch)
    assert list(grade(root).findings) == before and read == []


def test_a_note_that_changed_since_it_was_indexed_is_read(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        sh.write(f"base/knowledge/{name}.md", note(name.title(), "pump, pressure", "say.", "## S\n\nText."))
    aged(sh.root / "base")
    sh.kb("index", "base").ok()
    sh.write("base/knowledge/two.md", note("Two", "pump, pressure", "say.", "## S\n\nSee [[nowhere]]."))
    sh.write("base/knowledge/four.md", note("Four", "the", "say.", "## S\n\nText."))
    (sh.root / "base/knowledge/three.md").unlink()
    read = unread(monkeypatch)
    found = {(finding.code, finding.file) for finding in grade(sh.root / "base").findings if finding.code in ("E01", "W07")}
    assert found == {("E01", "knowledge/two.md"), ("W07", "knowledge/four.md")}
    assert sorted(read) == ["knowledge/four.md", "knowledge/two.md"]


def test_a_cache_that_is_damaged_costs_time_and_no_finding(sh: Shell) -> None:
    sh.write("base/knowledge/one.md", note("One", "pump, the", "say.", "## S\n\nSee [[nowhere]]."))
    aged(sh.root / "base")
    before = list(grade(sh.root / "base").findings)
    sh.kb("index", "base").ok()
    with sqlite3.connect(sh.root / "base/.kb/entries.db") as db:
        db.execute("UPDATE notes SET content = '[1, 2'")
    assert list(grade(sh.root / "base").findings) == before
    with sqlite3.connect(sh.root / "base/.kb/entries.db") as db:
        db.execute("DROP TABLE notes")
    assert list(grade(sh.root / "base").findings) == before


def test_a_third_partys_check_may_ask_for_the_text_of_a_note_that_was_not_read(sh: Shell) -> None:
    sh.write("base/knowledge/one.md", note("One", "pump", "say.", "## S\n\nTODO mend it."))
    aged(sh.root / "base")
    sh.kb("index", "base").ok()
    view = checked.CheckedBase(open_fleet([str(sh.root / "base")]).bases[0], False)
    assert ["TODO mend it." in item.text for item in view.notes] == [True] and view.notes[0].lines()[0] == "# One"


def test_a_base_that_was_never_indexed_is_checked_without_a_database(sh: Shell) -> None:
    sh.write("base/knowledge/one.md", note("One", "pump", "say.", "## S\n\nText."))
    script = "import sys; from kb.cli.main import main; main(['check', 'base']); print('sqlite3' in sys.modules, file=sys.stderr)"
    assert sh.run(sys.executable, "-c", script).err.splitlines()[-1] == "False"
