"""Small to big: chunks become windows, whatever alphabet they are written in."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.values import Passage
from kb.core.windows import LIMIT, assemble, cap, expand, merge, readable
from kb.ops.passages import telling

TEXT = st.text(alphabet=st.sampled_from("ab é漢字ğ\u0301👩‍🚀\n.#`"), max_size=300)


def passage(text: str, heading: str = "A > B", origin: str | None = None) -> Passage:
    return Passage(heading, text, text[:50], captured_from=origin)


def test_two_overlapping_chunks_of_one_heading_become_one_window_with_the_shared_sentence_once():
    first = passage("Part 1 is about frames. Page tables manage 4KB frames.")
    second = passage("Page tables manage 4KB frames. Part 2 is about swapping.")
    [window] = assemble("ada/knowledge/memory.md", "long", [first, second], None)
    assert window.text.count("Page tables manage 4KB frames.") == 1 and "Part 2" in window.text


def test_chunks_of_other_headings_or_origins_stay_apart_in_their_order():
    windows = assemble("a/b.md", "short", [passage("one", "X"), passage("two", "Y"), passage("three", "X", "in/o.md")], None)
    assert [(w.heading_path, w.text, w.captured_from) for w in windows] == [
        ("X", "one", None), ("Y", "two", None), ("X", "three", "in/o.md")]


def test_a_paragraph_grows_to_its_section_and_not_into_the_next():
    document = "# T\n\n## One\n\nfirst\n\nthe target\n\nthird\n\n## Two\n\nother"
    assert expand(document, "the target", 500) == "first\n\nthe target\n\nthird"


def test_a_heading_inside_a_fence_ends_no_section():
    document = "## One\n\nfirst\n\n```sh\n# a comment\n```\n\nthe target\n\n## Two\n"
    assert expand(document, "the target", 500).startswith("first") and "# a comment" in expand(document, "the target", 500)


def test_a_section_that_does_not_fit_grows_to_whole_paragraphs():
    document = "## One\n\n" + "x" * 100 + "\n\nbegin middle end of it\n\n" + "y" * 100
    assert expand(document, "middle", 40) == "begin middle end of it"


def test_a_chunk_that_is_not_in_the_document_or_blank_comes_back_unchanged():
    assert expand("abc", "zzz") == "zzz" and expand("abc", "  ") == "  "


def test_a_chunk_that_begins_inside_a_word_loses_the_rest_of_that_word():
    document = "## S\n\n" + "lorem ipsum " * 400
    assert expand(document, document[1001:1001 + LIMIT].strip(), LIMIT).split()[0] in ("lorem", "ipsum")


def test_a_long_window_is_cut_at_a_blank_line_then_a_sentence_then_a_word():
    assert cap("a" * 60 + "\n\n" + "b" * 60, 100) == "a" * 60
    assert cap("a" * 60 + ". " + "b" * 60, 100) == "a" * 60 + "."
    assert cap("a" * 60 + " " + "b" * 60, 100) == "a" * 60
    assert cap("a" * 200, 100) == "a" * 100


def test_a_cut_never_parts_a_letter_from_its_marks():
    text = "e\u0301" * 200
    cut = cap(text, 101)
    assert not unicodedata.combining(text[len(cut)]) and len(cut) in (100, 101)


def test_what_a_model_reads_has_no_key_line_and_no_front_matter_but_keeps_prose_about_them():
    text = ("---\nstage: raw\n---\n\n# T\n\n**Search for:** `a`, `b`,\n`c`\n\nTo search for: see below, as said,\nand on.\n")
    out = readable(text)
    assert "`c`" not in out and "stage:" not in out and "# T" in out and "as said,\nand on." in out


@given(TEXT, TEXT, st.integers(10, 80))
def test_merging_removes_exactly_the_shared_part(first, second, size):
    shared = ("overlap " * 20)[:size].strip() + "Ω"
    merged = merge("AAA " + first.strip() + shared, shared + second.strip() + " ZZZ")
    assert merged.startswith("AAA") and merged.endswith("ZZZ") and merged.count(shared) == (first + second).count(shared) + 1


@given(TEXT, st.integers(1, 60))
def test_a_cut_is_a_prefix_within_the_limit(text, limit):
    cut = cap(text, limit)
    assert len(cut) <= max(limit, 0) and text.strip().startswith(cut)


@given(TEXT, st.integers(0, 200), st.integers(1, 100), st.integers(20, 120))
def test_growing_stays_within_the_limit_and_inside_the_document(text, start, size, limit):
    document = readable(text)
    chunk = document[start:start + size]
    grown = expand(document, chunk, limit)
    assert grown == chunk or (grown in document and len(grown) <= limit)


@pytest.mark.parametrize(("text", "tells"), [
    ("Exists to: say how.", False), ("**Exists to:** say how.\n\n**Existe para:** dizer como.\n", False), ("", False),
    ("Exists to: say how.\nAnd more.", True), ("Exists to: say how.\n\nAnd more.", True), ("And more.", True),
])
def test_a_passage_tells_something_when_it_is_more_than_purpose_lines(text, tells):
    assert bool(telling([passage(text)])) is tells
