"""What a note says inside its lines: wikilinks, citations and bibliography lines, code left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kb.core.markdown import BEGINS, HTML, Line, front_matter_end, lines_of, scan

_RUN = re.compile(r"`+")
_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")  # what decides, from left to right: an escape, a run of backticks, a comment
_HIDING = ("    ", "\t", "<", "~~~")  # without these and "```" there is no indented code, no HTML and no fence
_FENCE = re.compile(r"```[^`\n]*\n")
_FENCE_END = re.compile(r"^ {0,3}`{3,}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_NOT_A_LINE_END = re.compile(r"[^\n]")
_DELIMITER_ROW = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*$")
# Neither `\[[x]]`, whose bracket is escaped, nor `[[x]](url)` and `[[x]][label]`, which are ordinary links.
_LINK = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\](?!\(|\[(?!\[))")
_DEFINES = re.compile(r" {0,3}\[([^\[\]]+)\]:[ \t]*\S")
_CITATION = re.compile(r"\[src:([^\]\n]*)\]")
_BIBLIOGRAPHY = re.compile(r"\s*[-*] +\[src:([^\]\n]*)\](.*)")


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
    for place in marks:
        if not done <= place < end:
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
            continue
        else:
            close()
            if line.kind == "heading" and holds_any(line.text):
                found.append((number, without_code_spans(line.text)))
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

    Where the document defines the label (`[x]: path`, as Foam writes at the end of a note), `[[x]]` is an ordinary link to there.
    """
    found = []
    defined = {_label(match[1]) for _, text in lines if "]:" in text for match in [_DEFINES.match(text)] if match}
    for number, text in lines:
        if "[[" in text:
            for match in _LINK.finditer(text):
                target = match[2].partition("|")[0].removesuffix("\\").partition("#")[0].strip()
                if target and (not defined or _label(match[2]) not in defined):
                    found.append(WikiLink(number, target, bool(match[1])))
    return found


def _label(text: str) -> str:
    """A link label as CommonMark compares it: case and white space aside."""
    return " ".join(text.casefold().split())


def citations(prose: Sequence[tuple[int, str]]) -> list[Citation]:
    """Every citation, those on bibliography lines included."""
    return [Citation(number, match[1].strip()) for number, text in prose if "[src:" in text for match in _CITATION.finditer(text)]


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
