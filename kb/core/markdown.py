"""The line structure of a markdown document, as CommonMark sees it: front matter, fences, headings, code, text."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

LineKind = Literal["front", "blank", "fence", "code", "heading", "underline", "text"]

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})(.*)$", re.DOTALL)
_LIST = re.compile(r"( {0,3})([-+*]|\d{1,9}[.)])([ \t]+|$)")
_BREAKS_PARAGRAPH = re.compile(r" {0,3}(?:>|([-+*]|\d{1,9}[.)])[ \t]|(?:[-_*][ \t]*){3,}$)")


_MARKERS = frozenset("-+*0123456789")
_BREAKERS = _MARKERS | frozenset(">_")


class Line(NamedTuple):
    """One line. `text` is the line without its end, for headings the heading's own text; `level` is 1 to 6 for headings.

    fence: an opening or closing fence line, or a line inside one. underline: the line under a setext heading.
    """

    kind: LineKind
    text: str
    level: int = 0


def lines_of(text: str) -> list[str]:
    """The lines of `text`: split at LF only, one CR before it dropped, no empty item after a final LF."""
    found = text.split("\n")
    if found and found[-1] == "":
        found.pop()
    return [line[:-1] if line.endswith("\r") else line for line in found]


def scan(text: str) -> list[Line]:
    """Every line of the document with its kind, in order: item i is line i + 1 of the file."""
    raw = lines_of(text)
    start = front_matter_end(raw)
    lines: list[Line] = [Line("front", line) for line in raw[:start]]
    fence = ""           # the opening run while inside a fence
    paragraph = -1       # index in `lines` of the first line of the open paragraph, or -1
    list_indent = -1     # content indent of the open list item, or -1
    for line in raw[start:]:
        if fence:
            lines.append(Line("fence", line))
            closing = _FENCE.match(line)
            if closing and closing[2].startswith(fence) and not closing[3].strip():
                fence = ""
            continue
        bare = line.lstrip(" \t")
        if not bare.strip():
            lines.append(Line("blank", line))
            paragraph = -1
            continue
        first = bare[0]
        indent = _columns(line, len(line) - len(bare))
        if list_indent >= 0 and indent < list_indent and paragraph < 0:
            list_indent = -1
        item = _LIST.match(line) if first in _MARKERS and (indent < 4 or list_indent >= 0) else None
        body = line
        if item:
            list_indent = len(item[0].expandtabs(4)) if item[3] else len(item[0]) + 1
            body = line[len(item[0]):]
        opening = _FENCE.match(body) if body.lstrip(" \t")[:1] in ("`", "~") else None
        if opening and (indent < 4 or list_indent >= 0) and not (opening[2][0] == "`" and "`" in opening[3]):
            fence = opening[2]
            lines.append(Line("fence", line))
            paragraph = -1
            continue
        if paragraph < 0 and indent >= 4 and (list_indent < 0 or indent >= list_indent + 4):
            lines.append(Line("code", line))
            continue
        if indent < 4:
            atx = _ATX.match(line) if first == "#" else None
            if atx:
                lines.append(Line("heading", _CLOSING.sub("", (atx[2] or "").strip()).strip(), len(atx[1])))
                paragraph, list_indent = -1, -1
                continue
            under = _SETEXT.match(line) if first in "=-" and paragraph >= 0 and list_indent < 0 else None
            if under:
                level = 1 if under[1][0] == "=" else 2
                title = " ".join(item.text.strip() for item in lines[paragraph:])
                lines[paragraph:] = [Line("heading", title, level),
                                     *(Line("underline", item.text) for item in lines[paragraph + 1:]),
                                     Line("underline", line)]
                paragraph = -1
                continue
        lines.append(Line("text", line))
        if item or (first in _BREAKERS and _BREAKS_PARAGRAPH.match(line)):
            paragraph = -1
        elif paragraph < 0:
            paragraph = len(lines) - 1
    return lines


def _columns(line: str, indent: int) -> int:
    """How many columns the white space at the start of a line takes: a tab goes to the next multiple of four."""
    return len(line[:indent].expandtabs(4)) if "\t" in line[:indent] else indent


def front_matter_end(lines: list[str]) -> int:
    """How many lines the front matter takes, its two `---` included; 0 when there is none or it never closes."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == "---":
            return number
    return 0


def front_matter(lines: list[str]) -> dict[str, str]:
    """The first value of each `key: value` line of the front matter, keys lower-cased, values as written.

    YAML types mean nothing here: a date, `no` or a title with a colon is the text that stands there. Indented lines
    belong to the key above and are skipped.
    """
    found: dict[str, str] = {}
    for line in lines[1:front_matter_end(lines) - 1]:
        if not line[:1].strip() or line[0] == "#":
            continue
        key, colon, value = line.partition(":")
        if colon and key.strip():
            found.setdefault(key.strip().lower(), value.strip())
    return found
