"""W08 unignored: a private folder is not covered by the base's .gitignore.

The private layer is kept out of answers; .gitignore keeps it out of the repository. Asked when the base has a .gitignore
and is not private as a whole. The rules are read as git reads them, globs and negations included.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def uncovered_folders(view: BaseUnderCheck) -> Iterator[Problem]:
    for folder in view.unignored_folders():
        yield Problem(".gitignore", 0, f"the private folder {folder}/ is not ignored, so git would publish it")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("W08", "unignored", "warning", uncovered_folders, doc=__doc__ or "")]
