"""Every code on its own fixture: fixtures/<code>/base is a base, expected.txt states all that `kb check` finds there.

A line of expected.txt is `CODE place | words of the message`. A file called dot-gitignore stands for .gitignore.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from kb.app import open_app
from kb.host import Host, discover, open_host
from kb.ops.check import Finding, Grade, check
from kb.specs import Check
from tests.conftest import Shell

KB = f"{shlex.quote(sys.executable)} -m kb"
FIXTURES = Path(__file__).with_name("fixtures")
CODES = sorted(path.name.upper() for path in FIXTURES.iterdir())
FIFTEEN = ["E01", "E02", "E04", "E05", "E06", "E08", "E09", "W01", "W03", "W04", "W05", "W06", "W07", "W08", "W09"]


def host() -> Host:
    return open_host(pytest.fail, {"KB_PLUGINS_ONLY": "builtin"})


def grade(root: Path, include_private: bool = False, **settings: list[str]) -> Grade:
    return check(open_app([str(root)], include_private, host=host()), **settings)


def base_of(code: str, tmp_path: Path) -> Path:
    root = tmp_path / "base"
    shutil.copytree(FIXTURES / code.lower() / "base", root)
    for path in list(root.rglob("dot-gitignore")):
        path.rename(path.with_name(".gitignore"))
    return root


def place_of(finding: Finding) -> str:
    return finding.file if finding.line == 0 else f"{finding.file}:{finding.line}"


def expected(code: str) -> list[tuple[str, str, str]]:
    found = []
    for line in (FIXTURES / code.lower() / "expected.txt").read_text(encoding="utf-8").splitlines():
        head, _, words = line.partition(" | ")
        code_, _, place = head.removesuffix(" |").partition(" ")
        found.append((code_, place, words))
    return found


def test_there_is_a_fixture_for_each_of_the_fifteen_codes() -> None:
    assert CODES == FIFTEEN
    assert all(any(found == code for found, _, _ in expected(code)) for code in CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_code_finds_what_its_fixture_states_and_nothing_else(code: str, tmp_path: Path) -> None:
    findings = list(grade(base_of(code, tmp_path)).findings)
    wanted = expected(code)
    assert sorted((finding.code, place_of(finding)) for finding in findings) == sorted((c, place) for c, place, _ in wanted)
    unused = list(findings)
    for code_, place, words in wanted:
        match = next((f for f in unused if (f.code, place_of(f)) == (code_, place) and words in f.message), None)
        assert match is not None, f"{code_} {place} has no message with {words!r}: {[f.message for f in unused]}"
        unused.remove(match)


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_one_module_that_says_what_it_asks_and_reads_through_the_door_alone(code: str) -> None:
    plugin = next(p for p in discover() if p.name == code.lower())
    source = Path(__import__("importlib").import_module(plugin.value).__file__ or "").read_text(encoding="utf-8")
    (spec,) = [item for item in host().specs("kb_checks", Check, lambda item: item.code) if item.code == code]
    assert plugin.value == f"kb_plugins.checks.{code.lower()}_{spec.slug.replace('-', '_')}"
    assert spec.level == ("error" if code.startswith("E") else "warning")
    assert spec.doc.startswith(f"{code} {spec.slug}: ") and spec.doc.count("\n") >= 3
    imports = [line for line in source.splitlines() if line.startswith(("from kb", "import kb"))]
    assert all(line.startswith("from kb.api import ") for line in imports)


@pytest.mark.parametrize("code", CODES)
def test_a_check_changes_nothing_on_disk(code: str, tmp_path: Path) -> None:
    root = base_of(code, tmp_path)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    grade(root, True)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_no_private_path_is_named_without_all(tmp_path: Path) -> None:
    for code in CODES:
        root = base_of(code, tmp_path / code)
        for finding in grade(root).findings:
            text = f"{finding.file} {finding.message}"
            assert "diary" not in text and "profile/plan" not in text and "2026-09-01" not in text, (code, text)


def test_no_private_file_of_any_kind_is_named_without_all(sh: Shell) -> None:
    sh.write("base/agent.txt", "role = keeps\n")
    sh.write("base/MAP.md", "# Map\n")
    sh.write("base/knowledge/a.md", "# A\n\n**Search for:** `plan`\n\n![[plan.png]]\n")
    for path in ("assets/plan.png", "records/divorce/plan.png"):
        sh.write(f"base/{path}", "x")
    os.mkfifo(sh.root / "base/records/secret-pipe.md")
    (sh.root / "base/records/secret-nowhere.md").symlink_to("gone")
    (sh.root / "base/records/secret-outside.md").symlink_to(sh.write("outside.md", "x"))
    os.close(os.open(os.fsencode(sh.root / "base/records") + b"/secret\xe9.md", os.O_CREAT))
    for format_ in ("text", "json", "github", "sarif"):
        done = sh.kb("check", "base", "--format", format_)
        assert "secret" not in done.out + done.err and "divorce" not in done.out + done.err, format_
    shown = sh.kb("check", "base", "--all")
    assert shown.out.count("secret") == 4 and "divorce" in shown.out


def test_a_file_that_cannot_be_graded_is_told_in_every_format(sh: Shell) -> None:
    sh.write("base/latin.md", b"caf\xe9 [[gone]]\n")
    for format_ in ("text", "json", "github", "sarif"):
        done = sh.kb("check", "base", "--select", "E01", "--format", format_)
        assert "latin.md" in done.out + done.err and "not UTF-8" in done.out + done.err, format_


def test_a_reader_that_leaves_does_not_turn_errors_into_success(sh: Shell) -> None:
    for number in range(300):
        sh.write(f"base/n{number}.md", f"# N\n\n[[missing-{number}]]\n")
    for format_ in ("text", "json", "github", "sarif"):
        piped = sh.run("bash", "-c", f"set -o pipefail; {KB} check base --format {format_} | head -c 1")
        assert piped.code == 1, format_
    assert sh.run("bash", "-c", f"set -o pipefail; {KB} check base --select E09 | head -c 1").code == 0


def test_a_file_of_any_ending_may_be_meant_and_a_vault_knows_no_case(sh: Shell) -> None:
    for name in ("board.canvas", "data.geojson", "drawing.drawio", "img/photo.png"):
        sh.write(f"vault/{name}", "x")
    sh.write("vault/note.md", "[[board.canvas]] [[data.geojson]] [[drawing.drawio]] ![[Photo.PNG]] ![[img/Photo.png]] [[none.canvas]]\n")
    assert [f.message for f in grade(sh.root / "vault", select=["E01"]).findings] == [
        "[[none.canvas]] is broken: there is no none.canvas and no none.canvas.md in this base"]


def test_names_are_the_same_however_their_accents_are_composed(sh: Shell) -> None:
    sh.write("base/agent.txt", "role = keeps\n")
    sh.write("base/Sa\u0303o.md", "# S\n")
    sh.write("base/cafe\u0301.png", "x")
    sh.write("base/note.md", "[[S\u00e3o]] ![[caf\u00e9.png]]\n")
    assert list(grade(sh.root / "base", select=["E01"]).findings) == []


@pytest.mark.parametrize(("rules", "covered"), [
    ("note.md\n", False), ("any\n", False), ("any/\n", False), ("*.md\n", False), ("records/*.md\n", False),
    ("records/\n", True), ("/records/**\n", True), ("records/*\n", True), ("*\n", True)])
def test_a_private_folder_is_covered_when_whatever_it_holds_is_ignored(sh: Shell, rules: str, covered: bool) -> None:
    sh.write("base/agent.txt", "role = keeps\nprivate = records\n")
    sh.write("base/records/x.md", "x")
    sh.write("base/.gitignore", rules)
    assert (list(grade(sh.root / "base", select=["W08"]).findings) == []) is covered


def test_a_folder_whose_name_is_not_utf_8_has_a_sarif_log(sh: Shell) -> None:
    os.mkdir(os.fsencode(sh.root) + b"/caf\xe9")
    with open(os.fsencode(sh.root) + b"/caf\xe9/a.md", "w") as file:
        file.write("[[gone]]\n")
    done = sh.run("bash", "-c", f"{KB} check caf* --select E01 --format sarif")
    assert done.code == 1 and "caf%E9/a.md" in done.out


def test_a_file_is_found_by_the_name_of_a_link_to_it(sh: Shell) -> None:
    sh.write("base/agent.txt", "role = keeps\n")
    sh.write("base/knowledge/real.md", "# R\n")
    (sh.root / "base/knowledge/alias.md").symlink_to("real.md")
    (sh.root / "base/real.md").symlink_to("knowledge/real.md")
    sh.write("base/note.md", "[[alias]] and [[real]]\n")
    assert list(grade(sh.root / "base", select=["E01", "W01"]).findings) == []
