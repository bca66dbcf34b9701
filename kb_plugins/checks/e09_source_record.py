"""E09 source-record: a file of sources/ is no record, or two records replace each other.

Records are written by `kb source add` and never by hand: the finding says which field is missing or wrong. Two records that replace each
other leave nobody to say which one holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def broken_records(view: BaseUnderCheck) -> Iterator[Problem]:
    for broken in view.broken_records:
        if broken.name:
            yield Problem(f"sources/{broken.name}", 0, f"it is no source record: {broken.problem}; kb source add writes them")
        else:
            yield Problem("sources", 0, f"no record was read: {broken.problem}")
    replaces = {record.key: record.replaces for record in view.records or ()}
    for key, other in replaces.items():
        if other is not None and replaces.get(other) == key:
            yield Problem(f"sources/{key}.txt", 0, f"{key} and {other} replace each other; kb source add --replaces names the older")


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E09", "source-record", "error", broken_records, doc=__doc__ or "")]
