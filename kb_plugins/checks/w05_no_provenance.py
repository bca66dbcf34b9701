"""W05 no-provenance: a note's front matter does not say where it came from, or at which stage it is.

Asked of notes in the knowledge folder that open with front matter: one finding for each of `provenance` and `stage` that is missing.
A note without front matter is a note that makes no claim, and gets no finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def undeclared_notes(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.in_knowledge and note.has_front_matter:
            for field in ("provenance", "stage"):
                if field not in note.header.front:
                    yield Problem(note.path, 1, f"the front matter has no {field}")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W05", "no-provenance", "warning", undeclared_notes, doc=__doc__ or "")]
