"""What a note says inside its lines: wikilinks, citations and bibliography lines, code left out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kb.core.markdown import BEGINS, DEFINITION, HTML, Line, front_matter_end, lines_of, scan

_RUN = re.compile(r"`+")
_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")  # what decides, from left to right: an escape, a run of backticks, a comment
_HIDING = ("    ", "\t", "<", "~~~")  # without these and "```" there is no indented code, no HTML and no fence
_FENCE = re.compile(r"```[^`\n]*\n")
_FENCE_END = re.compile(r"^ {0,3}`{3,}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_NOT_A_LINE_END = re.compile(r"[^\n]")
_DELIMITER_ROW = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*$")
_LINK = re.compile(r"(?<!\\)(\\*+)(!?)\[\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\]")
_TARGET = re.compile(r"\([ \t]*+(?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"  # what follows the text of `[text](url "title")`
                     r"(?:[ \t]++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+[ \t]*+\)")
_REFERENCE = re.compile(r"\[([^\[\]]*+)\]")
_LABEL = re.compile(r" {0,3}\[([^\[\]]+)\]:")
_CITATION = re.compile(r"\[src:([^\[\]\n]*+)\]")
_BIBLIOGRAPHY = re.compile(r"\s*[-*] +\[src:([^\[\]\n]*+)\](.*)")


class WikiLink(NamedTuple):
    """`[[target#anchor|alias]]` on a 1-based line. `target` is what stands before the first `|` and `#`, trimmed."""

    line: int
    target: str
    embed: bool


class Citation(NamedTuple):
    """`[src:token]` on a 1-based line; the token is as written."""

    line: int
    token: str


class BibliographyLine(NamedTuple):
    """`- [src:key] rendering` on a 1-based line."""

    line: int
    key: str
    rendering: str


def prose_of(text: str) -> list[tuple[int, str]]:
    """(1-based line, its text with code spans and comments blanked) for the lines that may hold a link or a citation.

    Fences, indented code, raw HTML and front matter are left out, and so is a paragraph with no `[[`, `[src:` or `]:`.
    """
    number = 1
    marks = _marks(text)
    if marks and text.startswith("---"):
        lines = lines_of(text)
        number += front_matter_end(lines)
        text = "\n".join(lines[number - 1:])
        marks = _marks(text)
    if not marks:
        return []
    end = text.find("\n\n", marks[-1])
    if end >= 0:
        text = text[:end]  # nothing that follows the last mark's block tells anything of a mark
    # What stands between two empty lines means the same alone as in its document, until something may hide a line. A fence at
    # the left margin hides up to its end and nothing else; what else may hide a line is left to the scanner, with all that follows.
    hiding = _HIDING if "~" in text else _HIDING[:-1]  # one character is found many times faster than several
    found: list[tuple[int, str]] = []
    start = 0
    while start < len(text):
        fence = text.find("```", start)
        end = fence if fence >= 0 else len(text)
        hidden = [place for sign in hiding if (place := text.find(sign, start, end)) >= 0]
        opening = _FENCE.match(text, fence) if fence >= 0 and not hidden and (fence == start or text[fence - 1] == "\n") else None
        if hidden or (fence >= 0 and not opening):
            fresh = _last_fresh_start(text, start, min([*hidden, end]))
            found += _in_blocks(text, marks, start, fresh, number)
            number += text.count("\n", start, fresh) - 1
            return found + [(number + line, seen) for line, seen in visible(scan(text[fresh:], front=False))]
        found += _in_blocks(text, marks, start, end, number)
        closing = _FENCE_END.search(text, opening.end()) if opening else None
        if not closing:
            return found
        number += text.count("\n", start, closing.end())
        start = closing.end()
    return found


def _in_blocks(text: str, marks: Sequence[int], start: int, end: int, number: int) -> list[tuple[int, str]]:
    """The lines of the blocks with marks between two places of a text, of which the first is on line `number`."""
    found: list[tuple[int, str]] = []
    counted = done = start
    for place in marks[bisect_left(marks, start):bisect_left(marks, end)]:
        if place < done:
            continue
        before = text.rfind("\n\n", start, place)
        begin = before + 2 if before >= 0 else start
        done = text.find("\n\n", place, end)
        done = done if done >= 0 else end
        number += text.count("\n", counted, begin)
        counted = begin
        found += _simple(text[begin:done], number)
    return found


def _marks(text: str) -> list[int]:
    """Where a wikilink, a citation or, if there is one of these, the definition of a label may stand; ascending."""
    found = _places(text, "[", ("[[", "[src:"))
    if found and (defined := _places(text, "]", ("]:",))):
        found = sorted(found + defined)
    return found


def _places(text: str, first: str, beginnings: tuple[str, ...]) -> list[int]:
    """Where one of `beginnings` stands; all begin with the character `first`, which is found many times faster than a string."""
    found = []
    place = text.find(first)
    while place >= 0:
        if text.startswith(beginnings, place):
            found.append(place)
        place = text.find(first, place + 1)
    return found


def _last_fresh_start(text: str, start: int, end: int) -> int:
    """Where the last block between `start` and `end` begins that stands at the left margin, and so in no list."""
    while (end := text.rfind("\n\n", start, end)) >= 0:
        if text[end + 2:end + 3].isalpha() or text.startswith("##", end + 2):
            return end + 2
    return start


def _simple(block: str, number: int) -> Iterable[tuple[int, str]]:
    """The lines of a block in which only backticks can hide anything; the first is line `number`."""
    if "]:" in block:  # whether that defines a label depends on where paragraphs begin
        return _visible_from(block, number)
    if "`" not in block:
        return enumerate(lines_of(block), start=number)
    lines = lines_of(block)
    if "``" in block or "\\" in block:
        return _visible_from(block, number)
    found = []  # every span begins and ends on its line
    for place, line in enumerate(lines, start=number):
        pieces = line.split("`")
        if len(pieces) % 2 == 0:
            return _visible_from(block, number)
        if len(pieces) > 1 and holds_any(line):
            pieces[1::2] = [" " * len(piece) for piece in pieces[1::2]]
            line = "`".join(pieces)
        found.append((place, line))
    return found


def _visible_from(block: str, number: int) -> list[tuple[int, str]]:
    return [(number - 1 + line, seen) for line, seen in visible(scan(block, front=False))]


def holds_any(text: str) -> bool:
    """Whether there is anything in a text that this module finds."""
    return "[[" in text or "[src:" in text or "]:" in text


def visible(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """What `prose_of` gives, from scanned lines.

    A code span may run over the ends of lines inside one paragraph, as CommonMark has it, but not over the rows of a table.
    """
    found: list[tuple[int, str]] = []
    paragraph: list[str] = []
    first = 0

    def close() -> None:
        if not any(map(holds_any, paragraph)):
            paragraph.clear()
            return
        if len(paragraph) > 1 and not any(map(_DELIMITER_ROW.match, paragraph)):
            texts = without_code_spans("\n".join(paragraph)).split("\n")
        else:
            texts = [without_code_spans(text) for text in paragraph]
        found.extend(enumerate(texts, start=first))
        paragraph.clear()

    for number, line in enumerate(lines, start=1):
        if line.kind == "text" and line.level != HTML:
            if line.level == BEGINS:
                close()
                first = number
            paragraph.append(line.text)
        elif line.kind == "underline":
            paragraph.append(line.text)
        else:
            close()
            if line.kind == "heading":
                first = number
                paragraph.append(line.raw)
    close()
    return found


def without_code_spans(text: str) -> str:
    """`text` with the inside of every code span and every comment blanked, line ends kept.

    A run of backticks that nothing closes is text, and so is a backtick behind a backslash.
    """
    if "`" not in text and "<!--" not in text:
        return text
    closers: dict[int, list[int]] = {}
    for match in reversed(list(_RUN.finditer(text))):
        closers.setdefault(match.end() - match.start(), []).append(match.start())  # the nearest last: cheap to take off
    pieces: list[str] = []
    position = copied = 0
    last_comment_end = text.rfind("-->")
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[0][0] == "`":
            same = closers.get(position - token.start(), [])
            while same and same[-1] < position:
                same.pop()
            end = same[-1] if same else -1
            after = end + position - token.start()
        elif token[0][0] == "<":
            if position > last_comment_end:
                continue
            end = text.find("-->", position)
            after = end + 3
        else:
            continue
        if end >= 0:
            pieces += [text[copied:position], _NOT_A_LINE_END.sub(" ", text[position:end])]
            copied, position = end, after
    return "".join([*pieces, text[copied:]])


def wikilinks(lines: Sequence[tuple[int, str]]) -> list[WikiLink]:
    """Every wikilink with a target. An escaped pipe, as tables need it, separates the alias too.

    No wikilink is `\\[[x]]`, whose bracket is escaped, `[[x]](url)` and `[[x]][label]` with a label that the document defines,
    and `[[x]]` itself where it defines that one (`[x]: path`, as Foam writes at the end of a note): these are ordinary links.
    What a bibliography line repeats of a record is none either.
    """
    found = []
    defined: frozenset[str] | None = None
    for number, text in lines:
        if "[[" not in text or ("[src:" in text and _BIBLIOGRAPHY.match(text)):
            continue
        for match in _LINK.finditer(text):
            slashes, embed, inner = match.groups()
            target = inner.partition("|")[0].removesuffix("\\").partition("#")[0].strip()
            if not target or (len(slashes) % 2 and not embed):
                continue
            after = text[match.end():match.end() + 1]
            if after == "(" and _TARGET.match(text, match.end()):
                continue
            if defined is None:
                defined = _defined(lines)
            if defined and (_label(inner) in defined or (after == "[" and (reference := _REFERENCE.match(text, match.end()))
                                                         and _label(reference[1]) in defined)):
                continue
            found.append(WikiLink(number, target, bool(embed) and len(slashes) % 2 == 0))
    return found


def _defined(lines: Sequence[tuple[int, str]]) -> frozenset[str]:
    """The labels that a document defines. A definition stands at the beginning of a paragraph, or below another one."""
    found = set()
    previous, open_text = 0, False
    for number, text in lines:
        running = open_text and number == previous + 1
        defines = "]:" in text and not running and DEFINITION.match(text)
        if defines and (label := _LABEL.match(text)):
            found.add(_label(label[1]))
        previous, open_text = number, not defines and bool(text.strip()) and text[0] != "#"
    return frozenset(found)


def _label(text: str) -> str:
    """A link label as CommonMark compares it: case and white space aside."""
    return " ".join(text.casefold().split())


def citations(prose: Sequence[tuple[int, str]]) -> list[Citation]:
    """Every citation. A bibliography line is one of its own record, whatever the record's title says."""
    found = []
    for number, text in prose:
        if "[src:" in text:
            line = _BIBLIOGRAPHY.match(text)
            tokens = [line[1]] if line else _CITATION.findall(text)
            found += [Citation(number, token.strip()) for token in tokens]
    return found


def bibliography(prose: Sequence[tuple[int, str]], lines: Sequence[str]) -> list[BibliographyLine]:
    """Every bibliography line, its rendering as it stands in the file."""
    found = []
    for number, text in prose:
        if "[src:" in text:
            match = _BIBLIOGRAPHY.match(text)
            if match:
                raw = lines[number - 1]
                found.append(BibliographyLine(number, match[1].strip(), raw[raw.index("]") + 1:].strip()))
    return found
