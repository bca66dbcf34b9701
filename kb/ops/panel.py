"""`kb panel`: an objection round on one artifact. It calls no model and never chooses the panel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from kb.core.blocks import artifact_tokens
from kb.core.counted import field
from kb.core.owner import elect
from kb.core.rounds import MOST_REVIEWERS, ROUNDS, Round, RoundRow, grade, round_of, rounds_of
from kb.core.scrub import scrub
from kb.core.values import Base
from kb.errors import KbError, UsageError
from kb.ops.blocks import constitution, resident_tokens
from kb.ops.named_base import agent_called
from kb.store.clock import today
from kb.store.fleet import fleet_root
from kb.store.logs import change_log, log_path, read_log, stray_lines
from kb.store.rounds import artifact_key, artifact_text, panel_folder, write_constitution

if TYPE_CHECKING:
    from kb.app import App

Outcome = Literal["taken", "refused", "escalated"]

ASK = (
    "Read your constitution and answer as that agent. Then read the artifact. Return the single strongest fault inside your "
    "own domain, or say that there is none. No praise and no rewriting. A remark outside your domain is advisory. At most "
    "one objection may be blocking, and only when it is inside your domain and could be shown to be false.")


class Candidate(NamedTuple):
    """An agent that could review. `score` is None when the router did not rank it, `tokens` when it has no blocks.txt."""

    agent: Base
    score: float | None
    tokens: int | None


class Proposed(NamedTuple):
    """What a round would be: nothing was opened. `artifact_tokens` is None when the artifact is no readable text."""

    artifact: str
    owner: str
    size: int
    artifact_tokens: int | None
    candidates: tuple[Candidate, ...]


class Seat(NamedTuple):
    """A reviewer of this call: where its constitution was written and what reading it costs."""

    agent: str
    constitution: str
    tokens: int


class Opened(NamedTuple):
    """A round that is open. `seated` are the reviewers that this call added; prices are tokens."""

    artifact: str
    owner: str
    seated: tuple[str, ...]
    panel: tuple[Seat, ...]
    artifact_tokens: int
    readable: bool
    log: str

    @property
    def boot(self) -> int:
        return sum(seat.tokens for seat in self.panel)

    @property
    def reading(self) -> int:
        return self.artifact_tokens * len(self.panel)


class Recorded(NamedTuple):
    """What one reviewer returned. `number` counts the round's objections from 1; `advisory` says why it does not block."""

    artifact: str
    row: RoundRow
    number: int | None = None
    advisory: str = ""


class Ledger(NamedTuple):
    """Every round of a fleet, and the lines of the log that are no rows."""

    log: str
    rounds: tuple[Round, ...]
    strays: tuple[str, ...]


# -- opening -----------------------------------------------------------------------------------------------------------


def propose(app: App, artifact: str, owner: str) -> Proposed:
    """Who could review the artifact, ranked by what the router makes of its text, and what each would cost."""
    key, name = artifact_key(artifact, app.fleet.root), agent_called(app, owner).name
    text = artifact_text(key, app.fleet.root)
    scores: dict[str, float] = {}
    if text is not None:
        library = app.catalogue
        ranked = elect(app.scorers[0].rank(library, library.query(text)).hits, {agent.name for agent in app.fleet.agents})
        scores = {total.agent: total.score for total in ranked.totals} if ranked else {}
    found = [Candidate(agent, scores.get(agent.name), _tokens(agent)) for agent in app.fleet.agents if agent.name != name]
    found.sort(key=lambda one: (one.score is None, -(one.score or 0.0), one.agent.name))
    return Proposed(key, name, len((text or "").encode("utf-8", "replace")),
                    None if text is None else artifact_tokens(key, text), tuple(found))


def open_round(app: App, artifact: str, owner: str, reviewers: Sequence[str], out: str | None = None) -> Opened:
    """Seat reviewers on the artifact and write their constitutions. Who is seated already stays as it is.

    Raises UsageError for an owner or reviewer that may not sit, more than three reviewers, and a round that another
    agent owns; then nothing was written.
    """
    root = app.fleet.root
    key, holder = artifact_key(artifact, root), agent_called(app, owner)
    agents = list(dict.fromkeys(agent_called(app, name) for name in reviewers))
    if holder in agents:
        raise UsageError(f"{holder.name} owns the artifact and cannot review it")
    texts = {}
    for agent in agents:
        if not os.path.isfile(os.path.join(agent.root, "blocks.txt")):
            raise UsageError(f"{agent.name} has no blocks.txt: a reviewer without a constitution is not seated")
        texts[agent.name] = constitution(agent.root)
    path = log_path(root, ROUNDS)
    _seats_to_add(read_log(path, ROUNDS).rows, key, holder.name, agents)
    folder = os.path.realpath(out) if out is not None else panel_folder(root)
    panel = tuple(Seat(agent.name, write_constitution(folder, agent.name, texts[agent.name]), resident_tokens(agent.root))
                  for agent in agents)
    added: list[str] = []

    def seat(rows: tuple[RoundRow, ...]) -> Sequence[RoundRow]:
        names = _seats_to_add(rows, key, holder.name, agents)
        added.extend(names)
        return [*rows, *(RoundRow(key, holder.name.lower(), name.lower(), 0, "asked", today(), today()) for name in names)]

    change_log(path, ROUNDS, seat)
    text = artifact_text(key, root)
    price = artifact_tokens(key, text) if text is not None else 0
    return Opened(key, holder.name, tuple(added), panel, price, text is not None, path)


def _seats_to_add(rows: Sequence[RoundRow], key: str, owner: str, agents: Sequence[Base]) -> list[str]:
    round_ = round_of(rows, key)
    if round_ is not None and round_.owner != owner.lower():
        raise UsageError(f"the round on {key} belongs to {round_.owner}, not to {owner}")
    names = [agent.name for agent in agents if round_ is None or round_.seat(agent.name) is None]
    seated = len(round_.seats) if round_ is not None else 0
    if seated + len(names) > MOST_REVIEWERS:
        raise UsageError(f"a round seats at most {MOST_REVIEWERS} reviewers, and {seated} sit already")
    return names


# -- what comes back ---------------------------------------------------------------------------------------------------


def record(app: App, artifact: str, reviewer: str, *, objection: str | None = None, blocking: bool = False,
           nothing: bool = False, not_returned: bool = False, why: str = "") -> Recorded:
    """Write down what a reviewer returned: exactly one of an objection, nothing, and not returned.

    A blocking objection that fails the rubric is recorded as advisory. Raises UsageError when the reviewer has no seat,
    and when it has blocked this artifact before.
    """
    if (objection is not None) + nothing + not_returned != 1:
        raise UsageError("a reviewer returns exactly one of --objection, --nothing and --not-returned")
    if blocking and objection is None:
        raise UsageError("--blocking belongs to --objection")
    text = field(scrub(objection or ""))
    if objection is not None and not text:
        raise UsageError("the objection is blank")
    if why and not not_returned:
        raise UsageError("--why belongs to --not-returned here; --resolve takes the other reasons")
    key, name = artifact_key(artifact, app.fleet.root), field(reviewer).lower()
    base = app.fleet.base(name)
    verdict, reason = grade(text, _constitution(base)) if blocking else ("advisory", "")
    done: list[Recorded] = []

    def change(rows: tuple[RoundRow, ...]) -> Sequence[RoundRow]:
        round_ = _round(rows, key)
        seat = round_.seat(name)
        if seat is None:
            raise UsageError(f"{reviewer} is not seated on {key}",
                             hint="seated: " + ", ".join(other.reviewer for other in round_.seats))
        mine = [row for row in round_.objections if row.reviewer == name]
        if objection is None:
            changed = seat._replace(state="nothing" if nothing else "not-returned", updated=today(), why=field(scrub(why)))
            done.append(Recorded(key, changed))
            return [changed if row == seat else row for row in rows]
        if blocking and any(row.blocking for row in mine):
            raise UsageError(f"{name} has blocked {key} already", hint="each reviewer blocks once; object without --blocking")
        row = RoundRow(key, round_.owner, name, max((row.seq for row in mine), default=0) + 1, "objection", today(),
                       today(), blocking and verdict == "constitutional", text)
        done.append(Recorded(key, row, len(round_.objections) + 1, reason if blocking and not row.blocking else ""))
        held = seat._replace(state="objection", updated=today()) if seat.state == "asked" else seat
        return [*(held if other == seat else other for other in rows), row]

    _changed(app, change)
    return done[-1]


def resolve(app: App, artifact: str, number: int, outcome: Outcome, why: str = "", reviewer: str | None = None) -> Recorded:
    """Account for objection `number` of the round, once. Raises UsageError for what may not be done."""
    key = artifact_key(artifact, app.fleet.root)
    reason = field(scrub(why))
    if outcome == "refused" and not reason:
        raise UsageError("a refusal needs its reason", hint="--why <text>")
    done: list[Recorded] = []

    def change(rows: tuple[RoundRow, ...]) -> Sequence[RoundRow]:
        round_ = _round(rows, key)
        if not 1 <= number <= len(round_.objections):
            raise UsageError(f"there is no objection {number} on {key}", hint=f"it has {len(round_.objections)}")
        row = round_.objections[number - 1]
        if reviewer is not None and field(reviewer).lower() != row.reviewer:
            raise UsageError(f"objection {number} is from {row.reviewer}, not from {reviewer}")
        if row.state != "objection":
            raise UsageError(f"objection {number} is accounted for already: {row.state}")
        if outcome == "refused" and row.blocking:
            raise UsageError(f"objection {number} is blocking and cannot be refused", hint="take it, or --escalated")
        changed = row._replace(state=outcome, updated=today(), why=reason)
        done.append(Recorded(key, changed, number))
        return [changed if other is row else other for other in rows]

    _changed(app, change)
    return done[-1]


# -- the ledger --------------------------------------------------------------------------------------------------------


def ledger(path: str) -> Ledger:
    """Every round of the fleet at `path`, first opened first."""
    log = log_path(fleet_root(path), ROUNDS)
    text = read_log(log, ROUNDS)
    return Ledger(log, tuple(rounds_of(text.rows)), tuple(stray_lines(log, text)))


def find_round(path: str, artifact: str) -> tuple[Round, Ledger]:
    """The round of one artifact. Raises UsageError when there is none."""
    whole = ledger(path)
    key = artifact_key(artifact, fleet_root(path))
    round_ = next((one for one in whole.rounds if one.artifact == key), None)
    if round_ is None:
        raise UsageError(f"there is no round on {key}", hint="kb panel --ledger lists them")
    return round_, whole


def _changed(app: App, change: Callable[[tuple[RoundRow, ...]], Sequence[RoundRow]]) -> None:
    path = log_path(app.fleet.root, ROUNDS)
    if not os.path.exists(path):  # a refusal leaves nothing behind, not even a lock
        change(())
    change_log(path, ROUNDS, change)


def _round(rows: Sequence[RoundRow], key: str) -> Round:
    round_ = round_of(rows, key)
    if round_ is None:
        raise UsageError(f"there is no round on {key}", hint="--owner <agent> --reviewer <agent> opens one")
    return round_


def _tokens(agent: Base) -> int | None:
    try:
        return resident_tokens(agent.root)
    except KbError:
        return None


def _constitution(base: Base | None) -> str:
    try:
        return constitution(base.root) if base is not None else ""
    except KbError:
        return ""
