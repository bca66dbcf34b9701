"""W07 dead-key: a key that no question can reach.

A key is matched as one word or as a phrase of two. One that is written as several words of which stop words leave only one
(`best practices` leaves `practices`), or that is nothing but stop words, is in neither list. Write the word alone, or add one
that carries meaning.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def notes_with_dead_keys(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.dead_keys and not note.exempt:
            yield Problem(note.path, 0, f"no question reaches {', '.join(note.dead_keys)}: stop words leave less than a key")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W07", "dead-key", "warning", notes_with_dead_keys, doc=__doc__ or "")]
