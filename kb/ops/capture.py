"""`kb capture`: the record of a session becomes one deposit for each agent that something in it belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kb.core.scrub import scrub
from kb.core.session import Event, deposit, flat_field, owners, route_of, safe_id
from kb.core.values import Base
from kb.errors import KbError, UsageError
from kb.specs import SessionEvent
from kb.store import sessions
from kb.store.clock import today
from kb.store.files import locked, read_text, stay_inside, write_atomic

if TYPE_CHECKING:
    from kb.app import App


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one agent's share. `path` is the deposit, or "" when `why` says why there is none.

    failed: whether it should have been written and could not be.
    """

    agent: str
    path: str
    why: str = ""
    failed: bool = False


def conclude(app: App, session: str, text: str) -> None:
    """Record a conclusion of a session, its secrets cut out; nothing is deposited. Raises KbError when that fails."""
    clean = flat_field(scrub(text))
    if not clean:
        raise UsageError("the conclusion is blank")
    try:
        sessions.append_events(app.fleet.root, session, [Event("conclusion", clean)])
    except OSError as error:
        raise KbError(f"the conclusion could not be recorded: {error.strerror or error}") from None
    _tell(app, "session.concluded", session, sessions.agent_of(app.fleet.root, session) or "", texts=(clean,))


def capture(app: App, session: str) -> list[Outcome]:
    """Write the deposits of a session; what is on disk leaves its record, what is not stays. Runs no model.

    Raises KbError when the record cannot be read or another capture holds the fleet.
    """
    outcomes = [Outcome("", "", "the session produced nothing to capture")]
    if os.path.exists(sessions.events_path(app.fleet.root, session)):
        try:
            guard = os.path.join(sessions.sessions_folder(app.fleet.root), "capture")
            stay_inside(guard, app.fleet.root)
            with locked(guard), \
                    sessions.held_record(app.fleet.root, session) as record:
                outcomes = _consume(app, session, record)
        except OSError as error:
            raise KbError(f"the record of session {session} cannot be read or rewritten: {error.strerror or error}") from None
    agents = [outcome.agent for outcome in outcomes if outcome.path]
    _tell(app, "session.captured", session, agents[-1] if agents else "",
          paths=[outcome.path for outcome in outcomes if outcome.path])
    return outcomes


def _consume(app: App, session: str, record: sessions.Record) -> list[Outcome]:
    events = record.events
    fallback = sessions.agent_of(app.fleet.root, session)
    held = list(zip(events, owners(events, fallback), strict=True))
    shares: dict[str, list[Event]] = {}
    spelled: dict[str, str] = {}
    for event, owner in held:
        if event.kind == "routed":
            continue
        if owner is None:
            return [Outcome("", "", "no agent was routed in it, so there is no inbox to put it in; "
                            "kb boot --session ID routes one")]
        spelled.setdefault(owner.casefold(), owner)
        shares.setdefault(owner.casefold(), []).append(event)
    if not shares:
        return [Outcome("", "", "the session produced nothing to capture")]
    path = route_of(events)
    outcomes = {name: _deposit(app, session, spelled[name], share, path) for name, share in shares.items()}
    if any(outcome.path for outcome in outcomes.values()):
        open_ = {name for name, outcome in outcomes.items() if not outcome.path}
        record.keep([event for event, owner in held if open_ and (
            event.kind == "routed" or (owner is not None and owner.casefold() in open_))])
    return list(outcomes.values())


def _deposit(app: App, session: str, agent: str, share: list[Event], path: list[str]) -> Outcome:
    base = app.fleet.base(agent)
    if base is None:
        place = os.path.join(app.fleet.root, "fleet", agent)
        return Outcome(agent, "", f"agent {agent} has no base at {place}; its part of the record is kept")
    date = today()
    text = deposit(session, date, [replace(event, text=scrub(event.text)) for event in share], path)
    try:
        return Outcome(base.name, _write(base, f"{date}-session-{safe_id(session)}", text))
    except OSError as error:
        return Outcome(base.name, "", f"{os.path.join(base.root, 'inbox')} cannot be written: {error.strerror or error}; "
                       "the record is kept", failed=True)


def _write(base: Base, stem: str, text: str) -> str:
    """Put a deposit under the first free name. One that is there with the same text is the one that a crash left."""
    inbox = os.path.join(base.root, "inbox")
    for name in _names(stem):
        target = os.path.join(inbox, name)
        if not os.path.lexists(target):
            stay_inside(target, base.root)
            write_atomic(target, text)
            return target
        if _same(target, text):
            return target
    raise AssertionError("there is always another name")


def _names(stem: str) -> Iterable[str]:
    yield f"{stem}.md"
    number = 2
    while True:
        yield f"{stem}-{number}.md"
        number += 1


def _same(path: str, text: str) -> bool:
    try:
        return read_text(path) == text
    except (OSError, UnicodeDecodeError):
        return False


def _tell(app: App, kind: str, session: str, agent: str, paths: Iterable[str] = (), texts: tuple[str, ...] = ()) -> None:
    event = SessionEvent(kind, session, Path(app.fleet.root), agent, {"paths": list(paths)}, texts)
    app.host.gather("kb_session_event", event=event)
