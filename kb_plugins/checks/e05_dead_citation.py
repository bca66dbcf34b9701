"""E05 dead-citation: a citation names a record that the base does not have.

`[src:KEY]` stands for sources/KEY.txt. The finding says whether the record is missing or the token is no key at all. Each token is
reported once a file, where it first stands. `kb source add` mints a record; a citation of a record that does not parse is E09's business.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl, is_key, key_rule


def dead_citations(view: BaseUnderCheck) -> Iterator[Problem]:
    if view.records is None:
        return
    known = {record.key for record in view.records} | {broken.name[:-4] for broken in view.broken_records} | view.withheld_records
    for note in view.notes:
        seen = set()
        for citation in note.citations:
            token = citation.token
            if token in known or token in seen:
                continue
            seen.add(token)
            message = (f"[src:{token}] has no record: there is no sources/{token}.txt" if is_key(token)
                       else f"[src:{token}] is no key: {key_rule()}")
            yield Problem(note.path, citation.line, message)


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E05", "dead-citation", "error", dead_citations, doc=__doc__ or "")]
