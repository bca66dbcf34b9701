"""W01 ambiguous-link: a wikilink could mean more than one file of its base.

A link names a file without its folder, so two files of one name cannot be told apart.

    See [[tide]].              # knowledge/tide.md and skills/tide.md both exist

Rename one of them. Without `--all`, private files are neither named nor counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def ambiguous_links(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.path.startswith("templates/"):
            continue
        for link in note.links:
            paths = [path for path in view.resolve(link) if view.include_private or not view.is_private(path)]
            if len(paths) > 1:
                yield Problem(note.path, link.line, f"[[{link.target}]] could mean {', '.join(sorted(paths))}")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W01", "ambiguous-link", "warning", ambiguous_links, doc=__doc__ or "")]
