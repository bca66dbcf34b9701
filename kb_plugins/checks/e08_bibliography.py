"""E08 bibliography: a note cites a record and does not carry its line, or carries one that has drifted.

The reference list is a projection of the records: a note that cites KEY ends with `- [src:KEY] ...` exactly as the record renders,
and the finding shows that line to paste. The comparison is of every character.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, NoteUnderCheck, Problem, Record, hookimpl, render_record


def drifted_bibliographies(view: BaseUnderCheck) -> Iterator[Problem]:
    records = {record.key: record for record in view.records or ()}
    for note in view.notes if records else ():
        if note.citations:  # a bibliography line is one too
            yield from _of_note(note, records)


def _of_note(note: NoteUnderCheck, records: dict[str, Record]) -> Iterator[Problem]:
    carried = {line.key for line in note.bibliography}
    seen = set()
    for citation in note.citations:
        record = records.get(citation.token)
        if record is not None and citation.token not in carried and citation.token not in seen:
            seen.add(citation.token)
            yield Problem(note.path, citation.line, f"the note cites {record.key} and lacks its line:\n    {_line(record)}")
    for line in note.bibliography:
        record = records.get(line.key)
        if record is not None and line.rendering != render_record(record):
            yield Problem(note.path, line.line, f"the line for {record.key} differs from its record, which renders:\n    {_line(record)}")


def _line(record: Record) -> str:
    return f"- [src:{record.key}] {render_record(record)}"


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E08", "bibliography", "error", drifted_bibliographies, doc=__doc__ or "")]
