"""`kb consolidate`: what several past sessions of one agent have in common, reviewed like any other proposal."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kb.core.consolidation_prompt import SessionHistory, history_text, refused_of, synthesizer_prompt, unsupported
from kb.core.decided import WHOLE, deposit_digest
from kb.core.proposals import Proposal, parse_reply, why_not_there
from kb.core.session import safe_id, session_of
from kb.core.values import Base
from kb.errors import KbError, UsageError
from kb.ops.judge import Judge, Judged, Outage, Watch, require_promoters
from kb.ops.models import ask_model
from kb.ops.named_base import base_called
from kb.store import handoffs
from kb.store.decisions import decisions_on, remember
from kb.store.deposits import deposits, text_of
from kb.store.promotion_lock import WAIT, promotion_lock
from kb.store.trust import Untrusted

if TYPE_CHECKING:
    from kb.app import App

LEAST = 2


@dataclass(slots=True)
class Consolidation:
    """What came of it.

    proposed:   how many candidates the synthesizer named.
    rejected:   (slug, why) of those that no two known sessions carry, or that name a folder they may not.
    decided_on: the day on which this very history was decided before, "" when it was not.
    """

    agent: str
    sessions: tuple[SessionHistory, ...]
    proposed: int = 0
    rejected: list[tuple[str, str]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    outages: list[str] = field(default_factory=list)
    decided_on: str = ""

    @property
    def written(self) -> int:
        return sum(bool(one.written) for one in self.judged)

    @property
    def admitted(self) -> int:
        return sum(one.accepted for one in self.judged)

    @property
    def refused(self) -> int:
        return len(self.judged) - self.admitted


def consolidate(app: App, agent: str, *, sessions: int = 5, top: int = 5, dry_run: bool = False, wait: float = WAIT,
                watch: Watch | None = None) -> Consolidation:
    """Compare the newest `sessions` records of an agent; with fewer than two no model is asked.

    Raises UsageError for a blank agent, NoModel and Untrusted before any work, KbError for an unknown agent, LockHeld
    when another promotion does not end within `wait` seconds.
    """
    watch = watch or Watch()
    if not agent.strip():
        raise UsageError("the agent is blank")
    require_promoters(app, "consolidate")
    base = base_called(app, agent)
    with promotion_lock(app.fleet.root, wait=wait, told=watch.note):
        result = Consolidation(base.name, tuple(gather(app, base, sessions)))
        if len(result.sessions) >= LEAST:
            _compare(app, base, result, Judge(app, top=top, dry_run=dry_run, watch=watch))
        return result


def gather(app: App, base: Base, most: int) -> list[SessionHistory]:
    """The newest sessions of an agent that left something: handoff records first, then deposits of captured sessions."""
    found: dict[str, SessionHistory] = {}
    for record in handoffs.records(app.fleet.root):
        if record.agent.casefold() == base.name.casefold() and len(found) < most:
            found.setdefault(safe_id(record.session), SessionHistory(
                record.session, record.task, record.decisions, record.blockers, record.next_steps))
    newest = sorted(deposits(base, app.include_private), key=lambda deposit: deposit.rel.rpartition("/")[2], reverse=True)
    for deposit in newest:
        try:
            text = text_of(deposit)
        except KbError:
            continue
        session = session_of(text)
        if session is None:
            continue
        refused, concluded = refused_of(text)
        key = safe_id(session)
        if key not in found and (len(found) >= most or not (refused or concluded)):
            continue  # a session of which nothing but the name is known is no witness
        known = found.get(key, SessionHistory(session))
        found[key] = known._replace(decisions=known.decisions + concluded, refused=known.refused + refused)
    return list(found.values())


def as_object(result: Consolidation) -> dict[str, Any]:
    """The outcome as one JSON object, keys in alphabetical order."""
    return {
        "admitted": result.admitted,
        "agent": result.agent,
        "decided": [_decided(one) for one in result.judged],
        "proposals_generated": result.proposed,
        "refused": result.refused,
        "rejected_evidence": [{"reason": reason, "slug": slug} for slug, reason in result.rejected],
        "sessions_consulted": len(result.sessions),
        "written": result.written,
    }


def _compare(app: App, base: Base, result: Consolidation, judge: Judge) -> None:
    prompt = synthesizer_prompt(base.name, result.sessions)
    digest = deposit_digest(base.name, history_text(result.sessions))
    before = decisions_on(app.fleet.root, digest)
    if WHOLE in before:
        result.decided_on = before[WHOLE].day
        return
    judge.watch.step(0, 1, f"{base.name}: promoter, over {len(result.sessions)} sessions")
    name = f"sessions of {base.name}"
    try:
        reply = parse_reply(ask_model(app, "promoter", prompt), base.name)
    except Untrusted:
        raise
    except KbError as error:
        _outage(result, judge, f"promoter, on the {name}: {error}")
        return
    for sentence in reply.incomplete:
        judge.watch.note(f"{sentence}, so it was passed over")
    if not reply.proposals and not reply.nothing:
        _outage(result, judge, f"promoter, on the {name}: the reply held neither a proposal nor the word NOTHING")
        return
    result.proposed = len(reply.proposals)
    judge.total = len(reply.proposals)
    for number, proposal in enumerate(reply.proposals):
        judge.done = number
        if proposal.slug not in before:
            _decide(result, judge, proposal, digest)
    if not result.outages and not judge.dry_run:
        remember(app.fleet.root, digest, base.name, WHOLE, "done" if reply.proposals else "nothing", name)


def _decide(result: Consolidation, judge: Judge, proposal: Proposal, digest: str) -> None:
    """Evidence before reviews: what two known sessions do not carry is not worth a call."""
    why = unsupported(proposal.sources, result.sessions) or why_not_there(proposal.folder)
    if why is not None:
        result.rejected.append((proposal.slug, why))
        return
    try:
        result.judged.append(judge.decide(proposal._replace(source=", ".join(proposal.sources)), digest))
    except Outage as error:
        _outage(result, judge, str(error))


def _outage(result: Consolidation, judge: Judge, sentence: str) -> None:
    result.outages.append(sentence)
    judge.watch.outage(sentence)


def _decided(one: Judged) -> dict[str, Any]:
    found: dict[str, Any] = {
        "accepted": one.accepted,
        "reviews": [{"accept": review.accept, "lens": review.lens, "reason": review.reason} for review in one.reviews],
        "slug": one.proposal.slug,
        "source": one.proposal.source,
    }
    return {**found, "written": os.fspath(one.written)} if one.written else found
