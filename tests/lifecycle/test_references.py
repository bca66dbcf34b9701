"""References resolve in the tree, through history, or not at all."""

from __future__ import annotations

import subprocess

import pytest

from kb_plugins.lifecycle.references import References, Resolution
from tests.lifecycle.yard import CURATED, RECORD, Yard


def resolve(yard: Yard, *references: str) -> list[Resolution]:
    found = References(yard.disk, yard.log).resolve(references)
    return [found[reference] for reference in references]


def hows(yard: Yard, *references: str) -> list[str]:
    return [found.how for found in resolve(yard, *references)]


def test_a_file_that_only_a_merged_branch_held_is_historical(yard: Yard) -> None:
    yard.git("switch", "-q", "-c", "side")
    yard.write("side.md", "side\n")
    yard.commit("side", "side.md")
    yard.git("switch", "-q", "main")
    yard.write("main.md", "main\n")
    yard.commit("main", "main.md")
    yard.git("merge", "-q", "-s", "ours", "-m", "merge that drops the file", "side")
    [found] = resolve(yard, "file:side.md")
    assert found.how == "historical" and yard.git("show", found.target) == "side"


def test_the_newest_commit_that_touched_the_path_answers(yard: Yard) -> None:
    for text in ("one\n", "two\n"):
        yard.write("a.md", text)
        yard.commit(text, "a.md")
    yard.git("rm", "-q", "a.md")
    yard.git("commit", "-q", "-m", "drop")
    [found] = resolve(yard, "file:a.md")
    assert yard.git("show", found.target) == "two"


def test_a_deleted_folder_and_a_renamed_file_are_historical(yard: Yard) -> None:
    yard.write("notes/a.md", "a\n")
    yard.write("b.md", "b\n")
    yard.commit("both", "notes", "b.md")
    yard.git("rm", "-q", "-r", "notes")
    yard.git("mv", "b.md", "c.md")
    yard.git("commit", "-q", "-m", "gone")
    assert hows(yard, "file:notes/", "test:b.md", "file:c.md") == ["historical", "historical", "object"]


def test_a_pin_decides_even_while_the_file_exists_and_a_literal_at_sign_still_works(yard: Yard) -> None:
    before = yard.git("rev-parse", "HEAD")
    yard.write("a.md", "a\n")
    after = yard.commit("a", "a.md")
    yard.write("odd@1234567", "odd\n")
    assert hows(yard, f"file:a.md@{after[:9]}", f"file:a.md@{before}", "file:odd@1234567", "file:a.md@fffffff") == [
        "historical", "missing", "object", "missing"]


@pytest.mark.parametrize("value", ["/etc/passwd", "../outside", "a/../../b", "", "*.md", ":(glob)*.md", "no\x01", "[a]"])
def test_a_path_outside_the_repository_or_a_pattern_resolves_to_nothing(yard: Yard, value: str) -> None:
    yard.write("x.md", "x\n")
    yard.commit("x", "x.md")
    yard.git("rm", "-q", "x.md")
    yard.git("commit", "-q", "-m", "drop")
    assert hows(yard, f"file:{value}") == ["missing"]


def test_accents_blanks_and_quotes_in_a_path_are_only_characters(yard: Yard) -> None:
    names = ["é ü.md", 'quo"te.md', "tab-less 'x'.md"]
    for name in names:
        yard.write(name, "x\n")
    yard.commit("odd names", *names)
    yard.git("rm", "-q", *names)
    yard.git("commit", "-q", "-m", "drop")
    assert hows(yard, *(f"file:{name}" for name in names)) == ["historical"] * 3


def test_typed_kinds_resolve_where_their_records_stand(yard: Yard) -> None:
    head = yard.git("rev-parse", "HEAD")
    yard.write(".ai/repo/knowledge/curated/coil-cables.md", RECORD)
    yard.write(".ai/repo/rules/a/naming.md", "---\nid: yard.naming\n---\n# N\n")
    yard.write(".ai/repo/adrs/0001.md", "---\nid: \"0001\"\n---\n# A\n")
    yard.write(".ai/repo/project/issues/i.yaml", "id: I0042\ntitle: x\n")
    assert hows(yard, "knowledge:coil-cables", "rule:yard.naming", "adr:0001", "issue:I0042", f"commit:{head}",
                f"commit:{head[:8]}") == ["object"] * 4 + ["external"] * 2
    assert hows(yard, "knowledge:../x", "rule:none-such", "commit:" + "0" * 40, "task:none", "gate:x", "plain",
                "commit:--help", "session:") == ["missing"] * 8


def test_sessions_and_tasks_are_witnessed_by_ledger_open_file_note_and_record(yard: Yard) -> None:
    episode = yard.start()
    yard("start", "Mend", "--scope", "src").ok()
    [task] = [row["task_id"] for row in yard.rows("task.started")]
    assert hows(yard, f"session:{episode}", f"task:{task}", f"decision:{task}") == ["external"] * 3
    yard("session", "close").ok()
    (yard.root / ".ai/local/state/ledger.jsonl").unlink()
    (yard.root / ".ai/local/state/current.yaml").unlink()
    assert hows(yard, f"session:{episode}", f"task:{task}") == ["object", "object"]
    assert hows(yard, "session:s-mentioned") == ["missing"]
    yard.note("decision.recorded", None, task_id="none", decision="about s-mentioned and t-mentioned")
    assert hows(yard, "session:s-mentioned", "task:t-mentioned") == ["missing", "missing"]


def test_a_partial_clone_asks_nobody_for_what_it_left_out(yard: Yard) -> None:
    yard.write("a.md", "a\n")
    yard.commit("a", "a.md")
    yard.git("rm", "-q", "a.md")
    yard.git("commit", "-q", "-m", "drop")
    yard.git("config", "uploadpack.allowFilter", "true")
    yard.git("clone", "-q", "--filter=blob:none", f"file://{yard.root}", "../partial")
    yard.root = yard.root.parent / "partial"
    before = sorted(p.name for p in (yard.root / ".git/objects").rglob("*"))
    assert hows(yard, "file:a.md", "commit:HEAD", "commit:" + "1" * 40) == ["historical", "external", "missing"]
    assert sorted(p.name for p in (yard.root / ".git/objects").rglob("*")) == before


def test_a_history_that_git_cannot_walk_is_no_missing_reference(yard: Yard) -> None:
    yard.write("a.md", "a\n")
    first = yard.git("rev-parse", "HEAD")
    yard.commit("a", "a.md")
    path = yard.root / ".git/objects" / first[:2] / first[2:]
    path.chmod(0o644)
    path.unlink()
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("file:README.md", "file:gone.md"))
    said = yard("knowledge", "check", "--json")
    assert (said.code, [row["code"] for row in said.json()["findings"]]) == (10, ["validator"])


def test_an_unborn_repository_has_no_history_and_says_so(yard: Yard, tmp_path: object) -> None:
    empty = yard.root.parent / "empty"
    subprocess.run(["git", "init", "-q", str(empty)], check=True)
    yard.root = empty
    assert hows(yard, "file:a.md", "commit:HEAD") == ["missing", "missing"]
    yard("session", "start").ok()
    yard("decision", "add", "Begin", "--why", "x").ok()
    assert yard("session", "close").ok().out.startswith(".ai/repo/sessions/")
    assert {row["head"] for row in yard.rows()} == {"NONE"}
