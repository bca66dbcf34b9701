"""A provider's boundaries: start, end and compaction. A provider is never blocked, and a failure is never silent."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

from kb.api import KbError
from kb_plugins.lifecycle import briefing, continuation, sessions
from kb_plugins.lifecycle.derive import derive_quietly
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episode, Episodes
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.policy import BUILT_IN, Policy, read_policy

EVENTS = ("start", "end", "compact")
_CLOSING_REASONS = ("clear", "logout", "prompt_input_exit")
_PAYLOAD_SECONDS = 2.0
_PAYLOAD_BYTES = 1 << 20


class Boundary:
    """One fired event of a provider."""

    def __init__(self, disk: Disk, ledger: Ledger, provider: str, event: str, payload: dict[str, str],
                 say: Callable[[str], None], show: Callable[[str], None]) -> None:
        self.disk = disk
        self.ledger = ledger
        self.provider = reduced(provider) or "unknown"
        self.event = event
        self.payload = payload
        self.say = say
        self.show = show
        self.episode: Episode | None = None  # as the event found it

    @property
    def session(self) -> str:
        return self.payload.get("session_id", "")

    def fire(self) -> None:
        """Draw the boundary. Nothing that goes wrong is raised: it is in the ledger and told."""
        extra = {"provider_session": self.session} if self.session else {}
        self.episode = self.attempt("the episode could not be read", lambda: Episodes(self.disk).mine(self.session))
        stamp = self.episode.id if self.episode else None
        self.attempt("the event could not be logged", lambda: self.ledger.append(
            "provider.event.received", stamp, provider=self.provider, provider_event=self.event, **extra))
        policy = self._policy()
        {"start": on_start, "end": on_end, "compact": on_compact}[self.event](self, policy)

    def fail(self, reason: str) -> None:
        """Record a failure: on stderr, and in the ledger if that still works."""
        self.say(f"session hook: {self.event}: {reason}")
        try:
            episode = Episodes(self.disk).mine(self.session)
            self.ledger.append("provider.event.failed", episode.id if episode else None, provider=self.provider,
                               provider_event=self.event, reason=reason)
        except (KbError, OSError) as error:
            self.say(f"session hook: {self.event}: the failure could not be logged: {error}")

    def attempt(self, what: str, act: Callable[[], Any]) -> Any:
        """What `act` gives, or None when it failed: then the failure is recorded."""
        try:
            return act()
        except (KbError, OSError) as error:
            self.fail(f"{what}: {error}")
            return None

    def _policy(self) -> Policy:
        try:
            return read_policy(self.disk)
        except KbError as error:
            self.fail(str(error))
            return BUILT_IN


def on_start(boundary: Boundary, policy: Policy) -> None:
    """Open the provider's episode, or keep the open one, and print the briefing."""
    disk, ledger = boundary.disk, boundary.ledger
    boundary.attempt("the episode could not be opened", lambda: Episodes(disk).start(
        ledger, provider=boundary.provider, provider_session=boundary.session, keep=True))
    if policy.on("session.briefing_on_start"):
        said = boundary.attempt("the briefing could not be made", lambda: briefing.lines(disk, ledger))
        for line in briefing.bounded(said or [], policy.number("session.briefing_budget_lines")):
            boundary.show(line)


def on_end(boundary: Boundary, policy: Policy) -> None:
    """Checkpoint, handover, close. The close derives; a derivation that failed there is recorded here, once."""
    disk, ledger, episode = boundary.disk, boundary.ledger, boundary.episode
    if episode is None:
        return
    boundary.attempt("the checkpoint was not written", lambda: continuation.checkpoint(disk, ledger, episode))
    if policy.on("session.handover_on_end"):
        boundary.attempt("the handover was not written", lambda: continuation.handover(disk, ledger, episode))
    outcome = "closed" if boundary.payload.get("reason") in _CLOSING_REASONS else "interrupted"
    closed = boundary.attempt("the episode was not closed", lambda: sessions.close(
        disk, ledger, boundary.say, outcome=outcome, provider_session=boundary.session))
    if closed is not None and closed.failure:
        boundary.fail(f"the knowledge was not derived: {closed.failure}")


def on_compact(boundary: Boundary, policy: Policy) -> None:
    """Checkpoint and derive, each under its own switch; the episode stays open."""
    disk, ledger, episode = boundary.disk, boundary.ledger, boundary.episode
    if policy.on("session.checkpoint_on_compact"):
        boundary.attempt("the checkpoint was not written", lambda: continuation.checkpoint(disk, ledger, episode))
    if not policy.on("session.knowledge_on_compact"):
        boundary.say("session hook: session.knowledge_on_compact is false, so nothing is derived")
        return
    if episode is None:
        boundary.say("session hook: no episode of this provider is open, so nothing is derived")
        return
    worked, line = derive_quietly(disk, ledger, episode.id)
    if worked:
        boundary.say(f"session hook: {line}")
    else:
        boundary.fail(f"the knowledge was not derived: {line}")


def reduced(value: object) -> str:
    """A value of a provider's payload: `[A-Za-z0-9._:@/-]`, at most 64 characters."""
    return re.sub(r"[^A-Za-z0-9._:@/-]", "", value)[:64] if isinstance(value, str) else ""


def payload_of(text: str) -> dict[str, str] | None:
    """The fields of a payload that we read, or None when it is no JSON object."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    pairs = (("session_id", "sessionId"), ("source", "session_source"), ("reason", "end_reason"))
    return {first: reduced(data.get(first) or data.get(second)) for first, second in pairs}


def read_payload() -> str:
    """What the provider wrote to stdin, without waiting for a pipe that nobody closes."""
    import os
    import select
    import time

    try:
        fd = sys.stdin.fileno()
        if os.isatty(fd):
            return ""
    except (OSError, ValueError, AttributeError):
        return ""
    data, until = b"", time.monotonic() + _PAYLOAD_SECONDS
    while len(data) < _PAYLOAD_BYTES:
        ready, _, _ = select.select([fd], [], [], max(until - time.monotonic(), 0))
        part = os.read(fd, 65536) if ready else b""
        if not part:
            break
        data += part
        if data.rstrip().endswith(b"}") and payload_of(data.decode("utf-8", "replace")) is not None:
            break
    return data.decode("utf-8", "replace")
