"""Files of other bases that a text names, as `<base>/<path>.md`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kb.core.values import Place

LONGEST = 400  # characters of a path that are looked at, so that a line without blanks costs no more than others
_ENDS = frozenset("`'\"()[]<>{}|*,;")


def mentions(text: str, own: str, files: Mapping[str, Collection[str]]) -> list[Place]:
    """The files of other bases than `own` that `text` names, once each, in order. `files` maps a base to its paths.

    A name counts when no letter, digit, `/`, `.` or `-` stands before it, and it has neither blanks nor `..`.
    """
    found: dict[Place, int] = {}
    for base, paths in files.items():
        if base == own:
            continue
        start = text.find(base + "/")
        while start >= 0:
            before = text[start - 1:start]
            if not (before.isalnum() or (before in ("/", ".", "-", "_") and before)):
                place = _file_at(text, start + len(base) + 1, base, paths)
                if place is not None:
                    found.setdefault(place, start)
            start = text.find(base + "/", start + 1)
    return sorted(found, key=lambda place: found[place])


def _file_at(text: str, start: int, base: str, paths: Collection[str]) -> Place | None:
    run = text[start:start + LONGEST]
    end = next((number for number, c in enumerate(run) if c.isspace() or c in _ENDS), len(run))
    run = run[:end]
    at = run.find(".md")
    while at >= 0:
        path = run[:at + 3]
        if path in paths:
            return Place(base, path)
        at = run.find(".md", at + 1)
    return None
