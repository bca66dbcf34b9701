"""W06 thin-keywords: a note has fewer than twelve keys.

A question uses other words than the author: a note with three keys is found by those who think as its author does.
About thirty is a good number, in every language that questions come in. The same files are skipped as for E02.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl

ENOUGH = 12


def thin_notes(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if 0 < len(note.header.keys) < ENOUGH and not note.exempt:
            yield Problem(note.path, 0, f"{len(note.header.keys)} keys are few: aim at about thirty, in every language that is asked in")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W06", "thin-keywords", "warning", thin_notes, doc=__doc__ or "")]
