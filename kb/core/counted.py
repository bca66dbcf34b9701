"""Counted logs as text: what repeats is one row with a count and two dates, most frequent first.

Pure: from the text of a log to rows and back. A line that is no row is kept as it stands and can be named; the comment
at the top stays the user's once the file exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

R = TypeVar("R")

LONGEST = 4000
_COUNT = re.compile(r"[0-9]{1,15}\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = str.maketrans(dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " "))  # a log is shown on terminals
_MARK = "# What follows could not be read as rows. It is kept as it was found."


class Stray(NamedTuple):
    """A line that is no row of its log: its number in the file, from 1, and the line as it stands."""

    number: int
    text: str


@dataclass(frozen=True)
class LogFormat(Generic[R]):
    """The shape of one log.

    file:     its name beside fleet.txt.
    header:   the comment that a new file begins with, lines without the `# `.
    read:     one line -> a row, or None when the line is none.
    line:     a row -> its line or lines, every field flat.
    key:      rows with equal keys are one row.
    merge:    (older, newer) -> that one row; None keeps both.
    order:    what rows are sorted by; None keeps the order of the file.
    continue_: (row, line) -> the row with what a following line adds, or None when the line does not follow a row.
    """

    file: str
    header: Sequence[str]
    read: Callable[[str], R | None]
    line: Callable[[R], str]
    key: Callable[[R], Hashable]
    merge: Callable[[R, R], R] | None
    order: Callable[[R], Any] | None
    continue_: Callable[[R, str], R | None] = lambda row, line: None
    spaced: bool = False


class LogText(NamedTuple, Generic[R]):
    """A parsed log: rows, the comment lines at its top, and every other line that is not a row, in file order.

    end: what ends its lines, as it was found.
    """

    rows: tuple[R, ...]
    top: tuple[str, ...]
    rest: tuple[Stray, ...]
    end: str = "\n"

    @property
    def strays(self) -> tuple[Stray, ...]:
        """The lines that should have been rows."""
        return tuple(line for line in self.rest if not line.text.startswith("#"))


def parse(form: LogFormat[R], text: str) -> LogText[R]:
    """The rows of a log. Nothing in `text` raises."""
    rows: list[R] = []
    top: list[str] = []
    rest: list[Stray] = []
    open_ = False  # whether the line before belongs to a row, which this line may continue
    body = False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r")
        if line.startswith("#"):
            if line != _MARK:
                rest.append(Stray(number, line)) if body else top.append(line)
            open_ = False
        elif line.strip():
            body = True
            longer = form.continue_(rows[-1], line) if open_ else None
            if longer is not None:
                rows[-1] = longer
                continue
            row = form.read(line)
            open_ = row is not None
            rows.append(row) if row is not None else rest.append(Stray(number, line))
    return LogText(fold(form, rows), tuple(top), tuple(rest), "\r\n" if "\r\n" in text else "\n")


def fold(form: LogFormat[R], rows: Sequence[R]) -> tuple[R, ...]:
    """Rows with equal keys merged, in the order of the format."""
    if form.merge is None:
        found = list(rows)
    else:
        by_key: dict[Hashable, R] = {}
        for row in rows:
            key = form.key(row)
            by_key[key] = form.merge(by_key[key], row) if key in by_key else row
        found = list(by_key.values())
    return tuple(sorted(found, key=form.order) if form.order else found)


def render(form: LogFormat[R], log: LogText[R]) -> str:
    """The text of a log: comment, rows, and last what could not be read. Its lines end as they did."""
    lines = list(log.top or (f"# {line}".rstrip() for line in form.header))
    for row in fold(form, log.rows):
        if form.spaced:
            lines.append("")
        lines.append(form.line(row))
    comments = [line.text for line in log.rest if line.text.startswith("#")]
    strays = [line.text for line in log.strays]
    if comments or strays:
        lines += ["", *comments, *((_MARK, *strays) if strays else ())]
    return ("\n".join(lines) + "\n").replace("\n", log.end)


# -- fields ------------------------------------------------------------------------------------------------------------


def field(text: str) -> str:
    """`text` as one field: no tab, no line end, no half of a surrogate pair, nothing around it."""
    return _SURROGATE.sub("\ufffd", text.translate(_BREAKS)).strip()


def clipped(text: str) -> str:
    """`text` as one field of at most LONGEST characters: a pasted file is no question, and a log is read by people."""
    text = field(text)
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " ..."


def count_of(text: str) -> int | None:
    """A count as written, or None when it is not a whole number above zero."""
    return int(text) or None if _COUNT.match(text) else None


def tabbed(line: str, least: int, most: int) -> list[str] | None:
    """The fields of a tab-separated line: at least `least`, filled up to `most`; what is beyond belongs to the last."""
    parts = [part.strip() for part in line.split("\t", most - 1)]
    if len(parts) < least:
        return None
    return parts + [""] * (most - len(parts))
