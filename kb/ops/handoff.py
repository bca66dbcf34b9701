"""`kb handoff`: work handed from one session to the next. A baton is pending, claimed, completed, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kb.core.counted import field
from kb.core.handoff import Handoff, cleaned
from kb.core.scrub import scrub
from kb.errors import KbError, UsageError
from kb.specs import SessionEvent
from kb.store import handoffs
from kb.store.clock import instant, now, today

if TYPE_CHECKING:
    from kb.app import App


class Handed(NamedTuple):
    """A changed record, where it is, and what listeners could not be told."""

    record: Handoff
    path: str
    troubles: tuple[str, ...]


def save(app: App, agent: str, task: str, *, session: str | None = None, decisions: Sequence[str] = (),
         blockers: Sequence[str] = (), next_steps: Sequence[str] = (), references: Sequence[str] = ()) -> Handed:
    """Write the record of `session`, a new one without it. A claim is kept; a completed record becomes a pending one.

    Raises UsageError for a blank agent, task or session.
    """
    agent, task = _name(agent, "agent"), _text(task)
    if not task:
        raise UsageError("a handoff needs a task", hint="--task <what is to be done>")
    name = _new_session() if session is None else _name(session, "session")
    lists = [tuple(text for item in items if (text := _text(item)))
             for items in (decisions, blockers, next_steps, references)]

    def change(old: Handoff | None) -> Handoff:
        held = old is not None and old.status == "claimed"
        return Handoff(name, agent, task, "claimed" if held else "pending", today(),
                       old.claimed_by if old is not None and held else None, *lists)

    record, path = handoffs.save(app.fleet.root, name, change)
    return Handed(record, path, _tell(app, "handoff.saved", record, path))


def claim(app: App, agent: str, session: str | None = None) -> Handed:
    """Take the baton of `session`, of the latest record without it. Raises KbError unless it is pending."""
    claimer = _name(agent, "agent")

    def change(record: Handoff | None) -> Handoff:
        record = _existing(record, session)
        if record.status == "claimed":
            raise KbError(f"handoff already claimed by {record.claimed_by or 'someone'}")
        if record.status == "completed":
            raise KbError("handoff is already completed")
        return record._replace(status="claimed", claimed_by=claimer, updated_at=today())

    record, path = handoffs.change(app.fleet.root, session, change)
    return Handed(record, path, _tell(app, "handoff.claimed", record, path))


def complete(app: App, session: str | None = None, *, force: bool = False) -> Handed:
    """Mark the work done, whoever claimed it. Raises KbError when nobody did, unless `force`, or when it is done already."""

    def change(record: Handoff | None) -> Handoff:
        record = _existing(record, session)
        if record.status == "completed":
            raise KbError("handoff is already completed")
        if record.status == "pending" and not force:
            raise KbError("nobody claimed this handoff", hint="kb handoff claim <agent>, or complete --force")
        return record._replace(status="completed", updated_at=today())

    record, path = handoffs.change(app.fleet.root, session, change)
    return Handed(record, path, _tell(app, "handoff.completed", record, path))


def show(app: App, session: str | None = None) -> Handoff | None:
    """The record of `session`, the latest one without it; None when there is none."""
    return handoffs.latest(app.fleet.root) if session is None else handoffs.load(app.fleet.root, session)


def _existing(record: Handoff | None, session: str | None) -> Handoff:
    if record is None:
        raise KbError(f"no handoff record for session '{session}'" if session is not None else "no handoff records found")
    return record


def _tell(app: App, kind: str, record: Handoff, path: str) -> tuple[str, ...]:
    """Tell the listeners what is on disk now; what went wrong with that, one sentence each."""
    data = {**record._asdict(), "path": path}
    texts = (record.task, *record.decisions, *record.blockers, *record.next_steps, *record.references)
    agent = record.claimed_by if kind == "handoff.claimed" and record.claimed_by else record.agent
    event = SessionEvent(kind, record.session, Path(app.fleet.root), agent, data, texts)
    try:
        app.host.gather("kb_session_event", event=event)
    except KbError as error:
        return (str(error),)
    return ()


def _name(text: str, what: str) -> str:
    name = field(text)
    if not name:
        raise UsageError(f"the {what} is blank")
    return name


def _text(text: str) -> str:
    return cleaned(scrub(text))


def _new_session() -> str:
    """An id that no other save has: the moment, and six random digits for those that share it."""
    day, _, hour = instant(now()).rstrip("Z").replace("-", "").replace(":", "").partition("T")
    return f"s-{day}-{hour}-{os.urandom(3).hex()}"
