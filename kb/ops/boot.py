"""`kb boot`: who answers this message, and what they are told before they see it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.core import briefing
from kb.core.briefing import Subject
from kb.core.counted import clipped
from kb.core.dossier import MOST_REVIEWERS, Reviewer, Ruling
from kb.core.evidence import shortfall
from kb.core.message import HookInput, decompose, unwrapped
from kb.core.scrub import scrub
from kb.core.session import Event
from kb.core.shelves import layer_of
from kb.core.values import Answer, Base, Miss, Place
from kb.errors import KbError
from kb.ops.ask import PASSAGES_SHOWN, ask, record_miss
from kb.ops.classify import classify
from kb.ops.passages import beginning, telling, vouched
from kb.specs import SessionEvent
from kb.store import sessions

if TYPE_CHECKING:
    from kb.app import App

_MOST_PARTS = 12
_PATIENCE = 25.0  # seconds: hosts give a prompt hook 30, and a briefing without a classifier beats none


@dataclass(slots=True)
class Briefing:
    """What to print; what could not be searched; and what went wrong on the way without stopping it, a sentence each."""

    text: str = ""
    skipped: tuple[str, ...] = ()
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Decision:
    owner: str | None
    reviewers: tuple[Reviewer, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()


def boot(app: App, hook: HookInput, top: int = 5) -> Briefing:
    """The briefing for one hook event. Writes the session's files and the logs; what cannot be written is a trouble."""
    out = Briefing()
    if hook.prompt is None:
        return out
    first = bool(hook.session) and not os.path.exists(sessions.events_path(app.fleet.root, hook.session))
    agent = ""
    if not hook.prompt.strip():
        out.text = briefing.roster(app.fleet.agents)
    else:
        message = unwrapped(hook.prompt)
        if not message:
            return out
        agent = _brief(app, out, message, hook.session, top)
    if first:
        _announce(app, out, hook.session, agent)
    return out


def _brief(app: App, out: Briefing, message: str, session: str, top: int) -> str:
    """Fill `out` for a message and write what it leaves behind; the agent that it was routed to, or ""."""
    answer = ask(app, message, top, PASSAGES_SHOWN)
    out.skipped = answer.skipped
    miss = record_miss(app, answer)
    events = [_refusal(answer, miss)] if miss else []
    if miss and miss.error:
        out.troubles.append(f"the miss could not be written: {miss.error}")
    said = classify(app, answer, message, _PATIENCE)
    if said.problem:
        out.troubles.append(said.problem)
    agents = app.fleet.agents
    if said.ruling and said.ruling.coverage != "covered":
        _abstain(app, out, said.ruling, answer, message)
        out.text = briefing.gap(said.ruling, agents)
        _record(app, out, session, events)
        return ""
    decision = _decide(app, answer, message, said.ruling)
    degraded = _degraded(said.problem)
    if decision.owner is None:
        ownerless = [Place(r.base, r.path) for r in answer.results if not any(a.name == r.base for a in agents)]
        if ownerless and answer.verdict != "nothing":
            out.text = briefing.librarian(ownerless)
        else:
            out.text = briefing.unowned(agents, shortfall(answer), degraded)
        _record(app, out, session, events)
        return ""
    base = next(agent for agent in agents if agent.name == decision.owner)
    out.text = _routed(app, out, base, decision, answer, session, degraded)
    _record(app, out, session, [Event("routed", base.name), *events], base.name)
    return base.name


def _decide(app: App, answer: Answer, message: str, ruling: Ruling | None) -> _Decision:
    """The owner and the panel: from the ruling, else from the arithmetic; then what the parts of the message add."""
    if ruling is not None and ruling.owner is None:
        return _Decision(None)
    if ruling is not None:
        owner, reviewers = ruling.owner, list(ruling.reviewers)
    else:
        owner = answer.owner.name if answer.verdict == "hit" and answer.owner else None
        reviewers = []
    parts = _parts(app, message)
    if len(parts) < 2:
        return _Decision(owner, tuple(reviewers))
    owner = owner or parts[0][0]
    for agent, part in parts:
        if agent != owner and len(reviewers) < MOST_REVIEWERS and all(agent != seat.agent for seat in reviewers):
            reviewers.append(Reviewer(agent, f"cross-domain sub-question: {part}"))
    return _Decision(owner, tuple(reviewers), tuple(parts))


def _parts(app: App, message: str) -> list[tuple[str, str]]:
    """The agents that the sub-questions of a compound message are sure of, each with the first one that chose it."""
    parts = decompose(message)
    if len(parts) < 2:
        return []
    found: dict[str, str] = {}
    for part in parts[:_MOST_PARTS]:
        answer = ask(app, part, 1, 0)
        if answer.verdict == "hit" and answer.owner:
            found.setdefault(answer.owner.name, part)
    return list(found.items())


def _routed(app: App, out: Briefing, base: Base, decision: _Decision, answer: Answer, session: str, degraded: str) -> str:
    previous = sessions.agent_of(app.fleet.root, session) if session else None
    switched = previous is None or previous.casefold() != base.name.casefold()
    parts = [briefing.routed(base.name, previous, switched, _constitution(out, base) if switched else "")]
    if degraded:
        parts.append(f"{degraded}\n\n")
    parts.append(_continuity(app, out, session, base.name, switched))
    if decision.parts:
        parts.append(briefing.decomposed(decision.parts))
    if decision.reviewers:
        parts.append(briefing.panel(base.name, decision.reviewers, _price(app, out, decision.reviewers)))
    places = [Place(result.base, result.path) for result in answer.results]
    parts.append(briefing.evidence(_subject(app, answer), places))
    return "".join(parts)


def _subject(app: App, answer: Answer) -> Subject | None:
    """The file that a hit vouches for, with its passages; None below a hit and when it cannot be read."""
    place = vouched(answer)
    if place is None:
        return None
    matched = next((telling(r.passages) for r in answer.results if (r.base, r.path) == place), [])
    if matched:
        return Subject(place, layer_of(place.path), matched, True)
    passages = beginning(app, place)
    return Subject(place, layer_of(place.path), passages, False) if passages else None


def _degraded(problem: str) -> str:
    if not problem:
        return ""
    return ("VESTA: the configured classifier did not answer, so the arithmetic chose; routing is degraded, not stopped. "
            f"({problem})")


def _refusal(answer: Answer, miss: Miss) -> Event:
    return Event("refused", clipped(scrub(answer.question)), miss.looked_like)


def _record(app: App, out: Briefing, session: str, events: Sequence[Event], agent: str = "") -> None:
    """Keep what the message did in the session's files. Without a session there is nothing to keep."""
    if not session:
        return
    try:
        if events:
            sessions.append_events(app.fleet.root, session, events)
        if agent:
            sessions.remember_agent(app.fleet.root, session, agent)
    except (OSError, KbError) as error:
        out.troubles.append(f"the session's record could not be written: {error}")


def _announce(app: App, out: Briefing, session: str, agent: str) -> None:
    from pathlib import Path

    try:
        app.host.gather("kb_session_event", event=SessionEvent("session.opened", session, Path(app.fleet.root), agent))
    except KbError as error:
        out.troubles.append(str(error))


def _abstain(app: App, out: Briefing, ruling: Ruling, answer: Answer, message: str) -> None:
    """Count a subject that nobody owns. A log that cannot be written changes nothing else."""
    from kb.store.ledgers import record_abstention

    totals = answer.owner.totals if answer.owner else ()
    try:
        record_abstention(app.fleet.root, ruling.subject, message, ruling.coverage, ruling.owner or "-", ruling.reason,
                          [(total.agent, total.score) for total in totals])
    except KbError as error:
        out.troubles.append(f"the abstention could not be recorded: {error}")


def _constitution(out: Briefing, base: Base) -> str:
    """The resident blocks of an agent, "" when it has none."""
    if not os.path.exists(os.path.join(base.root, "blocks.txt")):
        return ""
    from kb.ops.blocks import constitution

    try:
        return constitution(base.root)
    except KbError as error:
        out.troubles.append(str(error))
        return ""


def _price(app: App, out: Briefing, reviewers: Sequence[Reviewer]) -> int:
    """What booting the panel costs in tokens. An agent without blocks costs nothing to boot."""
    from kb.ops.blocks import resident_tokens

    total = 0
    for agent in app.fleet.agents:
        if any(agent.name == seat.agent for seat in reviewers) and os.path.exists(os.path.join(agent.root, "blocks.txt")):
            try:
                total += resident_tokens(agent.root)
            except KbError as error:
                out.troubles.append(str(error))
    return total


def _continuity(app: App, out: Briefing, session: str, agent: str, switched: bool) -> str:
    """The uncompleted handoff of this session, else, on a switch, the newest one of this agent."""
    root = app.fleet.root
    try:
        names = os.listdir(sessions.sessions_folder(root))
    except OSError:
        return ""
    if not any(name.endswith(".handoff.md") for name in names):
        return ""
    from kb.store import handoffs

    record = None
    try:
        record = handoffs.load(root, session) if session else None
    except KbError as error:
        out.troubles.append(str(error))
    if record is not None and record.status != "completed":
        return briefing.continuity(record)
    if switched:
        for record in handoffs.records(root):
            if record.status != "completed" and record.agent.casefold() == agent.casefold():
                return briefing.continuity(record)
    return ""
