"""W04 front-matter: a note that rests on sources does not say how strong they are, or for how long they hold.

A note is sourced when its front matter has `source` or `type`, when it cites a record, or when a paragraph opens with
`Sources` or `Fontes`. It should carry `evidence_tier` and `valid_for`: one finding for each that is missing. Asked of notes in
the knowledge folder that open with front matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, NoteUnderCheck, Problem, hookimpl


def undated_notes(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.in_knowledge and note.has_front_matter:
            missing = [field for field in ("evidence_tier", "valid_for") if field not in note.header.front]
            if missing and _is_sourced(note):
                for field in missing:
                    yield Problem(note.path, 1, f"a note that rests on sources needs {field} in its front matter")


def _is_sourced(note: NoteUnderCheck) -> bool:
    front = note.header.front
    return "source" in front or "type" in front or bool(note.citations) or note.names_sources


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W04", "front-matter", "warning", undated_notes, doc=__doc__ or "")]
