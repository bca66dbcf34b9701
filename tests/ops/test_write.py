"""`kb write`: the note and its map entry, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kb.app import open_app
from kb.core.draft import NoteDraft
from kb.core.markdown import scan
from kb.errors import KbError
from kb.ops.named_base import NoAgent
from kb.ops.write import BadDraft, Dashes, DeadKeys, NoMap, NoteExists, Refused, write_note
from tests.conftest import Shell

TEXT = "Cut, grease, press."


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.endswith(".lock")}


def draft(**changes: object) -> NoteDraft:
    fields: dict[str, object] = {"agent": "ada", "slug": "seals", "keys": ["cracked seal"], "summary": "how a seal is replaced",
                                 "body": TEXT}
    return NoteDraft(**{**fields, **changes})  # type: ignore[arg-type]


def write(sh: Shell, **changes: object) -> str:
    written = write_note(open_app([str(sh.root)]), draft(**changes))
    return Path(written.note_file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("changes", "error"), [
    ({"keys": ["esc\x1b[31m red"]}, BadDraft), ({"keys": ["cracked \u202eseal"]}, BadDraft), ({"summary": "a\x07 bell"}, BadDraft),
    ({"slug": "../../y"}, BadDraft), ({"slug": "a b"}, BadDraft), ({"slug": "-a"}, BadDraft), ({"slug": ""}, BadDraft),
    ({"slug": "a" * 41}, BadDraft), ({"slug": "ação"}, BadDraft), ({"slug": "a.b"}, BadDraft), ({"slug": "A"}, BadDraft),
    ({"slug": "readme"}, BadDraft), ({"slug": "map"}, BadDraft), ({"slug": "agents"}, BadDraft),
    ({"keys": []}, BadDraft), ({"keys": [",,, ;"]}, BadDraft), ({"keys": ["`` "]}, BadDraft),
    ({"keys": ["the", "what is"]}, DeadKeys), ({"keys": ["a"]}, DeadKeys), ({"keys": ["#"]}, DeadKeys),
    ({"body": " \n\t"}, BadDraft), ({"summary": ""}, BadDraft), ({"summary": " . "}, BadDraft), ({"summary": "\u00a0"}, BadDraft),
    ({"provenance": "machine"}, BadDraft), ({"stage": "rew"}, BadDraft), ({"stage": "Raw"}, BadDraft),
    ({"body": "one \u2014 two"}, Dashes), ({"summary": "one \u2013 two"}, Dashes), ({"keys": ["one\u2014two three"]}, Dashes),
    ({"folder": "../eva"}, BadDraft), ({"folder": "/etc"}, BadDraft), ({"folder": "a/../../x"}, BadDraft),
    ({"folder": "a\\..\\..\\x"}, BadDraft), ({"folder": ".kb"}, BadDraft), ({"folder": "knowledge/node_modules"}, BadDraft),
    ({"folder": "a\nb"}, BadDraft), ({"folder": "a\x00b"}, BadDraft),
    ({"agent": "nobody"}, NoAgent), ({"agent": "../eva"}, NoAgent), ({"slug": "pump"}, NoteExists),
    ({"slug": "pump", "folder": "elsewhere"}, NoteExists),
])
def test_a_refusal_is_its_own_error_and_leaves_the_disk_as_it_was(fleet: Shell, changes: dict[str, object],
                                                                 error: type[KbError]) -> None:
    before = snapshot(fleet.root)
    with pytest.raises(error) as told:
        write(fleet, **changes)
    assert "\n" not in str(told.value) and snapshot(fleet.root) == before


def test_only_words_about_the_content_are_a_reviewers_refusal() -> None:
    assert issubclass(DeadKeys, Refused) and issubclass(Dashes, Refused)
    assert not issubclass(NoteExists, Refused) and not issubclass(NoAgent, Refused) and not issubclass(NoMap, Refused)


def test_a_base_without_a_map_is_refused_and_any_of_the_three_names_is_a_map(fleet: Shell) -> None:
    map_ = fleet.root / "fleet/ada/MAP.md"
    map_.rename(fleet.root / "fleet/ada/MAPA.md")
    write(fleet)
    assert "[[seals]]" in fleet.read("fleet/ada/MAPA.md") and not map_.exists()
    (fleet.root / "fleet/ada/MAPA.md").unlink()
    with pytest.raises(NoMap):
        write(fleet, slug="other")


def test_front_matter_of_the_body_is_merged_and_never_stacked(fleet: Shell) -> None:
    text = write(fleet, body="---\nstage: raw\ntags:\n  - sealing\nprovenance: human\ntitle: A: B\n---\n\n# Seals\n\n" + TEXT)
    assert text.startswith("---\nprovenance: agent\nstage: derived\ntags:\n  - sealing\ntitle: A: B\n---\n\n# Seals\n\n")
    assert text.count("\n---\n") == 1 and text.count("provenance") == 1


@pytest.mark.parametrize("body", ["\ufeff---\nstage: raw\n---\nText.", "---\r\nstage: raw\r\n---\r\nText.", "---\nnever closed\n\nText.",
                                  "---\n\nA rule first.", "Text.\n---\nnot front matter\n---\n"])
def test_whatever_opens_the_body_the_note_has_one_front_matter_and_its_keys(fleet: Shell, body: str) -> None:
    text = write(fleet, body=body)
    assert text.startswith("---\nprovenance: agent\nstage: derived\n---\n\n# Seals\n\n**Search for:** `cracked seal`\n\n")
    assert "\ufeff" not in text and "\r" not in text and ("Text." in text or "A rule first." in text)


def test_values_on_one_line_stay_on_one_line(fleet: Shell) -> None:
    text = write(fleet, summary="one\nprovenance: human\r\n\u2028two.", captured_from=" inbox/a.md\nstage: raw ",
                 keys=["cracked\nseal", "worn\tseal, `third`key"])
    head = text.split("\n# ")[0]
    assert head == "---\nprovenance: agent\nstage: derived\ncaptured_from: inbox/a.md stage: raw\n---\n"
    assert "**Exists to:** one provenance: human two\n" in text
    assert "**Search for:** `cracked seal`, `worn seal`, `third key`" in text


def test_the_title_of_the_body_becomes_the_title_and_leaves_the_body(fleet: Shell) -> None:
    assert write(fleet, body="Intro.\n\n# Worn seals #\n\n" + TEXT).count("Worn seals") == 1
    assert "# Underlined\n\n**Search" in write(fleet, slug="second", body="Underlined\n===\n\nText.")
    assert "# Third one\n\n**Search" in write(fleet, slug="third-one", body="```\n# a comment\n```\n")


def test_a_reader_finds_the_note_by_its_keys_at_once(fleet: Shell) -> None:
    write(fleet)
    answer = fleet.kb("route", "what about a cracked seal", "--json").ok().json()
    assert isinstance(answer, dict) and answer["verdict"] == "hit"


def test_dead_keys_are_left_out_and_told(fleet: Shell) -> None:
    written = write_note(open_app([str(fleet.root)]), draft(keys=["cracked seal, the, what is it", "worn seal", "cracked seal"]))
    assert written.dropped == ("the", "what is it")
    assert "**Search for:** cracked seal, worn seal" in fleet.read("fleet/ada/MAP.md")


def test_the_section_of_a_folder_ends_at_a_heading_of_its_level_or_above(fleet: Shell) -> None:
    fleet.write("fleet/ada/MAP.md", "# Ada\r\n\r\n### knowledge/\r\n\r\n- **[[pump]]** x\r\n\r\n#### detail\r\n\r\nmore\r\n\r\n"
                                    "## Elsewhere\r\n\r\n```\r\n### knowledge/\r\n```\r\n")
    write(fleet)
    text = (fleet.root / "fleet/ada/MAP.md").read_bytes().decode()
    assert "more\r\n- **[[seals]]** how a seal is replaced\r\n  **Search for:** cracked seal\r\n\r\n## Elsewhere" in text
    assert "\n" not in text.replace("\r\n", "")


def test_a_map_that_is_not_utf8_is_left_alone(fleet: Shell) -> None:
    data = b"# Caf\xe9\n"
    fleet.write("fleet/ada/MAP.md", data)
    with pytest.raises(KbError, match="not UTF-8"):
        write(fleet)
    assert (fleet.root / "fleet/ada/MAP.md").read_bytes() == data and not (fleet.root / "fleet/ada/knowledge/seals.md").exists()


def test_a_map_that_cannot_be_written_takes_the_note_and_its_new_folder_back(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.store.files import write_atomic as real

    def refusing(path: str, data: bytes | str) -> None:
        if str(path).endswith("MAP.md"):
            raise OSError(28, "No space left on device", str(path))
        real(path, data)
    monkeypatch.setattr("kb.ops.write.write_atomic", refusing)
    before = snapshot(fleet.root)
    with pytest.raises(KbError, match="No space left"):
        write(fleet, folder="new/deep")
    assert snapshot(fleet.root) == before and not (fleet.root / "fleet/ada/new").exists()


def test_a_folder_that_is_a_link_out_of_the_base_is_refused(fleet: Shell) -> None:
    (fleet.root / "outside").mkdir()
    (fleet.root / "fleet/ada/out").symlink_to(fleet.root / "outside")
    with pytest.raises(BadDraft):
        write(fleet, folder="out")
    assert list((fleet.root / "outside").iterdir()) == []


@pytest.mark.parametrize("folder", ["knowledge/", "knowledge\\pumps", "./knowledge", "knowledge//pumps"])
def test_a_folder_is_written_in_any_of_its_spellings(fleet: Shell, folder: str) -> None:
    written = write_note(open_app([str(fleet.root)]), draft(folder=folder))
    assert written.path in ("knowledge/seals.md", "knowledge/pumps/seals.md")
    assert written.heading == f"### {written.path.rpartition('/')[0]}/"


def test_the_agent_is_found_in_a_loose_fleet_and_among_attached_bases_and_in_any_case(fleet: Shell) -> None:
    fleet.write("loose/zed/agent.txt", "name = Zed\n")
    fleet.write("loose/zed/MAP.md", "# Zed\n")
    fleet.write("fleet.txt", "attach = loose/zed\n")
    write(fleet, agent="ZED")
    assert (fleet.root / "loose/zed/knowledge/seals.md").is_file()
    fleet.kb("write", "zed", "again", "loose", "--keys", "again", "--summary", "s", stdin=TEXT).ok()
    fleet.kb("write", "zed", "here", ".", "--keys", "here is", "--summary", "s", stdin=TEXT, cwd=fleet.root / "loose/zed")


def test_a_body_that_is_not_utf8_is_refused(fleet: Shell) -> None:
    done = fleet.kb("write", "ada", "seals", "--keys", "seal", "--summary", "s", stdin=b"caf\xe9")
    assert done.code == 1 and "UTF-8" in done.err and "bug" not in done.err


def test_hostile_key_lists_end_in_bounded_time(fleet: Shell) -> None:
    text = write(fleet, keys=[",".join(["x"] * 10_000) + ", seal"])
    assert text.count("`seal`") == 1


def test_the_demo_is_what_its_page_says(sh: Shell) -> None:
    import shutil

    from tests.conftest import REPOSITORY

    shutil.copytree(REPOSITORY / "examples/demo", sh.root / "demo", ignore=shutil.ignore_patterns(".kb", "kb-*s.txt"))
    assert "warn" not in sh.kb("check", "demo", "--all", "--strict").ok().out
    sh.kb("index", "demo").ok()
    for scorers in ("classic", "default"):
        for question, verdict in (("my sourdough starter smells of acetone, is it dead?", "hit"),
                                  ("what comes after the harvest?", "guess"), ("how do I renew my passport?", "nothing")):
            answer = sh.kb("route", question, "demo", "--json", env={"KB_SCORERS": scorers}).ok().json()
            assert isinstance(answer, dict) and answer["verdict"] == verdict, (question, scorers)
        graded = sh.kb("eval", "demo/gold.tsv", "demo", env={"KB_SCORERS": scorers}).ok().out
        assert "keyword 10/10" in graded and "refused 3" in graded


@pytest.mark.parametrize("body", [
    "---\n\nThe lathe arrived on Monday.\n\n---\n\nText.", "---\n# The lathe arrived on Monday.\n  indented\n---\nText.",
    "---\nIt was said: the lathe arrived on Monday.\n\nSo it did.\n---\nText.", "---\n- The lathe arrived on Monday.\n---\nText.",
    "---\ntags: x\nThe lathe arrived on Monday.\n---\nText.", "---\n# The lathe arrived on Monday.\ntags: x\n---\nText."])
def test_what_stands_between_two_rules_is_never_lost(fleet: Shell, body: str) -> None:
    text = write(fleet, body=body)
    assert "the lathe arrived on Monday." in text.replace("The", "the") and "Text." in text and ("indented" in text) == ("indented" in body)
    assert text.startswith("---\nprovenance: agent\nstage: derived\n") and ("So it did." in text) == ("So it did." in body)


@pytest.mark.parametrize("change", [{"captured_from": "in\udcff"}, {"captured_from": "a\x1b[31m"}, {"body": "Text \udcff."}])
def test_what_is_no_text_is_refused_before_anything_is_written(fleet: Shell, change: dict[str, str]) -> None:
    with pytest.raises(BadDraft):
        write(fleet, **change)
    assert not (fleet.root / "fleet/ada/.kb/write-pending.json").exists()


@pytest.mark.parametrize("intent", [
    {"path": "AGENTS.md", "slug": "zz", "folder": "k", "summary": 5, "keys": ["a"]},
    {"slug": "zz\n# hacked", "folder": "", "summary": "s", "keys": []}, {"slug": "pump", "folder": "../ben", "summary": "s", "keys": []},
    {"slug": "zz", "folder": "k", "summary": "s", "keys": "a"}, [], 7, None])
def test_an_intent_that_kb_did_not_write_is_forgotten(fleet: Shell, intent: object) -> None:
    fleet.write("fleet/ada/.kb/write-pending.json", json.dumps(intent))
    write(fleet)
    map_ = fleet.read("fleet/ada/MAP.md")
    assert "hacked" not in map_ and "zz" not in map_ and "[[seals]]" in map_
    assert not (fleet.root / "fleet/ada/.kb/write-pending.json").exists()


@pytest.mark.parametrize("folder", ["MAP.md", "x" * 300, " x", "x /y"])
def test_a_folder_that_cannot_be_one_leaves_nothing_behind(fleet: Shell, folder: str) -> None:
    before = sorted(path for path in fleet.root.rglob("*") if not path.name.endswith(".lock") and path.name != ".kb")
    with pytest.raises(KbError):
        write(fleet, folder=folder)
    assert sorted(path for path in fleet.root.rglob("*") if not path.name.endswith(".lock") and path.name != ".kb") == before


def test_an_entry_that_nobody_would_see_is_refused(fleet: Shell) -> None:
    fleet.write("fleet/ada/MAP.md", "# Ada\n\n```\nnever closed\n")
    with pytest.raises(KbError, match="open fence"):
        write(fleet)
    assert fleet.read("fleet/ada/MAP.md") == "# Ada\n\n```\nnever closed\n" and not (fleet.root / "fleet/ada/knowledge/seals.md").exists()


@pytest.mark.parametrize(("body", "merged"), [
    ("\n \n---\nstage: raw\ntags: x\n---\nText.", ["tags: x"]),
    ("\ufeff\r\n---\r\ntags: x\r\n---\r\nText.", ["tags: x"]),
    ('---\n"a: quoted key": v\ntags: x\n---\nText.', ['"a: quoted key": v', "tags: x"]),
    ("---\n'stage': raw\n\"provenance\": human\nStage : raw\ntags: x\n---\nText.", ["tags: x"]),
    ("---\nkey with space: y\nLast edited time: 2026-01-02 10:00\n---\nText.", ["key with space: y", "Last edited time: 2026-01-02 10:00"]),
    ("---\n$id: a\n_b: c\nhttp://example.org/d: e\n\n# why\n🏷: f\n---\nText.",
     ["$id: a", "_b: c", "http://example.org/d: e", "", "# why", "🏷: f"]),
    ("---\ntags: [\n  x\n]\n---\nText.", ["tags: [", "  x", "]"]),
    ("---\ntags: x\n...\nText.", ["tags: x"]),
    ("---\n---\nText.", []),
    ('+++\ntitle = "Ação: a"\n# why\nstage = "raw"\ndate = 2026-01-02\ntags = ["x", "y"]\n[more]\ndeep = 2026-01-02\n+++\nText.',
     ["# why", 'title: "Ação: a"', "date: 2026-01-02", 'tags: ["x", "y"]', 'more: {"deep": "2026-01-02"}']),
    ("+++\n+++\nText.", []),
    ('{\n"title": "a",\n"Stage": "raw", "a key": [1, null]\n}\nText.', ['title: "a"', '"a key": [1, null]']),
])
def test_front_matter_of_any_kind_is_merged(fleet: Shell, body: str, merged: list[str]) -> None:
    text = write(fleet, body=body)
    assert text == "\n".join(["---", "provenance: agent", "stage: derived", *merged, "---", "", "# Seals", "",
                              "**Search for:** `cracked seal`", "", "**Exists to:** how a seal is replaced", "", "Text.", ""])


def test_toml_that_cannot_be_read_is_refused_and_braces_are_only_text(fleet: Shell) -> None:
    with pytest.raises(BadDraft, match="no TOML"):
        write(fleet, body="+++\ntitle = unquoted\n+++\nText.")
    assert "\n{\nx = 1\n}\nText." in write(fleet, body="{\nx = 1\n}\nText.")


@pytest.mark.parametrize("body", [
    "---\n1. First: this\n2. Then: that\n---\nText.", "---\n**Note:** this\n---\nText.", "---\n[a]: https://example.org\n---\nText.",
    "---\n> It was said: this\n---\nText."])
def test_marks_of_markdown_with_a_colon_are_no_front_matter(fleet: Shell, body: str) -> None:
    assert write(fleet, body=body).endswith(f"\n\n{body}\n")


@pytest.mark.parametrize(("body", "rest"), [
    ("para\n# T\n===", "para\n\n==="), ("para\n# T\n---", "para\n\n---"), ("para\n# T\nmore", "para\n\nmore"),
    ("> quote\n# T\nmore", "> quote\n\nmore"), ("para\n# T\n    code", "para\n\n    code"),
    ("- item\n\n# T\n\n    code", "- item\n\n\n<!-- -->\n\n\n    code"),
    ("# T\n\n    code\n", "    code"), ("para\n\nT\n===\nmore", "para\n\nmore"), ("- a\n# T\n- b", "- a\n- b"),
    ("---\n# T\nafter a rule", "---\nafter a rule")])
def test_what_stood_around_the_title_stays_what_it_was(fleet: Shell, body: str, rest: str) -> None:
    text = write(fleet, body=body)
    assert "\n# T\n" in text and text.split("how a seal is replaced\n\n")[1] == rest + "\n"


@pytest.mark.parametrize("body", ["Title #\n===\n\nText.", "# Title # #\n\nText.", "Title\n#hash ##\n===\n\nText."])
def test_a_title_that_ends_in_hashes_keeps_them(fleet: Shell, body: str) -> None:
    def title(text: str) -> str:
        return next(line.text for line in scan(text) if line.kind == "heading")
    assert title(write(fleet, body=body)) == title(body)


def test_a_body_with_a_nul_is_refused(fleet: Shell) -> None:
    with pytest.raises(BadDraft, match="no text"):
        write(fleet, body="Text\0.")


@pytest.mark.parametrize("inside", ["<details>\n<summary>More</summary>\n\n- **[[pump]]** x\n\n</details>", "<hr>", "<div>\ntext\n</div>"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_entry_after_raw_html_is_set_apart_from_it(fleet: Shell, inside: str, end: str) -> None:
    text = f"# Ada\n\n### knowledge/\n\n{inside}\n\n## Elsewhere\n".replace("\n", end)
    fleet.write("fleet/ada/MAP.md", text)
    write(fleet)
    entry = "- **[[seals]]** how a seal is replaced\n  **Search for:** cracked seal\n".replace("\n", end)
    assert (fleet.root / "fleet/ada/MAP.md").read_bytes().decode() == text.replace(f"{end}{end}## Else", f"{end}{end}{entry}{end}## Else")


@pytest.mark.parametrize("inside", ["<!-- old:\n- **[[pump]]** x", "```\ncode", "~~~\n",
                                    "- **[[pump]]** x\n\n<!--\n\n### later/\n", "<pre>\n\nx"])
def test_an_entry_that_would_stand_where_its_section_hides_it_is_refused(fleet: Shell, inside: str) -> None:
    fleet.write("fleet/ada/MAP.md", f"# Ada\n\n### knowledge/\n\n{inside}\n")
    before = snapshot(fleet.root)
    with pytest.raises(KbError, match="would not be seen"):
        write(fleet)
    assert snapshot(fleet.root) == before


@pytest.mark.parametrize("words", [
    ("write", "ada", "seals", "--keys", "cracked seal", "--summary", "s"), ("serve",), ("capture",), ("boot",),
    ("init", "--adopt", "loose", "--keys")])
@pytest.mark.parametrize("how", ["<&-", "0>/dev/null"])  # there is none; it is open for writing alone
def test_a_verb_whose_stdin_is_closed_says_so_in_a_line(fleet: Shell, words: tuple[str, ...], how: str) -> None:
    fleet.write("loose/copper.md", "# Copper pipes\n\nHow copper pipes are bent and brazed.\n")
    done = fleet.run("sh", "-c", f'exec "$@" {how}', "sh", sys.executable, "-m", "kb", *words)
    assert "bug" not in done.err and "Traceback" not in done.err and done.err.count("\n") <= 1
    if words[0] in ("write", "serve"):
        assert done.code == 1 and done.err.startswith("kb: ") and "stdin" in done.err and done.out == ""
