"""What stands in a note, and how it is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.core.content import Content, content_of, decode_content, encode_content
from kb.core.header import parse_header

PIECES = st.lists(st.sampled_from([
    "---\n", "stage: raw\n", "# T\n", "\n", "**Search for:** the, `pump`\n", "See [[a#b|c]] and ![[d.png]].\n", "As [src:KEY] says.\n",
    '- [src:KEY] "A \u2014 b". 2019.\n', "Sources: x\n", "a \u2013 b\n", "```\n", "\u00e9\r\n"]), max_size=12).map("".join)


def found(text: str) -> Content:
    return content_of(text, parse_header(text))


@given(PIECES)
def test_what_is_kept_of_a_note_is_what_was_found(text: str) -> None:
    content = found(text)
    kept = decode_content(encode_content(content))
    assert [list(part) if isinstance(part, (list, tuple)) else part for part in kept] == \
        [list(part) if isinstance(part, (list, tuple)) else part for part in content]


def test_everything_that_stands_in_a_note_is_found() -> None:
    content = found("---\nstage: raw\n---\n# T\n\n**Search for:** the, `pump`\n\n"
                    "See [[a#b]] \u2014 [src:K].\n\nFontes: x\n\n- [src:K] A \u2013 b.\n")
    assert content.dead_keys == ["the"] and content.front_matter and content.names_sources
    assert [link.target for link in content.links] == ["a"] and [(c.line, c.token) for c in content.citations] == [(8, "K"), (12, "K")]
    assert [(line.key, line.rendering) for line in content.bibliography] == [("K", "A \u2013 b.")]
    assert [tuple(dash) for dash in content.dashes] == [(8, "\u2014")]


def test_nothing_is_kept_of_a_note_in_which_nothing_stands() -> None:
    assert encode_content(found("# T\n\n**Search for:** `pump`\n\n## Steps\n\nRun it.\n")) == ""
