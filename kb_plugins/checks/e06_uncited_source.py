"""E06 uncited-source: a record that no note cites.

A bibliography says what the base rests on, so a record that nothing points to is either a citation that was forgotten or a source
that was not used. A record that another one replaces is kept for those who still cite it, and is not asked. Private notes count as
citing, and are never named.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def uncited_records(view: BaseUnderCheck) -> Iterator[Problem]:
    if not view.records:
        return
    cited = {citation.token for note in view.notes for citation in note.citations} | view.private_citations
    replaced = {record.replaces for record in view.records if record.replaces}
    for record in view.records:
        if record.key not in cited and record.key not in replaced:
            yield Problem(f"sources/{record.key}.txt", 0, f'nobody cites {record.key}, "{record.title}"')


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E06", "uncited-source", "error", uncited_records, doc=__doc__ or "")]
