"""The scanner against markdown-it-py, line by line, on generated documents and on every document of the public vaults."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kb.core.content import content_of
from kb.core.header import parse_header
from kb.core.inline import bibliography, citations, prose_of, visible, wikilinks, without_hidden
from kb.core.markdown import CONTINUES, HTML, Line, front_matter_end, lines_of, scan

MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 200})
BLOCKS = MarkdownIt("commonmark", {"maxNesting": 200}).disable(["inline", "text_join"], True)


def kinds_by_markdown_it(text: str) -> list[str]:
    """The kind of every line as markdown-it-py has it; `other` for prose, rules and headings inside containers."""
    return read_by_markdown_it(text)[0]


def read_by_markdown_it(text: str) -> tuple[list[str], list[str]]:
    """The kinds, and the texts of the headings of the document itself."""
    lines = lines_of(text)
    start = front_matter_end(lines)
    headings = []
    kinds = ["front"] * start + ["other"] * (len(lines) - start)
    tokens = BLOCKS.parse("\n".join(lines[start:]))
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map[0] + start, min(token.map[1] + start, len(lines))
        if token.type == "fence":
            kinds[first:last] = ["fence"] * (last - first)
        elif token.type == "html_block":
            kinds[first:last] = ["html"] * (last - first)
        elif token.type == "code_block":
            kinds[first:last] = ["code"] * (last - first)
        elif token.type == "heading_open" and token.level == 0:
            kinds[first:last] = [f"heading {token.tag[1]}", *["underline"] * (last - first - 1)]
            headings.append(" ".join(part.strip() for part in tokens[number + 1].content.split("\n")))
    return [kind if lines[n].strip(" \t") or kind in ("fence", "front") else "blank" for n, kind in enumerate(kinds)], headings


def kinds_by_kb(text: str) -> list[str]:
    return [kind_of(line) for line in scan(text)]


def kind_of(line: Line) -> str:
    if line.kind == "heading":
        return f"heading {line.level}"
    if line.kind == "text":
        return ("html" if line.level == HTML else "other") if line.text.strip(" \t") else "blank"
    return line.kind


WORDS = st.sampled_from(["a", "word", "two words", "a `b` c", "x ", "|", "`", "a # b", "a #", "é", "<b>", "</b> x"])
MARKS = st.sampled_from(["", "", "", "- ", "* ", "+ ", "1. ", "2) ", "12. ", "> ", ">", "-", "-\t", "1.", ">\t", "-     ", "  ", " ",
                         "\t", "    "])
LEAVES = st.one_of(WORDS, WORDS, st.sampled_from([
    "", "", "", "# h", "## h ##", "###### h", "####### no", "#no", "#", "##  h #x", "===", "---", "- - -", "***", "___", "=", "-",
    "  ---  ",
    "```", "~~~", "````", "```py", "~~~ x `y`", "``` x`y", "```` ", "<div>", "</div>", "<!-- x", "-->", "<!-- x -->", "<?php", "?>",
    "<pre>", "</pre>", "<a href='x'>", "<custom-tag>", "<!DOCTYPE x>", "<![CDATA[", "]]>", "<https://example.org>"]))
LINES = st.builds(lambda indent, marks, leaf: indent + "".join(marks) + leaf,
                  st.sampled_from(["", "", "", " ", "  ", "   ", "    ", "     ", "\t", " \t"]), st.lists(MARKS, max_size=3), LEAVES)
DOCUMENTS = st.lists(LINES, max_size=14).map(lambda lines: "\n".join(lines).rstrip("\n >\t"))


def beyond_markdown_it(lines: list[Line]) -> bool:
    """Whether one of the lines is of a kind that markdown-it-py 4 reads against the specification.

    It takes a quote mark or a marker behind four columns of blanks for one, where the line is indented code or, after an open
    paragraph in nested containers, a lazy continuation. The reference implementation has them as our scanner does.
    """
    return any(re.match(r"[ \t>]*(?:\t| {4})", line.text)
               and (line.kind == "code" or (line.kind == "text" and line.level == CONTINUES)) for line in lines)


@settings(max_examples=1500, deadline=None)
@given(DOCUMENTS)
@example("- a\n\n      code\n    ```\n    x\n    ```\n")
@example("> - ```\n>   x\n> y")
@example("a\n\tb\n- c\n\td\n\n\te")
@example("-\n\n  a\n-\n  b")
@example("[a]: b\n===\n[a]: b\nc\n===")
def test_every_line_has_the_kind_that_markdown_it_gives_it(text: str) -> None:
    ours, theirs = kinds_by_kb(text), kinds_by_markdown_it(text)
    if ours != theirs:
        first = next(n for n, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1])
        assert beyond_markdown_it(scan(text)[:first + 1]), (ours, theirs)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_a_heading_has_the_text_that_markdown_it_gives_it(text: str) -> None:
    lines = scan(text)
    if not beyond_markdown_it(lines):
        assert [line.text for line in lines if line.kind == "heading"] == read_by_markdown_it(text)[1]


@given(st.text(alphabet="ab#-=`~> \t\r\n<!*1.", max_size=80))
def test_no_line_is_lost_whatever_stands_in_the_document(text: str) -> None:
    lines = scan(text)
    assert [line.text for line in lines if line.kind not in ("heading",)] == [
        raw for raw, line in zip(lines_of(text), lines, strict=True) if line.kind != "heading"]


def spans_by_markdown_it(text: str) -> list[str]:
    (inline,) = [token for token in MARKDOWN.parse(text) if token.type == "inline"]
    return [child.content for child in inline.children or () if child.type == "code_inline"]


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(["`", "``", "```", "\\`", "\\\\`", "\\", "a", " ", "b", "\n", "<!-- ", " -->",
                                 "[[x]]"]), min_size=1, max_size=24)
       .map(lambda parts: "x" + "".join(parts).replace("\n", "\nx") + "x"))
@example("x``a ` b``x")
@example("x`a\\`b`x")
def test_code_spans_are_blanked_exactly_where_markdown_it_finds_them(text: str) -> None:
    blanked = without_hidden(text)
    assert len(blanked) == len(text) and blanked.count("\n") == text.count("\n")
    if len(MARKDOWN.parse(text)) == 3 and "<!--" not in text:  # one paragraph, without comments
        spans = [span.strip() for span in spans_by_markdown_it(text)]
        assert inside(text, blanked) == [span for span in spans if span]


PARTS = st.sampled_from(["[[a]]", "`[[b]]`", "`", "[src:K]", "\n", "\n\n", "\n- ", "\n> ", "\n# ", "word ", "    ", "\n```\n", "---", "<b>",
                         "<!--", "-->", "\r\n", "[[a]](u)", "\n[a]: u\n", "\\", "!", "\n===", "\n|-|-|\n", "\t",
                         "\n```sh\n", "```", "\n   ```  \n", "\n````\n", "\n~~~\n", "\n## h\n\n",
                         "\n- [src:K] ", "\n## - [src:K] ", "\n## [a]: u\n", "(see it)", "[^1]", "(u \"t\")", "[a]"])


@settings(max_examples=1500, deadline=None)
@given(st.lists(PARTS, max_size=24).map("".join))
@example("---\na: b\n---\n\n`x\ny` [[a]]")
def test_the_short_way_through_simple_documents_finds_what_a_full_scan_finds(text: str) -> None:
    short, full = prose_of(text), visible(scan(text))
    assert (wikilinks(short), citations(short)) == (wikilinks(full), citations(full))
    assert bibliography(short, lines_of(text)) == bibliography(full, lines_of(text))


INLINE = st.sampled_from(["[[#]]", "[[#]]", "`", "``", "\\", " ", "\n", "a", "<https://x.org/", "<a href=\"", "\">", "<b",
                          ">", "</b>", "<!--", "-->", "[t](u \"[[#]]\")", "[t](<[[#]]>)", "![t](u (`))", "<?", "?>",
                          "<!X ", "<i x='", "'>", "<a@b.org>", "<a`b@c.org>"])


def links_by_markdown_it(text: str) -> list[str]:
    """The `[[m..]]` that stand in what a reader reads."""
    (inline,) = [token for token in MARKDOWN.parse(text) if token.type == "inline"]
    address = False  # the text of an autolink is its address
    seen = ""
    for child in inline.children or ():
        address = child.markup == "autolink" if child.type == "link_open" else address and child.type != "link_close"
        seen += child.content if child.type == "text" and not address else "\n"
    return re.findall(r"\[\[(m\d+)\]\]", seen)


@settings(max_examples=1500, deadline=None)
@given(st.lists(INLINE, min_size=1, max_size=16))
@example(["<https://x.org/", "`", ">", " ", "[[#]]", "`"])
@example(["<a href=\"", "`", "\">", "[[#]]", "`"])
@example(["<!X ", "\n", "[[#]]", ">"])
def test_a_link_is_found_exactly_where_markdown_it_leaves_its_text_to_the_reader(parts: list[str]) -> None:
    text = "x" + "".join(part.replace("[[#]]", f"[[m{number}]]").replace("\n", "\nx") for number, part in enumerate(parts)) + "x"
    # [[x]] behind a backslash has a rule of its own; markdown-it-py 4 reads comments by the rules before 0.31
    beyond = re.search(r"\\+\[|<!---?>", text) or text.count("<!--") > 1
    if not beyond and len(MARKDOWN.parse(text)) == 3:
        assert [link.target for link in wikilinks(prose_of(text))] == links_by_markdown_it(text)


@pytest.mark.parametrize("text", [
    "$x_{[[m]]}$", "$$\n[[m]]\n$$", "%% [[m]] %%", "%%\n[[m]]\n\n[[n]]\n%%", "# a %% [[m]] %%", "{\n\"a\": \"[[m]]\"\n}\n\nText.",
    "+++\na = '[[m]]'\n+++\n\nText.", "---\na: '[[m]]'\n...\n\nText.", "[[{{date}}]]", "[[<% tp.date.now() %>]]", '[t]: u "[[m]]"',
    "[t]: [[m]]", "a\r\n\r\n[t]: [[m]]\r\n"])
def test_what_no_reader_sees_as_text_or_no_file_can_be_called_holds_no_link(text: str) -> None:
    assert wikilinks(prose_of(text)) == []


@pytest.mark.parametrize("text", [
    "$5 and [[m]] and $6", "US$5, [[m]] 6$", "100%% [[m]]", "`%%` [[m]] %%", "```\n%%\n```\n[[m]] %%", "[[[m]]]", "[[[m|n]]]", "$$ [[m]]",
    "a $x_1$ [[m]] $y_1$", "%% a %% [[m]] %% b %%", "{\n[[m]]", "+++\n[[m]]", "---\n[[m]]", "[t]:\n\n[[m]]", "a [t]: [[m]]"])
def test_a_link_between_marks_that_hide_nothing_is_found(text: str) -> None:
    assert [link.target for link in wikilinks(prose_of(text))] == ["m"]


def inside(text: str, blanked: str) -> list[str]:
    """What was blanked: the maximal runs in which `blanked` differs or both are white space next to them."""
    found, current = [], ""
    opened = False
    for raw, seen in zip(text, blanked, strict=True):
        if raw != seen or (opened and raw.isspace()):
            current += raw
            opened = True
        elif opened:
            found.append(current)
            current, opened = "", False
    return [" ".join(span.split("\n")).strip() for span in found]


@pytest.mark.parametrize("text", [
    "# h\n" * 100_000, "x" * 5_000_000, "`" * 10_000, "a ` b `` c " * 10_000, "- " * 10_000, "> " * 10_000 + "\n" * 5_000,
    "- " * 200 + "\n" + "\n" * 50_000, "<!-- ` " * 20_000, "[[" * 50_000, "[[a [b] " * 20_000, "# " + " " * 300_000 + "x", "<a " * 50_000,
    "<a" + " b='" * 50_000, "-" + " -" * 100_000 + "x", "\t" * 100_000 + "x", "\\`" * 50_000, "* a\n" * 50_000, "[a]:\n" * 20_000 + "===",
    "```\n" * 50_001, "1. " * 50_000, "a\n" * 100_000 + "===", "[src:" * 60_000, "- [src:K] [src:" * 20_000,
    "See [[a]].\n\n```sh\nrun\n```\n\n" * 20_000, "\\" * 300_000 + "[[a]]", "[[a]](u " * 30_000, '[[a]](u "' * 30_000, "[[a]][b" * 30_000,
    "[[a]]\n[b]: c\n" * 20_000, "\u2014 - [src:" * 20_000, "<a " * 50_000 + "[[a]]", "<a" + " b='" * 50_000 + "[[a]]",
    "$" * 50_000 + "[[a]]", "$a " * 50_000 + "[[a]]", "](" * 50_000 + "[[a]]", '](u "' * 50_000 + "[[a]]", "<!--" * 50_000 + "[[a]]",
    "<?" * 50_000 + "[[a]]",
    "%%" * 50_000 + "[[a]]", "    a\n\nb\n\n" * 20_000 + "[[a]]", "<b>\n\nb\n\n" * 20_000 + "[[a]]", "<a@" * 50_000 + "[[a]]",
    "<a\n" * 50_000 + "[[a]]", "$$" * 50_000 + "[[a]]", "<!a" * 50_000 + "[[a]]"], ids=range(45))
def test_the_cost_is_linear_on_hostile_documents(text: str) -> None:
    started = time.process_time()
    content_of(text, parse_header(text))
    assert time.process_time() - started < 4


@pytest.mark.parametrize("text", [
    "[[a]][^1]", "[[a]][src:ABCDEFGHJK]", "[[a]](see below for more)", "[[a]](unclosed", "\\\\[[a]]", "[[a]][undefined]",
    "[[a]]\n\n[a]: the act of undoing a deploy", "para\n[a]: not-a-def\n\n[[a]]", "## [a]: first\n\n[[a]]", "see <b>x</b> and\n[[a]]\n---"])
def test_what_stands_beside_a_link_hides_it_only_where_it_makes_it_an_ordinary_one(text: str) -> None:
    assert [link.target for link in wikilinks(prose_of(text))] == ["a"]


@pytest.mark.parametrize("text", [
    "[[a]](u)", "[[a]](<u v>)", '[[a]](u "t")', "[[a]](u (t))", "[[a]](f(x))", "[[a]]()", "\\[[a]]", "[[a]][b]\n\n[b]: u",
    "[[a]]\n\n[a]: u", "[[a]]\n\n[x]: u\n[A]: <v> 't'"])
def test_an_ordinary_link_in_double_brackets_is_no_wikilink(text: str) -> None:
    assert wikilinks(prose_of(text)) == []


def test_a_definition_cites_by_its_label_and_by_nothing_behind_it() -> None:
    prose = prose_of("[src:KA]: https://x.org/[src:KB]\n[t]: [src:KC]\n\nt [u]: [src:KD]\n")
    assert [citation.token for citation in citations(prose)] == ["KA", "KD"]


def test_a_bibliography_line_is_one_citation_and_no_link_whatever_its_title_says() -> None:
    prose = prose_of('- [src:AAAAAAAAAA] "On [[links]] and [src:BBBBBBBBBB]". 2019.\n')
    assert wikilinks(prose) == [] and [citation.token for citation in citations(prose)] == ["AAAAAAAAAA"]


def test_a_link_in_a_heading_of_two_lines_stands_on_its_own_line() -> None:
    text = "See <b>x</b> and\nalso [[a]]\n---\n"
    assert [link.line for link in wikilinks(prose_of(text))] == [2]


def test_every_document_of_the_vaults_is_read_as_markdown_it_reads_it(data: Path) -> None:
    documents = sorted((data / "vaults").rglob("*.md"))
    assert len(documents) > 2000
    wrong = []
    for path in documents:
        text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        lines = scan(text)
        ours, (theirs, headings) = [kind_of(line) for line in lines], read_by_markdown_it(text)
        if ours == theirs:
            same = [line.text for line in lines if line.kind == "heading"] == headings
        else:
            same = beyond_markdown_it(lines[:1 + next(n for n, kind in enumerate(ours) if kind != theirs[n])])
        if not same:
            wrong.append(path)
    assert wrong == []
