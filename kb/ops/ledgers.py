"""The verbs over the counted logs: report a misroute, and read misroutes, abstentions and rejections back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from kb.core.counted import LogFormat, field
from kb.core.display import named
from kb.core.logrows import ABSTENTIONS, MISROUTES, REJECTIONS, Abstention, Misroute, Rejection
from kb.core.owner import elect
from kb.core.reviews import LENSES
from kb.errors import UsageError
from kb.ops.named_base import agent_called
from kb.store.fleet import fleet_root
from kb.store.ledgers import record_misroute
from kb.store.logs import log_path, read_log, stray_lines

if TYPE_CHECKING:
    from kb.app import App

R = TypeVar("R")

ROWS_PER_TOP = 4
NOBODY = "-"


class LogReport(NamedTuple, Generic[R]):
    """A log read back: where it is, every row that was asked for in the log's order, and lines that are no rows."""

    path: str
    rows: tuple[R, ...]
    strays: tuple[str, ...]


def misroute(app: App, message: str, chose: str, owner: str, why: str = "") -> Misroute:
    """Count a message that the router gave to `chose` and that belongs to `owner` (`none` or `-`: to nobody).

    Returns the row as it was added. Raises UsageError for a blank message, an agent that is not in the roster, and an
    owner that was chosen; KbError when the log cannot be written.
    """
    if not field(message):
        raise UsageError("a misroute needs the message")
    wrong = agent_called(app, field(chose)).name.lower()
    right = NOBODY if field(owner).lower() in ("none", NOBODY) else agent_called(app, field(owner)).name.lower()
    if wrong == right:
        raise UsageError(f"{wrong} was chosen and is the owner, so nothing went wrong")
    record_misroute(app.fleet.root, message, wrong, right, why)
    return Misroute(1, "", "", wrong, right, message, why)


def misroutes(path: str) -> LogReport[Misroute]:
    """The misroutes of the fleet at `path`, most reported first."""
    return _report(fleet_root(path), MISROUTES)


def abstentions(app: App) -> LogReport[Abstention]:
    """The subjects that nobody owned, most frequent first."""
    return _report(app.fleet.root, ABSTENTIONS)


def scored_now(app: App, row: Abstention) -> list[tuple[str, float]]:
    """What the agents would score for an abstention's message today, the three best first."""
    library = app.catalogue
    ranking = app.scorers[0].rank(library, library.query(row.message or row.subject))
    owner = elect(ranking.hits, {agent.name for agent in app.fleet.agents})
    return [(total.agent, total.score) for total in owner.totals[:3]] if owner else []


def rejections(path: str, agent: str | None = None, lens: str | None = None) -> LogReport[Rejection]:
    """What promotion refused, narrowed by agent and by lens, case aside. Raises UsageError for a lens that there is not."""
    if lens is not None and lens.strip().casefold() not in LENSES:
        raise UsageError(f"{named(lens)} is no lens", hint="it is one of " + ", ".join(LENSES))
    report = _report(fleet_root(path), REJECTIONS)
    return report._replace(rows=tuple(row for row in report.rows if _is(row.agent, agent) and _is(row.lens, lens)))


def _report(root: str, form: LogFormat[R]) -> LogReport[R]:
    path = log_path(root, form)
    log = read_log(path, form)
    return LogReport(path, log.rows, tuple(stray_lines(path, log)))


def _is(value: str, wanted: str | None) -> bool:
    return wanted is None or value.casefold() == wanted.strip().casefold()


def total(rows: Sequence[Misroute | Abstention | Rejection]) -> int:
    """How often, over all rows."""
    return sum(row.times for row in rows)
