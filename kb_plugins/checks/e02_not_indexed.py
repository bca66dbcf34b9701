"""E02 not-indexed: a note has no `Search for:` line, so no question can reach it.

The catalogue is built from that line alone. Files that nobody searches for are skipped: README.md, MAP.md, AGENTS.md,
CLAUDE.md, what-goes-here.md, MOVED.md, and what lies under inbox/, records/ or a calculation-log/ folder. `kb index` counts
the same files as unreachable.

    # Rollback

    **Search for:** `rollback`, `undo a deploy`, `failed release`

Write the line under the title, with the words that a question would use. For a whole folder of such notes,
`kb init --adopt <folder> --keys` proposes one for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def keyless_notes(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if not note.header.keys and not note.exempt:
            yield Problem(note.path, 0, "it has no Search for: line, so the router builds no entry for it and no question reaches it")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E02", "not-indexed", "error", keyless_notes, doc=__doc__ or "")]
