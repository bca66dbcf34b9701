"""A base's map: a reading list for a person, with a section per folder and an entry per note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kb.core.display import flat
from kb.core.markdown import HTML, Line, scan


class MapEdit(NamedTuple):
    """A map with one more entry. `created` says that the section was made for it, `seen` that a reader of the map sees the entry:
    it may stand in a fence or a comment that nothing closes."""

    text: str
    heading: str
    created: bool
    seen: bool


def add_entry(text: str, folder: str, slug: str, summary: str, keys: Sequence[str]) -> MapEdit:
    """The map with an entry for `slug` at the end of the section of `folder`; every other byte stays as it is.

    A blank summary and no keys make an entry that is the link alone.

    A section opens with `### <folder>/` and ends at the next heading of its own or a higher level.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    heading = f"### {folder}/"
    entry = [f"- **[[{slug}]]** {flat(summary)}".rstrip(), *([f"  **Search for:** {', '.join(keys)}"] if keys else ())]
    raw = text.split("\n")
    lines = scan(text)
    start = _section(lines, folder)
    if start is None:
        kept = text.rstrip()
        opening = [kept, "", heading] if kept else [heading]
        made = end.join([*opening, "", *entry, ""])
        return MapEdit(made, heading, True, _section(scan(made), folder) is not None)
    stop = next((number for number in range(start + 1, len(lines))
                 if lines[number].kind == "heading" and lines[number].level <= 3), len(lines))
    last = max(number for number in range(start, stop) if lines[number].kind != "blank")
    carriage = "\r" if end == "\r\n" else ""
    raw[last] = raw[last].removesuffix("\r") + carriage
    for between in ([], [""]):  # raw HTML, such as a </details>, goes on to the next blank line
        if last == start and not between:
            continue
        added = [line + carriage for line in (*between, *entry)]
        made = "\n".join([*raw[:last + 1], *added, *(raw[last + 1:] or [""])])
        line = scan(made)[last + 1 + len(between)]
        seen = line.kind == "text" and line.level != HTML
        if seen:
            break
    return MapEdit(made, heading, False, seen)


def lists(text: str, slug: str) -> bool:
    """Whether the map has an entry for `slug`."""
    return f"[[{slug}]]" in text


def _section(lines: Sequence[Line], folder: str) -> int | None:
    return next((number for number, line in enumerate(lines)
                 if line.kind == "heading" and line.level == 3 and line.text == f"{folder}/"), None)
