"""The YAML that records are written in."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kb_plugins.lifecycle.yaml_subset import SubsetError, flat, front_matter, parse, quoted, scalar, split_front

_LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\x85\ufeff"), max_size=40)


@given(_LINE)
def test_a_scalar_written_is_the_scalar_read_and_another_yaml_reader_agrees(text: str) -> None:
    for written in (quoted(text), scalar(text)):
        assert parse(f"key: {written}\n") == {"key": text}
        assert parse(f"key:\n  - {written}\n")["key"] == [text]
        assert yaml.safe_load(f"key: {written}\n") == {"key": text}


@given(st.text(max_size=80))
def test_any_text_parses_or_is_refused_with_its_line(text: str) -> None:
    try:
        parse(text)
    except SubsetError as error:
        assert 1 <= error.line <= text.count("\n") + 1


@pytest.mark.parametrize("text", ["a:\tb", "a:\n   b: c", "- a", "a: b\n    c: d", "word", "a: b\na: c", "a: |\n  text"])
def test_what_is_outside_the_subset_is_refused(text: str) -> None:
    with pytest.raises(SubsetError):
        parse(text)


def test_values_are_text_whatever_yaml_would_make_of_them() -> None:
    assert parse("a: no\nb: 2026-13-45\nc: 007\nd:\ne: A: B\nf: x # note\ng: \"x\" # note\nh: [a, 'b, c', d]\ni: []") == {
        "a": "no", "b": "2026-13-45", "c": "007", "d": "", "e": "A: B", "f": "x", "g": "x",
        "h": ["a", "'b", "c'", "d"], "i": []}


def test_lists_of_maps_nest_and_flatten_under_numbers() -> None:
    fields = parse("relations:\n  - type: supports\n    target: file:a.md\n  - type: documents\n    target: file:b.md\n")
    assert fields["relations"][1] == {"type": "documents", "target": "file:b.md"}
    assert flat(fields)["relations.1.target"] == "file:b.md"


def test_front_matter_with_crlf_is_read_and_a_document_without_one_is_none() -> None:
    parts = front_matter("---\r\na: b\r\n---\r\nbody\r\n")
    assert parts == ({"a": "b"}, "body\r\n")
    assert split_front("# no front matter\n---\na: b\n---\n") is None
    assert split_front("---\nnever closed\n") is None
