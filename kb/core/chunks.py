"""Chunks: what the text side indexes and serves. One section is one chunk, a long section several overlapping windows.

Sizes are characters (code points): 1,800 is about 450 tokens of prose.
"""

from __future__ import annotations

from kb.core.header import key_span, split_label
from kb.core.markdown import Line, scan

WINDOW = 1800
OVERLAP = 300
LEAST = 600        # a blank line nearer to the start of a window than this is no place to end it
LONGEST_TITLE = 300

_KEY_LABELS = ("search for", "buscar por")


def chunk(text: str, lines: list[Line] | None = None) -> list[tuple[str, str]]:
    """(heading path, text) of every chunk of a note, in the order of the note.

    `lines` are the scanned lines of `text`, when the caller has them. The path joins the titles with ` > ` and is empty
    above the first heading. Front matter, key lines and sections called `Search for` are no text; purpose lines are.
    """
    if lines is None:
        lines = scan(text)
    keys = key_lines(lines) if _mentions_keys(text) else frozenset()
    chunks: list[tuple[str, str]] = []
    titles: list[tuple[int, str]] = []
    body: list[str] = []
    path, silent = "", False

    def close() -> None:
        joined = "\n".join(body).strip()
        if joined and not silent:
            chunks.extend((path, window) for window in windows(joined))
        body.clear()

    for number, (kind, content, level, _) in enumerate(lines):
        if kind == "heading":
            close()
            while titles and titles[-1][0] >= level:
                titles.pop()
            titles.append((level, content[:LONGEST_TITLE].rstrip()))
            path = " > ".join(title for _, title in titles)
            silent = content[:10].lower().startswith(_KEY_LABELS)
            if len(content) > LONGEST_TITLE:  # a paragraph over a rule is a heading too: its words stay searchable
                body.append(content)
        elif kind == "text":
            if number not in keys:
                body.append(content)
        elif kind == "blank":
            body.append("")
        elif (kind == "code" or kind == "fence") and number not in keys:
            body.append(content)
    close()
    return chunks


def windows(body: str) -> list[str]:
    """`body` whole when it fits, else windows of at most 1,800 characters that end at a blank line where one is near.

    A window begins 300 characters before the end of the one before it.
    """
    if len(body) <= WINDOW:
        return [body]
    found: list[str] = []
    start = 0
    while True:
        end = min(start + WINDOW, len(body))
        if end < len(body):
            blank = body.rfind("\n\n", start, end)
            if blank - start > LEAST:
                end = blank
        window = body[start:end].strip()
        if window:
            found.append(window)
        if end >= len(body):
            return found
        start = max(end - OVERLAP, start + 1)


def _mentions_keys(text: str) -> bool:
    lowered = text.lower()
    return any(label in lowered for label in _KEY_LABELS)


def key_lines(lines: list[Line]) -> frozenset[int]:
    """Numbers of the lines that key labels and their lists take, wherever they stand: maps have one in each section."""
    taken: set[int] = set()
    number = 0
    while number < len(lines):
        if lines[number].kind == "text" and split_label(lines[number].text)[0] == "keys":
            end = key_span(lines, number)
            taken.update(range(number, end))
            number = end
        else:
            number += 1
    return frozenset(taken)
