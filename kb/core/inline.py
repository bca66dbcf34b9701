"""What a note says inside its lines: wikilinks, citations and bibliography lines, code left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.markdown import Line

_RUN = re.compile(r"\\`|`+")
_BLOCK_START = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])[ \t]|\s*>")
_LINK = re.compile(r"(!?)\[\[([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\](?!\()")  # [[x]](url) is an ordinary link
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


def visible(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """(1-based line, its text with code spans blanked) for the lines that are prose: no fences, code or front matter.

    A code span may run over the ends of lines inside one paragraph, as CommonMark has it.
    """
    found: list[tuple[int, str]] = []
    paragraph: list[tuple[int, str]] = []

    def close() -> None:
        if paragraph:
            texts = without_code_spans("\n".join(text for _, text in paragraph)).split("\n")
            found.extend((number, text) for (number, _), text in zip(paragraph, texts, strict=True))
            paragraph.clear()

    for number, line in enumerate(lines, start=1):
        if line.kind == "text":
            if paragraph and _BLOCK_START.match(line.text):
                close()
            paragraph.append((number, line.text))
        else:
            close()
            if line.kind == "heading":
                found.append((number, without_code_spans(line.text)))
    close()
    return found


def without_code_spans(text: str) -> str:
    """`text` with the inside of every code span blanked, line ends kept. A run of backticks that nothing closes is text."""
    if "`" not in text:
        return text
    runs = [(match.start(), match.end()) for match in _RUN.finditer(text) if text[match.start()] == "`"]
    following: dict[int, list[int]] = {}
    for index, (start, end) in reversed(list(enumerate(runs))):
        following.setdefault(end - start, []).append(index)  # the nearest last, so that taking it off is cheap
    pieces, position, index = [], 0, 0
    while index < len(runs):
        start, end = runs[index]
        same = following[end - start]
        while same and same[-1] <= index:
            same.pop()
        if not same:
            index += 1
            continue
        closing = same[-1]
        inside = text[end:runs[closing][0]]
        pieces += [text[position:end], "".join(c if c == "\n" else " " for c in inside)]
        position, index = runs[closing][0], closing + 1
    return "".join([*pieces, text[position:]])


def wikilinks(prose: Sequence[tuple[int, str]]) -> list[WikiLink]:
    """Every wikilink with a target. An escaped pipe, as tables need it, separates the alias too."""
    found = []
    for number, text in prose:
        if "[[" in text:
            for match in _LINK.finditer(text):
                target = match[2].partition("|")[0].removesuffix("\\").partition("#")[0].strip()
                if target:
                    found.append(WikiLink(number, target, bool(match[1])))
    return found


def citations(prose: Sequence[tuple[int, str]]) -> list[Citation]:
    """Every citation, those on bibliography lines included."""
    return [Citation(number, match[1].strip()) for number, text in prose if "[src:" in text for match in _CITATION.finditer(text)]


def bibliography(prose: Sequence[tuple[int, str]], lines: Sequence[Line]) -> list[BibliographyLine]:
    """Every bibliography line, its rendering as it stands in the file."""
    found = []
    for number, text in prose:
        if "[src:" in text:
            match = _BIBLIOGRAPHY.match(text)
            if match:
                raw = lines[number - 1].text
                found.append(BibliographyLine(number, match[1].strip(), raw[raw.index("]") + 1:].strip()))
    return found
