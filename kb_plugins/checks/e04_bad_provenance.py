"""E04 bad-provenance: the front matter of a note says where it came from in words that mean nothing.

`provenance` is human, agent or external; `stage` is raw, captured, distilled or derived. Case counts and quotes are not
taken off. Asked of notes in the knowledge folder that open with front matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import PROVENANCES, STAGES, BaseUnderCheck, Check, Problem, hookimpl

_LEGAL = {"provenance": PROVENANCES, "stage": STAGES}


def illegal_values(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.in_knowledge and note.has_front_matter:
            for field, legal in _LEGAL.items():
                value = note.header.front.get(field)
                if value is not None and value not in legal:
                    yield Problem(note.path, 1, f'{field} is "{value}", and must be one of {", ".join(legal)}')


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E04", "bad-provenance", "error", illegal_values, doc=__doc__ or "")]
