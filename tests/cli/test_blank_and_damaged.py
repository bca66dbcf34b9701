"""Values that are blank, and files that are there and damaged: each is told for what it is, and what can go on goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Shell


@pytest.mark.parametrize("words", [
    "list --kind", "list --stage", "list --provenance", "rejections --lens", "misroute m --owner none --chose",
    "panel a.md --owner", "ingest page.txt --agent"])
@pytest.mark.parametrize("value", ["", "  "])
def test_a_blank_value_can_be_seen_in_the_message(fleet: Shell, words: str, value: str) -> None:
    fleet.write("fleet.txt", "promoter = cat\nreviewer = cat\n")
    fleet.write("page.txt", "Words.\n")
    fleet.write("a.md", "# A\n")
    run = fleet.kb(*words.split(), value, env={"KB_TRUST": "1"})
    assert run.code in (1, 2) and ("''" in run.err or "'  '" in run.err), run


@pytest.mark.parametrize("artifact", ["", "  "])
@pytest.mark.parametrize("rest", [("--owner", "ada"), ("--ledger",), ("--from", "ben", "--nothing"), ("--resolve", "1", "--taken")])
def test_a_blank_artifact_is_no_folder(fleet: Shell, artifact: str, rest: tuple[str, ...]) -> None:
    run = fleet.kb("panel", artifact, *rest)
    assert (run.code, run.out) == (2, "") and "the artifact is blank" in run.err


@pytest.mark.parametrize("lens", ["foo", "Contradictions"])
def test_an_unknown_lens_is_no_empty_list(fleet: Shell, lens: str) -> None:
    run = fleet.kb("rejections", "--lens", lens)
    assert run.code == 2 and f"{lens} is no lens; it is one of contradiction, duplication, scope" in run.err
    fleet.kb("rejections", "--lens", " SCOPE ").ok()


BAD = b"\xff\xfe not text"


@pytest.mark.parametrize("words", ["handoff save ada --task t --session q", "handoff claim ada --session q", "handoff complete --session q",
                                   "handoff --session q --show"])
def test_a_handoff_that_is_no_text_is_left_and_told_as_the_logs_tell_it(fleet: Shell, words: str) -> None:
    path = fleet.write(".kb/sessions/q.handoff.md", BAD)
    run = fleet.kb(*words.split())
    assert run.code == 1 and "codec" not in run.err
    assert f"{path} is not UTF-8 text; it was left as it is; mend it or move it away" in run.err
    assert path.read_bytes() == BAD


def test_a_record_of_a_session_that_is_no_text_is_too(fleet: Shell) -> None:
    path = fleet.write(".kb/sessions/q.events", BAD)
    run = fleet.kb("capture", "--session", "q")
    assert run.code == 1 and "codec" not in run.err
    assert f"{path} is not UTF-8 text; it was left as it is; mend it or move it away" in run.err
    assert path.read_bytes() == BAD


def test_a_base_that_cannot_be_indexed_does_not_stop_the_ones_after_it(fleet: Shell) -> None:
    fleet.write("fleet/ada/.kb", "x\n")
    fleet.write("fleet/eva/.kb", "x\n")
    run = fleet.kb("index")
    assert run.code == 1 and "Traceback" not in run.err
    assert [name for name in ("ada", "eva") if f"indexing {name} failed" not in run.err] == []
    assert "  ben " in run.out and "2 indexes" in run.out
    assert (fleet.root / "fleet/ben/.kb/index.db").is_file() and (fleet.root / "fleet/person/.kb/index.db").is_file()
    alone = fleet.kb("index", "fleet/ada")
    assert (alone.code, alone.out) == (1, "") and "indexing ada failed" in alone.err


def test_a_miss_that_cannot_be_kept_names_its_log_once(fleet: Shell) -> None:
    log = fleet.root / "kb-misses.txt"
    log.mkdir()
    run = fleet.kb("route", "zonk").ok()
    assert run.err.count(str(log)) == 1 and "the miss could not be written" in run.err


def test_complete_refuses_an_answerer_that_reads_no_prompt_before_any_work(fleet: Shell) -> None:
    fleet.write("fleet.txt", "answerer = extractive\n")
    run = fleet.kb("answer", "pump", "--complete")
    assert (run.code, run.out) == (2, "") and "`answerer = extractive` is no model" in run.err
    fleet.kb("answer", "pump").ok()


# -- a damaged index of tantivy ----------------------------------------------------------------------------------------


def _garbage(folder: Path, suffix: str) -> None:
    for path in sorted(folder.iterdir()):
        if path.name.endswith(suffix):
            replacement = path.with_name(".new")
            replacement.write_bytes(b"garbage")
            os.replace(replacement, path)


def _remove(folder: Path, name: str) -> None:
    (folder / name).unlink()


DAMAGE = {"its state": ("kb.json", _garbage), "its list of segments": ("meta.json", _garbage), "its store": (".store", _garbage),
          "its list of segments is gone": ("meta.json", _remove)}


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("choice", ["auto", "tantivy"])
def test_a_damaged_index_is_told_and_under_auto_the_other_one_answers(fleet: Shell, choice: str, kind: str) -> None:
    pytest.importorskip("tantivy")
    env = {"KB_TEXT_BACKEND": choice, "KB_SCORERS": ""}
    fleet.kb("index", env=env).ok()
    name, damage = DAMAGE[kind]
    damage(fleet.root / "fleet/ada/.kb/tantivy", name)
    run = fleet.kb("route", "motor drain", "--hybrid", "--json", env=env)
    [told] = run.json()["skipped"]
    assert told.startswith("ada: ") and "not built" not in told and ("damaged" in told or "gone" in told)
    assert (run.json()["results"] != []) == (choice == "auto")
    assert "the tantivy index" in fleet.kb("route", "motor drain", env=env).err
    fleet.kb("index", env=env).ok()
    assert fleet.kb("route", "motor drain", "--hybrid", "--json", env=env).json()["skipped"] == []


def test_an_index_that_was_never_built_or_is_out_of_step_is_silent_under_auto(fleet: Shell) -> None:
    pytest.importorskip("tantivy")
    env = {"KB_TEXT_BACKEND": "auto", "KB_SCORERS": ""}
    fleet.kb("index", env={**env, "KB_TEXT_BACKEND": "fts5"}).ok()
    assert fleet.kb("route", "motor drain", "--hybrid", "--json", env=env).json()["skipped"] == []
    named = fleet.kb("route", "motor drain", "--hybrid", "--json", env={**env, "KB_TEXT_BACKEND": "tantivy"})
    assert "not built" in named.json()["skipped"][0]
    fleet.kb("index", env=env).ok()
    fleet.write("fleet/ada/knowledge/new.md", "# New\n\n**Search for:** new\n\nA motor.\n")
    fleet.kb("index", env={**env, "KB_TEXT_BACKEND": "fts5"}).ok()
    assert fleet.kb("route", "motor drain", "--hybrid", "--json", env=env).json()["skipped"] == []
