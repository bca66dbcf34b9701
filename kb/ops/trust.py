"""`kb trust`: what a fleet would have run, which of it a person approved, approving it and taking that back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.errors import KbError
from kb.ops.models import program_path, runnables
from kb.store import trust
from kb.store.trust import Approval, Runnable

if TYPE_CHECKING:
    from kb.app import App


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One thing that a fleet would have run. `program` is the file that would start; `problem` says why there is none."""

    item: Runnable
    program: str
    approved: bool
    problem: str = ""


def exhibits(app: App) -> list[Exhibit]:
    """Everything that the fleet would have run, and what is approved of it as it stands now (KB_TRUST aside)."""
    kept = {(row.name, row.digest) for row in trust.approvals() if row.root == app.fleet.root}
    return [_exhibit(app, item, (item.name, item.digest) in kept) for item in runnables(app)]


def approve(app: App, shown: list[Exhibit]) -> None:
    """Record that a person approved exactly what was shown; what cannot run is not approved, because nobody saw what it would be."""
    trust.approve(app.fleet.root, [exhibit.item for exhibit in shown if not exhibit.problem])


def _exhibit(app: App, item: Runnable, approved: bool) -> Exhibit:
    try:
        return Exhibit(item, program_path(app, item), approved)
    except KbError as error:
        return Exhibit(item, "", approved, str(error))


def forget(root: str) -> list[str]:
    """Take back all approvals of the fleet at `root`; the names of what was approved."""
    return trust.forget(root)


def approvals() -> list[Approval]:
    """Everything that was approved, of every fleet."""
    return trust.approvals()
