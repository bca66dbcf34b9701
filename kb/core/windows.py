"""Small to big: matched chunks become the windows that a model reads. Cut on words, never inside a character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.core.chunks import key_lines
from kb.core.display import printable
from kb.core.markdown import lines_of, scan
from kb.core.values import Layer, Passage

LIMIT = 1800  # code points of one window, about 450 tokens
_OVERLAP = 10
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_MARKS = re.compile(r"^[ \t]*(?:---[ \t]|VESTA:|EVIDENCE:|THE (?:QUESTION|PASSAGES|MESSAGE|FACTS|FILES):"
                    r"|\[SHORT MEMORY|\[short memory)", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one file as a model reads it. `path` is `base/path`; `text` is "" when only the purpose is known.

    heading_path: the headings above it joined by ` > `, or "" at the top of the file.
    """

    path: str
    heading_path: str
    text: str
    memory: Layer = "long"
    captured_from: str | None = None
    purpose: str = ""


def readable(text: str) -> str:
    """A note as a model may read it: front matter and key lines gone, every other line as it stands."""
    lines = scan(text)
    keys = key_lines(lines)
    return "\n".join(raw for number, (raw, line) in enumerate(zip(lines_of(text), lines, strict=True))
                     if line.kind != "front" and number not in keys)


def shielded(text: str) -> str:
    """A passage as text that cannot pass for ours: its control characters shown, lines that copy our marks quoted."""
    text = printable(text, lines=True)
    return _MARKS.sub(r"> \g<0>", text)


def assemble(path: str, memory: Layer, passages: Sequence[Passage], document: str | None) -> list[Window]:
    """The windows of one file: each passage grown to its section, those of one section merged, none over LIMIT.

    Order is that of the passages; passages merge into the first of their heading path and origin. `document` is what
    `readable` makes of the file; None leaves the passages as they are.
    """
    found: dict[tuple[str, str | None], Window] = {}
    for passage in passages:
        text = passage.text.strip()
        if document is not None:
            text = expand(document, text, LIMIT)
        key = (passage.heading_path, passage.captured_from)
        known = found.get(key)
        if known is None:
            found[key] = Window(path, passage.heading_path, text, memory, passage.captured_from)
        else:
            found[key] = replace(known, text=merge(known.text, text))
    return [replace(window, text=cap(window.text, LIMIT)) for window in found.values()]


def merge(first: str, second: str) -> str:
    """Two chunks of one section as one text: what one holds of the other, or what overlaps by ten characters, once."""
    first, second = first.strip(), second.strip()
    if second in first:
        return first
    if first in second:
        return second
    length = _overlap(first, second)
    if length >= _OVERLAP:
        rest = second[length:].lstrip()
        return f"{first}\n{rest}" if rest else first
    return f"{first}\n\n{second}"


def expand(document: str, chunk: str, limit: int = LIMIT) -> str:
    """`chunk` grown to the section around it when that fits, else to whole paragraphs as far as they fit.

    A chunk that is blank or not in the document comes back unchanged. A section ends at an ATX heading outside fences.
    """
    target = chunk.strip()
    at = document.find(target) if target else -1
    if at < 0:
        return chunk
    start, end = _section(document, at, at + len(target))
    section = document[start:end].strip()
    if len(section) <= limit:
        return section
    left, right = at, at + len(target)
    for edge in (document.rfind("\n\n", start, at), start):
        begin = edge if edge >= start else start
        if right - begin <= limit:
            left = begin
            break
    if left == at and left > start and document[left - 1].isalnum() and document[left].isalnum():
        space = re.search(r"\s", document[left:right])  # the chunk begins inside a word: leave the rest of it out
        left += space.start() if space else 0
    for edge in (document.find("\n\n", right, end), end):
        stop = edge if edge >= 0 else end
        if stop - left <= limit:
            right = stop
            break
    return cap(document[left:right].strip(), limit)


def cap(text: str, limit: int = LIMIT) -> str:
    """`text` cut to at most `limit` characters: at the last blank line, else sentence, else word beyond the half."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[:limit]
    blank = head.rfind("\n\n")
    if blank > limit // 2:
        return head[:blank].rstrip()
    sentence = head.rfind(". ")
    if sentence > limit // 2:
        return head[:sentence + 1]
    if text[limit].isspace():
        return head.rstrip()
    word = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    if word > limit // 2:
        return head[:word].rstrip()
    return _whole_characters(text, limit)


def _overlap(first: str, second: str) -> int:
    """The length of the longest end of `first` that starts `second`, by the prefix function (Knuth, Morris, Pratt)."""
    tail = first[-len(second):]
    failure = [0] * len(second)
    length = 0
    for at in range(1, len(second)):
        while length and second[at] != second[length]:
            length = failure[length - 1]
        length += second[at] == second[length]
        failure[at] = length
    length = 0
    for number, c in enumerate(tail):
        while length and (length == len(second) or c != second[length]):
            length = failure[length - 1]
        length += c == second[length]
        if length == len(second) and number + 1 < len(tail):
            length = failure[length - 1]
    return length


def _section(document: str, start: int, end: int) -> tuple[int, int]:
    """From after the last heading before `start` to the next heading after `end`; headings in fences do not count."""
    first, last = 0, len(document)
    offset, fence = 0, ""
    for line in document.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end():].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif _ATX.match(line):
            if offset >= end:
                last = offset
                break
            if offset <= start:
                first = offset + len(line)
        offset += len(line)
    return (first, last) if first <= start else (start, last)


def _whole_characters(text: str, limit: int) -> str:
    """A hard cut that does not part a letter from the marks and joiners that follow it."""
    import unicodedata

    end = limit
    while end > max(0, limit - 32) and end < len(text) and (
            unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0f" or text[end - 1] == "\u200d"
            or "\U0001f3fb" <= text[end] <= "\U0001f3ff"):
        end -= 1
    return text[:end or limit].rstrip()
