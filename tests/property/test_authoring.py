"""What a person writes with kb reads back as it was meant, whatever they type."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.app import open_app
from kb.core.blocks import artifact_tokens, parse_blocks, tokens, without_keys
from kb.core.draft import NoteDraft, is_slug, render_note
from kb.core.header import parse_header
from kb.core.mapfile import add_entry
from kb.core.markdown import scan
from kb.core.proposing import propose, rare_words, with_key_line
from kb.core.sources import (
    ALPHABET,
    FIELDS,
    STATUSES,
    TYPES,
    BrokenRecord,
    Record,
    as_csl,
    field_problem,
    is_key,
    parse_record,
    render_file,
    render_record,
)
from kb.errors import KbError
from kb.ops.check import check
from kb.ops.init import init_agent
from kb.ops.write import BadDraft, Dashes, DeadKeys, compose

ANYTHING = st.text(max_size=60)
MARKDOWN = st.lists(st.one_of(
    st.sampled_from(["# One", "## Two", "---", "***", "```", "~~~", "    code", "", "", "text", "- bullet", "> quote", "Title\n===",
                     "Sub\n---", "**Search for:** a, b", "Search for:", "Exists to: be", "### knowledge/", "### other/", "## end",
                     "- **[[x]]** y", "tags: [a]", "<!--", "-->", "\ufeff", "\t# not a heading", "#", "# `code` and *stars* #"]),
    st.text(max_size=20)), max_size=14).map("\n".join)
QUICK = settings(max_examples=150, deadline=None)


def draft(**changes: object) -> NoteDraft:
    fields: dict[str, object] = {"agent": "ana", "slug": "a-note", "keys": ["brass"], "summary": "be read", "body": "Text."}
    return NoteDraft(**{**fields, **changes})  # type: ignore[arg-type]


@given(st.lists(ANYTHING, min_size=1, max_size=6), ANYTHING, MARKDOWN)
@QUICK
def test_the_keys_of_a_written_note_are_the_live_keys_that_were_given(keys: list[str], summary: str, body: str) -> None:
    try:
        live, _, text = compose(draft(keys=keys, summary=summary, body=body))
    except (BadDraft, DeadKeys, Dashes):
        return
    header = parse_header(text)
    assert list(header.keys) == live
    assert header.front["provenance"] == "agent" and header.front["stage"] == "derived"
    assert header.title
    assert header.purpose


@given(MARKDOWN)
@QUICK
def test_no_line_of_the_body_is_lost(body: str) -> None:
    text = render_note(draft(body="Start.\n" + body), ["brass"])
    body = body.replace("\r\n", "\n").removeprefix("\ufeff")
    written = [line.strip() for line in re.split(r"[\n\r]", text)]
    for line in re.split(r"[\n\r]", body):
        line = line.strip().strip("#").strip()
        if line and line.strip("=-") and line != "\ufeff":
            assert any(line in whole for whole in written), line


@given(MARKDOWN, st.sampled_from(["\n", "\r\n"]), st.booleans(), ANYTHING)
@QUICK
def test_a_map_keeps_every_line_and_gains_one_entry(text: str, end: str, final: bool, summary: str) -> None:
    text = text.replace("\r", "").replace("\n", end) + (end if final else "")
    edit = add_entry(text, "knowledge", "a-note", summary, ["k1", "k2"])
    before = text.rstrip().split("\n")
    after = edit.text.split("\n")
    remaining = iter(line.rstrip() for line in after)
    assert all(line.rstrip() in remaining for line in before if line.strip()), "an old line is gone or has moved"
    assert sum(line.startswith("- **[[a-note]]**") for line in after) == 1 + text.count("- **[[a-note]]**")
    entry = next(number for number, line in enumerate(after) if line.startswith("- **[[a-note]]**"))
    assert after[entry + 1].rstrip("\r") == "  **Search for:** k1, k2"
    assert any(line.strip().startswith("### knowledge/") for line in after[:entry])
    if end == "\r\n" and text.count("\r\n"):
        assert "\n" not in edit.text.replace("\r\n", "")
    if not any(line.kind == "heading" and line.text == "knowledge/" for line in scan(edit.text)):
        return  # a fence that never closes swallows whatever is added below it
    again = add_entry(edit.text, "knowledge", "b-note", "more", ["k"])
    assert not again.created and again.text.index("[[b-note]]") > again.text.index("[[a-note]]")


VALUE = st.text(max_size=30).map(lambda text: " ".join(text.split())).filter(bool)
RECORDS = st.builds(
    lambda key, type_, status, values, authors: Record(key, {**values, "type": type_, "retrieval_status": status}, tuple(authors)),
    st.text(ALPHABET, min_size=10, max_size=10), st.sampled_from(TYPES), st.sampled_from(STATUSES),
    st.fixed_dictionaries({"title": VALUE, "retrieved_on": st.dates().map(str)},
                          optional={name: VALUE for name in FIELDS if name not in (
                              "type", "title", "author", "retrieved_on", "retrieval_status", "replaces")}),
    st.lists(VALUE, max_size=3))


@given(RECORDS)
@QUICK
def test_a_record_reads_back_as_it_was_written(record: Record) -> None:
    assert parse_record(f"{record.key}.txt", render_file(record)) == record
    assert parse_record(f"{record.key}.txt", render_file(record).replace("\n", "\r\n")) == record
    line = render_record(record)
    assert "\n" not in line and line.endswith(".") and f'"{record.title}"' in line


@given(RECORDS)
@QUICK
def test_any_record_exports_as_csl_with_sorted_names(record: Record) -> None:
    item = json.loads(json.dumps(as_csl(record)))
    assert list(item) == sorted(item) and item["id"] == record.key and item["accessed"]["date-parts"]


@given(ANYTHING, st.text(max_size=300))
@QUICK
def test_any_text_is_a_record_or_says_why_not(name: str, text: str) -> None:
    found = parse_record(name, text)
    assert found.problem if isinstance(found, BrokenRecord) else is_key(found.key)
    if isinstance(found, Record):
        as_csl(found)
        render_record(found)


@given(st.sampled_from(FIELDS), ANYTHING)
@QUICK
def test_a_field_rule_answers_for_any_value(field: str, value: str) -> None:
    problem = field_problem(field, value)
    assert problem is None or problem


@given(st.integers(0, 999_999_999))
@QUICK
def test_exactly_one_check_digit_of_an_isbn_fits(number: int) -> None:
    ten, thirteen = f"{number:09d}", f"978{number:09d}"
    assert sum(field_problem("isbn", ten + digit) is None for digit in "0123456789X") == 1
    assert sum(field_problem("isbn", thirteen + digit) is None for digit in "0123456789") == 1


@given(MARKDOWN)
@QUICK
def test_what_is_sent_differs_from_the_file_by_whole_key_lines(text: str) -> None:
    sent = without_keys(text)
    remaining = iter(text.split("\n"))
    assert all(line in remaining for line in sent.split("\n")) or not sent
    if "earch for" not in text.lower():
        assert sent == text
    assert tokens(sent) <= tokens(text) + 1 and artifact_tokens("a.html", text) >= tokens(text) - 1


@given(st.text(max_size=200))
@QUICK
def test_any_blocks_file_is_read(text: str) -> None:
    for block in parse_blocks(text):
        assert all(name and not name.startswith("[") and "#" not in name for name in block.files)


@given(st.lists(MARKDOWN, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
@QUICK
def test_a_proposed_key_line_is_read_and_every_old_line_stays(texts: list[str], end: str) -> None:
    texts = [text.replace("\r", "").replace("\n", end) for text in texts]
    frequency = rare_words(texts)
    for text in texts:
        if parse_header(text).keys:
            continue
        keys = propose("folder/a-note.md", text, ["an alias"], frequency, len(texts))
        if not keys:
            continue
        new = with_key_line(text, keys)
        assert list(parse_header(new).keys) == keys, new
        remaining = iter(line.rstrip("\r") for line in new.split("\n"))
        assert all(line.rstrip("\r") in remaining for line in text.split("\n"))
        if end == "\r\n" and "\r\n" in text:
            assert "\n" not in new.replace("\r\n", "")


NAMES = st.one_of(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True),
                  st.sampled_from(["ai", "first", "x", "0", "the", "a-b", "map", "map-of-the", "person", "a" * 40]))


@given(NAMES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_fresh_base_has_no_finding_for_any_legal_name(name: str) -> None:
    assert is_slug(name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = init_agent(name, folder)
        except KbError:
            assert name == "person"
            return
        assert list(check(open_app([made.root], True)).findings) == []
        assert (Path(made.root) / "agent.txt").is_file()
