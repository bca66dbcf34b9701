"""What a record must be: a fixture for every family of faults, and the K codes that kb check gives them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kb.app import open_app
from kb.ops.check import check
from kb_plugins.lifecycle.checks import CODES, checks
from kb_plugins.lifecycle.integrity import FAMILIES
from tests.lifecycle.yard import CANDIDATES, CURATED, RECORD, Yard

# family -> replacements that make a sound record fail in it, and in nothing else
FAULTS: dict[str, list[tuple[str, str]]] = {
    "shape": [("---\nschema:", "schema:"), ("kind: knowledge", "\tkind: knowledge"), ("date: ", "date: 1\ndate: ")],
    "unknown_key": [("date:", "colour: red\ndate:"), ("  origin:", "  by: me\n  origin:"), ("date:", "route: project\ndate:"),
                    ("date:", "about: \"no subject\"\ndate:")],
    "schema": [("knowledge/v1", "knowledge/v2"), ("schema: knowledge/v1\n", "")],
    "kind": [("kind: knowledge", "kind: note")],
    "id": [("id: coil-cables", "id: coil-ropes"), ("id: coil-cables\n", "")],
    "title": [('title: "Cables are coiled clockwise"', 'title: ""')],
    "description": [('description: "So that the next shift finds the end."\n', "")],
    "class": [("class: convention", "class: rule")],
    "epistemics": [("epistemics: decided", "epistemics: guessed")],
    "status": [("status: verified", "status: done"), ("status: verified", "status: candidate")],
    "date": [("2026-09-01", "2026/09/01"), ("2026-09-01", "2026-13-45"), ("2026-09-01", "2026-9-1")],
    "tags": [("  - yard", "  - Yard"), ("  - yard", "  - a b")],
    "provenance": [("origin: authored", "origin: rumour"), ("  origin: authored\n", ""),
                   ("origin: authored\n  derived_from:\n    - file:README.md", "origin: extracted")],
    "superseded_by": [("status: verified", "status: verified\nsuperseded_by: other"),
                      ("status: verified", "status: superseded\nsuperseded_by: A B")],
    "superseded": [("status: verified", "status: superseded")],
    "reference": [("file:README.md", "file:never.md"), ("file:README.md", "task:none"), ("file:README.md", "README.md"),
                  ("file:README.md", "gate:x"), ("file:README.md", "File:README.md")],
    "relation": [("provenance:", "relations:\n  - type: mentions\n    target: file:README.md\nprovenance:")],
    "transcript": [("\nSo that", "\nassistant: So that"), ('description: "So', 'description: "completion So'),
                   ('title: "Cables', 'title: "response: Cables')],
}
CASES = [(family, old, new) for family, pairs in FAULTS.items() for old, new in pairs]


@pytest.mark.parametrize(("family", "old", "new"), CASES)
def test_each_fault_has_its_own_code(yard: Yard, family: str, old: str, new: str) -> None:
    assert old in RECORD
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace(old, new, 1))
    said = yard("knowledge", "check", "--json")
    assert (said.code, [fault["code"] for fault in said.json()["findings"]]) == (10, [family])
    assert codes(yard) == {f"K{FAMILIES[family]:02}"}


def test_one_id_in_two_files_is_a_finding_on_each_and_verified_is_refused_among_candidates(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD)
    yard.write(f"{CANDIDATES}/coil-cables.md", RECORD.replace("status: verified", "status: candidate"))
    found = yard("knowledge", "check", "--json").json()["findings"]
    assert [(fault["path"].split("/")[-2], fault["code"]) for fault in found] == [
        ("candidates", "duplicate_id"), ("curated", "duplicate_id")]
    yard.write(f"{CANDIDATES}/coil-cables.md", RECORD.replace("coil-cables", "other"))
    assert "status" in {fault["code"] for fault in yard("knowledge", "check", "--json").json()["findings"]}


def test_judging_that_fails_reports_every_record_and_never_passes(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("file:README.md", "commit:HEAD"))
    from kb_plugins.lifecycle.git import Checkout, GitError

    def broken(*_: object) -> dict[str, str]:
        raise GitError("git cat-file: the object store is unreadable")

    monkeypatch.setattr(Checkout, "commits", broken)
    said = yard("knowledge", "check", "--json")
    assert (said.code, [fault["code"] for fault in said.json()["findings"]]) == (10, ["validator"])


def test_every_family_has_a_k_code_and_there_are_nineteen(yard: Yard) -> None:
    assert [check.code for check in checks()] == [f"K{number:02}" for number in range(1, 20)]
    assert {family for code in CODES for family in code.families} == set(FAMILIES)
    assert all(int(code.code[1:]) == FAMILIES[family] for code in CODES for family in code.families)


def test_a_base_outside_any_such_repository_has_no_k_finding(yard: Yard) -> None:
    assert codes(yard) == set()
    outside = yard.root.parent / "plain"
    outside.mkdir()
    assert codes(yard, str(outside)) == set()


def test_contracts_latin_text_and_nul_bytes_are_told_apart(yard: Yard) -> None:
    yard.write(f"{CURATED}/README.md", "---\nkind: context\n---\n\n# About\n")
    yard.write(f"{CURATED}/latin.md", RECORD.encode().replace(b"shift", b"caf\xe9"))
    yard.write(f"{CURATED}/coil-cables.md", b"\xef\xbb\xbf" + RECORD.replace("\n\nSo", "\n\n\x00So").encode())
    said = yard("knowledge", "check", "--json").json()
    assert (said["records"], [(f["path"][-8:], f["code"]) for f in said["findings"]]) == (2, [("latin.md", "shape")])


class View:
    """As much of a base under check as the K codes look at."""

    def __init__(self, root: object, run: dict[str, Any] | None = None) -> None:
        self.base = SimpleNamespace(root=str(root))
        self.run = {} if run is None else run

    def found(self) -> set[tuple[str, str]]:
        return {(check.code, problem.file) for check in checks() for problem in check.run(cast(Any, self))}


def codes(yard: Yard, base: str = "") -> set[str]:
    return {code for code, _ in View(base or yard.root.resolve()).found()}


def test_records_outside_every_base_of_a_run_are_named_by_one_of_them(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    for name in ("ana", "bo"):
        yard.write(f"fleet/{name}/agent.txt", "name = x\n")
    root = yard.root.resolve()
    run: dict[str, Any] = {}
    ana, bo, curated = View(root / "fleet/ana", run), View(root / "fleet/bo", run), View(root / CURATED, run)
    assert ana.found() == {("K09", f"../../{CURATED}/coil-cables.md")} and bo.found() == set()
    assert curated.found() == {("K09", "coil-cables.md")}
    assert View(root / "fleet/bo").found() == {("K09", f"../../{CURATED}/coil-cables.md")}  # another run


def test_a_second_check_of_one_process_finds_the_same_and_what_is_new(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    app = open_app([str(yard.root)])
    def found() -> list[str]:
        return sorted(finding.code for finding in check(app).findings if finding.code.startswith("K"))
    assert found() == found() == ["K09"]
    yard.write(f"{CURATED}/other.md", RECORD.replace("class: convention", "class: rule"))
    assert set(found()) > {"K09"}


def test_a_repository_that_git_refuses_is_not_a_clean_pass(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD)
    monkeypatch.setenv("PATH", "/nowhere")
    assert View(yard.root.resolve()).found() == {("K19", ".ai/repo/knowledge")}
