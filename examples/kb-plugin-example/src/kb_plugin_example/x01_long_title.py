"""X01 long-title: the title of a note is longer than eighty characters.

A list of notes is read by its titles. What does not fit on a line of a terminal belongs in the `Exists to:` line.

    # How the pump in the lower field is flushed before winter when the inlet valve cannot be closed

Shorten the title: `# Flushing the lower pump`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl

LONGEST = 80


def long_titles(view: BaseUnderCheck) -> Iterator[Problem]:
    """One problem for each note whose title is too long."""
    for note in view.notes:
        length = len(note.header.title)
        if length > LONGEST:
            yield Problem(note.path, 0, f"the title has {length} characters; {LONGEST} are enough")


@hookimpl
def kb_checks() -> list[Check]:
    """The code X01."""
    return [Check("X01", "long-title", "warning", long_titles, doc=__doc__ or "")]
