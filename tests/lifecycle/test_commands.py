"""The command line as a whole: words, exits, streams, and commands that only read."""

from __future__ import annotations

import json

import click
import pytest

from kb_plugins.lifecycle.cli.root import majordomus
from kb_plugins.lifecycle.plugin import kb_commands
from tests.lifecycle.yard import CURATED, RECORD, Yard

READING = [("knowledge", name) for name in ("candidates", "check", "validate", "sources", "nodes", "edges", "status")] + [
    ("session", "status"), ("session", "list"), ("task", "status"), ("question", "list"), ("context",), ("doctor",),
    ("watch",), ("check",), ("history",), ("recover", "status"), ("knowledge", "derive", "--dry-run")]
WRITING = [("session", "start"), ("session", "close"), ("start", "x", "--scope", "y"), ("finish", "--outcome", "completed"),
           ("decision", "add", "x", "--why", "y"), ("question", "add", "x"), ("question", "resolve", "1", "--answer", "x"),
           ("knowledge", "derive"), ("knowledge", "promote", "x"), ("knowledge", "reject", "x", "--reason", "y"),
           ("knowledge", "observe", "--kind", "drift", "--subject", "x", "y"), ("knowledge", "record", "x")]


def commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    ctx = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        found += commands(command, (*path, name)) if isinstance(command, click.Group) else [((*path, name), command)]
    return found


def test_every_command_takes_json_but_the_hook(yard: Yard) -> None:
    without = {path for path, command in commands(majordomus) if "json_" not in {param.name for param in command.params}}
    assert without == {("session", "hook"), ("capture", "session")}


def test_every_command_explains_itself_and_refuses_an_option_it_does_not_know(yard: Yard) -> None:
    for path, command in commands(majordomus):
        assert "Usage: majordomus" in yard(*path, "--help").ok().out and command.help
        run = yard(*path, "--no-such-option")
        assert (run.code, run.out) == ((0, "") if path[-1] == "hook" or path[0] == "capture" else (2, "")), path
        assert run.err.strip()


@pytest.mark.parametrize("words", READING)
def test_a_command_that_only_reads_creates_nothing_on_disk(yard: Yard, words: tuple[str, ...]) -> None:
    yard.git("config", "user.name", "x")
    before = yard.tree()
    yard(*words).ok()
    run = yard(*words, "--json").ok()
    assert all(isinstance(json.loads(line), dict) for line in run.out.splitlines())
    assert yard.tree() == before and not (yard.root / ".ai").exists()
    assert ".ai" not in (yard.root / ".git/info/exclude").read_text()


@pytest.mark.parametrize("words", READING + WRITING)
def test_outside_a_repository_every_command_is_2_on_stderr(yard: Yard, words: tuple[str, ...]) -> None:
    plain = yard.root.parent / "plain"
    plain.mkdir()
    run = yard(*words, cwd=plain)
    assert (run.code, run.out, list(plain.iterdir())) == (2, "", []) and "git repository" in run.err


@pytest.mark.parametrize(("words", "hint"), [
    (("knowlege",), "knowledge"), (("knowledge", "promot"), "promote"), (("session", "closed"), "close"),
    (("history", "--evnt", "x"), "--event")])
def test_a_misspelt_word_is_2_with_the_nearest_known_one(yard: Yard, words: tuple[str, ...], hint: str) -> None:
    run = yard(*words)
    assert (run.code, run.out) == (2, "") and hint in run.err


@pytest.mark.parametrize("words", [
    ("decision", "add", "x", "--why", "a", "--why", "b"), ("decision", "add", "x"), ("decision", "add"),
    ("decision", "add", "x", "--why", " "), ("decision", "add", "a\nb", "--why", "x"), ("decision", "add", " ", "--why", "x"),
    ("finish", "--outcome", "done"), ("finish",), ("finish", "--outcome", "blocked", "--note", "absent.md"),
    ("start", "x"), ("start", " ", "--scope", "y"), ("start", "x", "--scope", " "), ("start", "x", "--scope", "a b"),
    ("question", "resolve", "1", "--answer", " "), ("session", "start", "--if-open", "maybe"),
    ("session", "close", "--outcome", "done"), ("knowledge", "edges", "--type", "likes"), ("recover", "everything"),
    ("knowledge", "derive", "extra"), ("knowledge", "reject", "x")])
def test_wrong_words_are_2_and_write_nothing(yard: Yard, words: tuple[str, ...]) -> None:
    run = yard(*words)
    assert (run.code, run.out) == (2, "") and run.err.strip() and "Traceback" not in run.err
    assert not yard.rows()


def test_knowledge_alone_lists_the_sources(yard: Yard) -> None:
    assert yard("knowledge").ok().out == yard("knowledge", "sources").ok().out != ""


def test_a_repository_can_be_named_from_elsewhere(yard: Yard) -> None:
    yard("--repo", str(yard.root), "session", "start", cwd=yard.root.parent).ok()
    assert len(yard.rows("session.started")) == 1
    assert yard("--repo", "absent", "session", "start").code == 2


def test_a_path_below_the_root_is_as_good_as_the_root(yard: Yard) -> None:
    (yard.root / "deep/er").mkdir(parents=True)
    yard("session", "start", cwd=yard.root / "deep/er").ok()
    out = yard("session", "close", cwd=yard.root / "deep/er").ok().out
    assert (yard.root / out.strip()).is_file()


def test_a_record_is_the_same_in_text_and_json_and_says_what_is_missing(yard: Yard) -> None:
    relation = "relations:\n  - type: supports\n    target: rule:none-such\n"
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("provenance:", relation + "provenance:"))
    said = yard("knowledge", "record", "coil-cables", "--json").ok().json()
    assert list(said) == ["id", "uri", "path", "source_class", "class", "status", "epistemics", "origin", "date", "title",
                          "derived_from", "relations", "resolved", "content"]
    assert said["derived_from"] == [
        {"reference": "file:README.md", "resolution": "object", "target": "majordomus://document/README.md"}]
    assert said["relations"][0]["resolution"] == "missing" and said["resolved"] is False
    text = yard("knowledge", "record", "coil-cables").ok().out
    assert "derived_from file:README.md  object  majordomus://document/README.md" in text and text.endswith("resolved     no\n")


def test_a_file_outside_the_index_is_an_external_fact(yard: Yard) -> None:
    yard.write("data.bin", "x")
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("file:README.md", "file:data.bin"))
    [item] = yard("knowledge", "record", "coil-cables", "--json").ok().json()["derived_from"]
    assert item == {"reference": "file:data.bin", "resolution": "external", "target": "data.bin"}


def test_a_session_record_lists_what_changed_but_neither_generated_nor_own_files(yard: Yard) -> None:
    yard.write(".gitattributes", "lock.txt merge=derived\n")
    yard.commit("attributes", ".gitattributes")
    yard.start()
    for name in ("lock.txt", "new file.md", ".ai/repo/sessions/x.md"):
        yard.write(name, "x\n")
    path = yard("session", "close").ok().out.strip()
    assert "changed_files:\n  - new file.md\nsession_id" in yard.read(path) and "\nworking_tree: dirty\n" in yard.read(path)


def test_question_texts_and_answers_survive_and_the_numbers_count_the_open_ones(yard: Yard) -> None:
    yard("start", "Mend", "--scope", "src").ok()
    for text in ("One?", "Two (2)?", "Three?"):
        yard("question", "add", text).ok()
    assert yard("question", "add", "Two (2)?").code == 15
    yard("question", "resolve", "1", "--answer", "yes — truly (1999-01-01)").ok()
    assert [q["question"] for q in yard("question", "list", "--json").json()["questions"]] == ["Two (2)?", "Three?"]
    yard("question", "resolve", "1", "--answer", "no").ok()
    assert [row["question"] for row in yard.rows("question.resolved")] == ["One?", "Two (2)?"]
    assert yard("question", "resolve", "7", "--answer", "x").code == 12


def test_finishing_without_a_task_is_12_and_a_judged_finish_writes_nothing(yard: Yard) -> None:
    assert yard("finish", "--outcome", "completed").code == 12
    yard("start", "Mend", "--scope", "src").ok()
    before = yard.rows()
    yard("finish", "--outcome", "completed", "--check").ok()
    assert yard("finish", "--outcome", "blocked", "--check").code == 10
    assert yard.rows() == before
    assert yard("finish", "--outcome", "completed", "--verify-command", "test -f absent").code == 10
    assert [row["outcome"] for row in yard.rows("task.refused")] == ["completed"]


def test_the_hosts_commands_all_lead_to_a_command(yard: Yard) -> None:
    import importlib

    for command in kb_commands():
        module, _, attribute = command.target.partition(":")
        assert isinstance(getattr(importlib.import_module(module), attribute), click.Command)
        assert command.usage and all(line.startswith(f"kb {command.name}") for line in command.usage)


@pytest.mark.parametrize(("path", "words"), [
    (".ai/local/state/decisions.md", ("decision", "add", "x", "--why", "y")),
    (".ai/local/state/open-questions.md", ("question", "resolve", "1", "--answer", "y"))])
def test_a_file_that_is_not_utf_8_is_not_written_again(yard: Yard, path: str, words: tuple[str, ...]) -> None:
    held = b"# Notes\n\ncaf\xe9\n"
    place = yard.write(path, held)
    said = yard(*words)
    assert said.code == 13 and "is not UTF-8" in said.err and place.read_bytes() == held
