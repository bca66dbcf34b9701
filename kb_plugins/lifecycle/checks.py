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
    Code("K01", "record-shape", ("shape",), "the front matter is missing or does not parse, or the file is not UTF-8"),
    Code("K02", "record-unknown-key", ("unknown_key",), "a field is not in the closed list, or `about` and `route` do not belong together"),
    Code("K03", "record-schema", ("schema",), "`schema` is not `knowledge/v1`"),
    Code("K04", "record-kind", ("kind",), "`kind` is not `knowledge`"),
    Code("K05", "record-id", ("id",), "`id` is missing or malformed, or is not the name of the file"),
    Code("K06", "record-duplicate-id", ("duplicate_id",), "two files have the same `id`"),
    Code("K07", "record-title", ("title",), "`title` is missing or empty"),
    Code("K08", "record-description", ("description",), "`description` is missing or empty"),
    Code("K09", "record-class", ("class", "epistemics"), "`class` or `epistemics` has a value outside its list"),
    Code("K10", "record-status", ("status",), "`status` has a value outside its list, or one that does not belong in this folder"),
    Code("K11", "record-date", ("date",), "`date` is not a day written YYYY-MM-DD"),
    Code("K12", "record-tags", ("tags",), "one of the `tags` is malformed"),
    Code("K13", "record-provenance", ("provenance",), "`origin` is unknown, missing on a verified record, or `extracted` without a source"),
    Code("K14", "record-superseded-by", ("superseded_by",), "`superseded_by` is malformed, or stands on a record that is not superseded"),
    Code("K15", "record-superseded", ("superseded",), "a superseded record gives neither a successor nor a reason"),
    Code("K16", "record-reference", ("reference",), "a reference has no type or an unknown one, is `none`, or resolves to nothing"),
    Code("K17", "record-relation", ("relation",), "the type of a relation is not in the list"),
    Code("K18", "record-transcript", ("transcript",), "the title, the description or a line of the body opens like a conversation"),
    Code("K19", "record-validator", ("validator",), "the records could not be judged at all, for example because git failed"),
)
Faults = list[tuple[str, str, str]]  # (absolute path, family, message)


class _Judged(NamedTuple):
    """The faults of one repository, and the root of the base that names those of records outside every base."""

    speaker: str
    faults: Faults


def checks() -> list[Check]:
    """One check per code. Outside a git repository with `.ai/` none of them says anything."""
    return [Check(code, slug, "error", _run(families),
                  f"{code} {slug}: {raised}.\n\n"
                  f"A fault of a knowledge record; `kb knowledge check` reports it as {' or '.join(f'`{f}`' for f in families)}. "
                  f"docs/reference/lifecycle.md has the format of a record.")
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
