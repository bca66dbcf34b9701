"""W03 dash: a line holds an em dash or an en dash.

The dash is the mark that a sentence was written by a machine, or that two sentences were not told apart. A comma, a colon or a full
stop does its work. Every file is asked, code and front matter too; a bibliography line is not, because it repeats a record.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def dashes(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        for dash in note.dashes:
            kind = "an em dash" if dash.character == "\u2014" else "an en dash"
            yield Problem(note.path, dash.line, f"the line holds {kind}; use a comma, a colon or a full stop")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W03", "dash", "warning", dashes, doc=__doc__ or "")]
