"""The K codes of `kb check`: knowledge records of the repository that the checked path lies in.

Each code is one family of faults of `knowledge check`; docs/reference/lifecycle.md lists them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from kb.api import BaseUnderCheck, Check, KbError, Problem, is_inside
from kb_plugins.lifecycle.layout import holding


class Code(NamedTuple):
    """One K code: the families of `knowledge check` that it stands for, and when it is raised."""

    code: str
    slug: str
    families: tuple[str, ...]
    raised: str


CODES = (
    Code("K01", "record-shape", ("shape",), "there is no front matter, it does not parse, or the file is not UTF-8"),
    Code("K02", "record-unknown-key", ("unknown_key",), "a field is not in the closed list, or `about` and `route` do not belong together"),
    Code("K03", "record-schema", ("schema",), "it is not `knowledge/v1`"),
    Code("K04", "record-kind", ("kind",), "it is not `knowledge`"),
    Code("K05", "record-id", ("id",), "it is missing, malformed, or not the file's name"),
    Code("K06", "record-duplicate-id", ("duplicate_id",), "two files have it"),
    Code("K07", "record-title", ("title",), "it is missing or empty"),
    Code("K08", "record-description", ("description",), "it is missing or empty"),
    Code("K09", "record-class", ("class", "epistemics"), "it is outside the enumeration"),
    Code("K10", "record-status", ("status",), "it is outside the enumeration, or not the folder's"),
    Code("K11", "record-date", ("date",), "it is no day"),
    Code("K12", "record-tags", ("tags",), "one is malformed"),
    Code("K13", "record-provenance", ("provenance",), "the origin is unknown, or missing on a verified record, or extracted from nothing"),
    Code("K14", "record-superseded-by", ("superseded_by",), "it is malformed, or the record is not superseded"),
    Code("K15", "record-superseded", ("superseded",), "neither a successor nor a reason is given"),
    Code("K16", "record-reference", ("reference",), "it is not typed, is `none`, is of an unknown kind, or resolves to nothing"),
    Code("K17", "record-relation", ("relation",), "its type is outside the enumeration"),
    Code("K18", "record-transcript", ("transcript",), "the title, the description or a line of the body opens like a conversation"),
    Code("K19", "record-validator", ("validator",), "judging itself failed: never a clean pass"),
)
Faults = list[tuple[str, str, str]]  # (absolute path, family, message)


class _Judged(NamedTuple):
    """The faults of one repository, and the root of the base that names those of records outside every base."""

    speaker: str
    faults: Faults


def checks() -> list[Check]:
    """One check per code. Outside a git repository with `.ai/` none of them says anything."""
    return [Check(code, slug, "error", _run(families),
                  f"{code} {slug}: a knowledge record fails `knowledge check` in its {' or '.join(families)}.\n\n"
                  f"Raised when {raised}. docs/reference/lifecycle.md has the format of a record.")
            for code, slug, families, raised in CODES]


def _run(families: tuple[str, ...]) -> Callable[[BaseUnderCheck], Iterable[Problem]]:
    def run(view: BaseUnderCheck) -> Iterable[Problem]:
        for path, family, message in _faults(view):
            if family in families:
                yield Problem(os.path.relpath(path, view.base.root).replace(os.sep, "/"), 1, message)

    return run


def _faults(view: BaseUnderCheck) -> Faults:
    """The faults that this base names: those of records inside it, and, for the first base of a run, all others too.

    Judging is done once per repository and run, however many bases and codes ask.
    """
    root = holding(view.base.root)
    if root is None:
        return []
    key = f"knowledge records of {root}"
    if key not in view.run:
        view.run[key] = _Judged(view.base.root, _judge(root))
    judged: _Judged = view.run[key]
    if judged.speaker == view.base.root:
        return judged.faults
    return [fault for fault in judged.faults if is_inside(fault[0], view.base.root)]


def _judge(root: str) -> Faults:
    from kb_plugins.lifecycle import layout
    from kb_plugins.lifecycle.disk import Disk
    from kb_plugins.lifecycle.git import open_checkout
    from kb_plugins.lifecycle.integrity import check
    from kb_plugins.lifecycle.ledger import Ledger

    try:
        disk = Disk(open_checkout(root))
        return [(os.path.join(disk.root, fault.path), fault.code, fault.message)
                for fault in check(disk, Ledger(disk)).faults]
    except KbError as error:  # git refused: the records were not judged, and that is no clean pass
        return [(os.path.join(root, layout.KNOWLEDGE), "validator", str(error))]
