"""W09 superseded: a note cites a record that a later one replaces.

The old record still resolves. Read the newer one, and cite it if the note still holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def superseded_citations(view: BaseUnderCheck) -> Iterator[Problem]:
    newer = {record.replaces: record for record in reversed(view.records or ()) if record.replaces}
    for note in view.notes if newer else ():
        seen = set()
        for citation in note.citations:
            record = newer.get(citation.token)
            if record is not None and citation.token not in seen:
                seen.add(citation.token)
                yield Problem(note.path, citation.line, f'{citation.token} is replaced by {record.key}, "{record.title}"')


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W09", "superseded", "warning", superseded_citations, doc=__doc__ or "")]
