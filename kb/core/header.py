"""The header of a note: title, keys, purpose and front matter, read from the lines above the first section heading."""

from __future__ import annotations

import re

from kb.core.markdown import Line, front_matter, front_matter_end, lines_of, scan
from kb.core.values import Header

_LABELS = {"search for": "keys", "buscar por": "keys", "exists to": "purpose", "existe para": "purpose"}
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")
_CLOSES_FRONT = re.compile(r"^---[ \t\r]*$", re.MULTILINE)
# The head that most notes have: title, keys and purpose on a line each, then paragraphs of plain text, then a section or the end.
_USUAL_HEAD = re.compile(
    r"\n*(?:# ([^#\r\n]*)\n+)?\*\*(?ai:Search for|Buscar por):\*\* (\S[^\r\n]*)\n(?=\n|\*\*Exist)\n*"
    r"(?:\*\*(?ai:Exists to|Existe para):\*\* (\S[^\r\n]*)\n+)?"
    r"(?:(?!(?ai:search for|buscar por|exists to|existe para))[^\W\d_][^\r\n]*\n+)*(?:#{2,6} |\Z)")
# Keys in backticks that begin and end with a letter, digit or underscore: nothing has to be taken off them.
_USUAL_KEYS = re.compile(r"(?:`(?=\w)[^`,;\x00]+(?<=\w)`(?:, |\Z))+")
_SECTION_OR_UNSURE = re.compile(r"^(?:#{2,6}(?=[ \t\r\n]|\Z)| {0,3}(?:-+[ \t\r]*$|`{3}|~{3}|<| ##))", re.MULTILINE)


class HeaderLines:
    """A parsed header and the line numbers (0-based) that its keys occupy, which are never text."""

    def __init__(self, header: Header, key_lines: frozenset[int]) -> None:
        self.header = header
        self.key_lines = key_lines


def parse_header(text: str) -> Header:
    """The header of a note's text."""
    return _usual_header(text) or read_header(text, scan_head(text)).header


def _usual_header(text: str) -> Header | None:
    """The header of a note whose head has the usual form, at a quarter of the scanner's cost; None for any other."""
    front: dict[str, str] = {}
    start = 0
    if text.startswith("---"):
        closing = _CLOSES_FRONT.search(text, 3)
        lines = lines_of(text[:closing.end()]) if closing else []
        if closing is None or front_matter_end(lines) != len(lines):
            return None
        front, start = front_matter(lines), closing.end()
    head = _USUAL_HEAD.match(text, start)
    if head is None:
        return None
    title, keys, purpose = head.groups("")
    return Header(title.strip(), split_keys(keys.strip()), purpose.strip().rstrip(".").rstrip(), front)


def scan_head(text: str) -> list[Line]:
    """The scanned lines up to the first section heading or a little more: enough for `read_header`, cheap on long notes."""
    return scan(text[:_head_end(text)])


def read_header(text: str, lines: list[Line]) -> HeaderLines:
    """Read the header from scanned lines. Only what stands above the first heading of level 2 or deeper counts."""
    title = ""
    keys: tuple[str, ...] = ()
    purpose = ""
    taken: set[int] = set()
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.kind == "heading":
            if line.level > 1:
                break
            title = title or line.text
        elif line.kind == "text":
            label, rest = split_label(line.text)
            if label == "keys":
                span = key_span(lines, number)
                taken.update(range(number, span))
                if not keys:
                    keys = split_keys(_joined(rest, [item.text for item in lines[number + 1:span]]))
                number = span
                continue
            if label == "purpose" and not purpose:
                purpose = rest.strip().rstrip(".").rstrip()
        number += 1
    front = front_matter([line.text for line in lines if line.kind == "front"]) if lines and lines[0].kind == "front" else {}
    return HeaderLines(Header(title, keys, purpose, front), frozenset(taken))


def split_label(line: str) -> tuple[str | None, str]:
    """(`keys` | `purpose` | None, the text after the label) of one line: bold or plain, case aside, colon in or out."""
    head, colon, tail = line.partition(":")
    if not colon:
        return None, ""
    label = _LABELS.get(head.strip(" \t*_").lower())
    return label, tail.lstrip("*_").strip() if label else ""


def key_span(lines: list[Line], start: int) -> int:
    """The line number after the key list that opens at `start`: it ends at a blank line, a label, a heading or a fence."""
    number = start + 1
    if not split_label(lines[start].text)[1] and number < len(lines) and lines[number].kind == "blank":
        following = number + 1  # bullets may stand one blank line under a bare label
        if following < len(lines) and lines[following].kind == "text" and _BULLET.match(lines[following].text):
            number = following
    while number < len(lines) and lines[number].kind in ("text", "code") and split_label(lines[number].text)[0] is None:
        number += 1
    return number


def split_keys(text: str) -> tuple[str, ...]:
    """The keys of a list: split at commas, semicolons and ends of bullets, wrapping removed, case kept."""
    if _USUAL_KEYS.fullmatch(text):
        return tuple(text[1:-1].split("`, `"))
    pieces = re.split(r"[,;\x00]", text)
    cleaned = (piece.strip().lstrip("-*+ ").strip("`\"*. ") for piece in pieces)
    return tuple(key for key in cleaned if key)


def _joined(first: str, rest: list[str]) -> str:
    """A wrapped list as one line: a line break is a blank, a bullet begins a key."""
    text = first
    for line in rest:
        text += ("\x00" if _BULLET.match(line) else " ") + line.strip()
    return text


def _head_end(text: str) -> int:
    """Where the scan for the header may stop: after the line that opens the first section, by a cheap look."""
    start = 0
    if text.startswith(("---", "+++", "{")):
        closing = _CLOSES_FRONT.search(text, 3) if text[0] == "-" else None
        if closing is None:
            return len(text)
        start = closing.end()
    first = _SECTION_OR_UNSURE.search(text, start)
    if first is None or first[0][0] != "#":  # a fence, HTML, a setext underline, the heading of a list item: leave it to the scanner
        return len(text)
    end = text.find("\n", first.end())
    return len(text) if end < 0 else end + 1
