"""Text on its way into a page: whatever a note holds, the page holds text, marks and links that were chosen here."""

from __future__ import annotations

import re
import time
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.display import harmless
from kb.core.mentions import mentions
from kb.core.values import Place
from kb.web.query import Query
from kb.web.safe import BRACKETS_AT_MOST, RENDERED_AT_MOST, Linker, marked, plain, rendered

FILES = frozenset({"knowledge/pump.md", "knowledge/v1..v2.md", "core.md"})
LINKER = Linker("ada", "knowledge/here.md", FILES, lambda target: "knowledge/pump.md" if target == "pump" else None)
TAGS = {"p", "em", "strong", "s", "a", "span", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br", "div", "table", "thead", "tbody",
        "tr", "th", "td", "h2", "h3", "h4", "h5", "h6"}
ATTRIBUTES = {"href", "class", "dir", "title", "rel", "role", "aria-label", "tabindex", "start"}
PIECES = [
    "<script>", "</a>", "<img src=x onerror=y>", "[x](", "javascript:", "data:text/html,", ")", "[[pump|", "[[", "]]", "[src:", "]", "`",
    "```\n", "| a | b |\n|:-:|--|\n| ", "#", "# ", "> ", "- ", "1. ", "\n", "\n\n", "*", "**", "~~", "![", "<", ">", "&", "&lt;", "&#106;",
    "'", '"', "\\", "(", "https://x.example/", "//x", "pump", "\x00", "\x1b[0m", "\u202e", "../", "%2e%2e/", "[a]: ", "\t", "    ",
    "]: javascript:x\n", "ᾴ", "\ud800"]


class Seen(HTMLParser):
    """Tags, attributes and addresses of a fragment."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=25).map("".join))
def test_no_markdown_renders_to_more_than_text_and_chosen_links(text: str) -> None:
    html = rendered(text, LINKER)
    assert html is not None
    seen = Seen(str(html))
    assert seen.tags <= TAGS and seen.attributes <= ATTRIBUTES
    for address in seen.addresses:
        assert re.match(r"/note\?|/sources\?|#|https?://|mailto:", address, re.IGNORECASE), address
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=15).map("".join), st.lists(st.text(max_size=8), max_size=4))
def test_marking_changes_nothing_but_adds_marks(text: str, words: list[str]) -> None:
    html = str(marked(text, words))
    assert Seen(html).tags <= {"mark"}
    assert unescape(html.replace("<mark>", "").replace("</mark>", "")) == unescape(str(marked(text, []))) == harmless(text)


@pytest.mark.parametrize(("text", "words", "expected"), [
    ("flushing the pumps", ["flush", "pump"], "<mark>flushing</mark> the <mark>pumps</mark>"),
    ("Água e agua", ["água"], "<mark>Água</mark> e <mark>agua</mark>"), ("on sowing", ["sow"], "on sowing"),
    ("a <b> pump", ["pump"], "a &lt;b&gt; <mark>pump</mark>"),
    ("重跑一次", ["一次"], "重跑<mark>一次</mark>"), ("don't", ["don"], "<mark>don&#39;t</mark>"),
])
def test_words_and_their_inflections_are_marked(text: str, words: list[str], expected: str) -> None:
    assert marked(text, words) == expected


@pytest.mark.parametrize(("href", "address"), [
    ("pump.md", "/note?base=ada&rel=knowledge%2Fpump.md"), ("../core.md#x", "/note?base=ada&rel=core.md"),
    ("/core.md", "/note?base=ada&rel=core.md"),
    ("v1..v2.md", "/note?base=ada&rel=knowledge%2Fv1..v2.md"), ("../../core.md", None), ("//evil/core.md", None), ("none.md", None),
    ("#part", "#part"), ("", None), ("HTTPS://x.example/?a=1", "HTTPS://x.example/?a=1"), ("javascript:1", None), ("java\nscript:1", None),
    ("data:text/html,x", None), ("file:///etc/passwd", None), ("C:/x.md", None), ("..%2fcore.md", "/note?base=ada&rel=core.md"),
    ("%2e%2e/%2e%2e/core.md", None), ("http://[", None),
])
def test_a_link_leads_to_the_web_to_a_note_or_nowhere(href: str, address: str | None) -> None:
    assert LINKER.address(href) == address


def test_a_long_note_is_not_rendered_and_a_hard_one_in_bounded_time() -> None:
    assert rendered("x" * (RENDERED_AT_MOST + 1), LINKER) is None
    for piece in ("[", "*", "> ", "`", "[[", "| ", "![", "<", "- ", "[a](b", "**a ", "`a", "<!--", "[[a|"):
        for times in (50_000 // len(piece), BRACKETS_AT_MOST // max(1, piece.count("["))):
            start = time.perf_counter()
            rendered(piece * times, LINKER)
            assert time.perf_counter() - start < 10, (piece, times)


def test_a_passage_reads_as_text() -> None:
    text = "**Exists to:** say it.\n## On `x` see [[pump|the pump]], [[core]] and [a](b.md)"
    assert plain(text) == "say it.\nOn x see the pump, core and a"


@pytest.mark.parametrize(("text", "found"), [
    ("see eva/beans.md.", ["beans.md"]), ("(eva/a/b.md)", ["a/b.md"]), ("`eva/beans.md`", ["beans.md"]), ("xeva/beans.md", []),
    ("/eva/beans.md", []),
    ("../eva/beans.md", []), ("eva/../eva/beans.md", []), ("eva/none.md", []), ("eva/beans.mdx", ["beans.md"]), ("eva/a b.md", []),
    ("eva/beans.md eva/beans.md", ["beans.md"]), ("ada/beans.md", []),
])
def test_files_of_other_bases_are_mentioned_by_their_whole_path(text: str, found: list[str]) -> None:
    files = {"ada": {"beans.md"}, "eva": {"beans.md", "a/b.md", "a b.md"}}
    assert mentions(text, "ada", files) == [Place("eva", path) for path in found]


def test_mentions_cost_no_more_than_the_text_is_long() -> None:
    start = time.perf_counter()
    assert mentions("eva/" * 200_000 + "x", "ada", {"eva": {"beans.md"}}) == []
    assert time.perf_counter() - start < 20


@given(st.binary(max_size=60))
def test_any_query_string_is_read(raw: bytes) -> None:
    assert isinstance(Query(raw).text("q"), str)


def test_the_first_value_counts_and_a_broken_escape_is_text() -> None:
    query = Query(b"q=a+b%20c&q=other&p=100%&n=12&m=-1")
    assert (query.text("q"), query.text("p"), query.text("none")) == ("a b c", "100%", "")
    assert (query.number("n", 5), query.number("m", 5)) == (12, 5)
