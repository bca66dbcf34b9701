"""The K codes of `kb check`: knowledge records of the repository that the checked path lies in.

Each code is one family of faults of `knowledge check`; docs/reference/lifecycle.md lists them.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable

from kb.api import BaseUnderCheck, Check, KbError, Problem
from kb_plugins.lifecycle.layout import holding

# (code, slug, families of knowledge check)
CODES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("K01", "record-shape", ("shape",)), ("K02", "record-unknown-key", ("unknown_key",)),
    ("K03", "record-schema", ("schema",)), ("K04", "record-kind", ("kind",)), ("K05", "record-id", ("id",)),
    ("K06", "record-duplicate-id", ("duplicate_id",)), ("K07", "record-title", ("title",)),
    ("K08", "record-description", ("description",)), ("K09", "record-class", ("class", "epistemics")),
    ("K10", "record-status", ("status",)), ("K11", "record-date", ("date",)), ("K12", "record-tags", ("tags",)),
    ("K13", "record-provenance", ("provenance",)), ("K14", "record-superseded-by", ("superseded_by",)),
    ("K15", "record-superseded", ("superseded",)), ("K16", "record-reference", ("reference",)),
    ("K17", "record-relation", ("relation",)), ("K18", "record-transcript", ("transcript",)),
    ("K19", "record-validator", ("validator",)),
)
Faults = list[tuple[str, str, str]]  # (absolute path, family, message)
# Repository -> the base that names its records in this run, and their faults. A view that is gone ends the run.
_speakers: dict[str, tuple[weakref.ref[BaseUnderCheck], Faults]] = {}


def checks() -> list[Check]:
    """One check per code. Outside a git repository with `.ai/` none of them says anything."""
    return [Check(code, slug, "error", _run(families), f"A knowledge record fails in its {' or '.join(families)}.")
            for code, slug, families in CODES]


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
    there = _speakers.get(root)
    speaker = there[0]() if there is not None else None
    if there is None or speaker is None:
        _speakers[root] = weakref.ref(view), _judge(root)
        return _speakers[root][1]
    if speaker is view:
        return there[1]
    return [fault for fault in there[1] if fault[0].startswith(view.base.root.rstrip("/") + "/")]


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
