"""The closed registry of ledger events: each name, and the fields that a line of it must carry beyond the envelope."""

from __future__ import annotations

from typing import Any

from kb_plugins.lifecycle.exits import unwritable

ENVELOPE = ("ts", "event", "head", "branch", "by", "session")

EVENTS: dict[str, tuple[str, ...]] = {
    "task.started": ("task_id", "profile", "owner", "scope"),
    "task.checkpoint": (),
    "task.handed_over": ("handover_path", "closed"),
    "task.finished": ("task_id", "outcome", "contract"),
    "task.refused": ("task_id", "outcome", "unmet", "refused"),
    "decision.recorded": ("task_id", "decision"),
    "question.opened": ("task_id", "question"),
    "question.resolved": ("task_id", "question", "answer"),
    "session.started": ("owner",),
    "session.closed": ("outcome", "session_path"),
    "session.recovered": ("session_id", "reason", "session_path"),
    "provider.event.received": ("provider", "provider_event"),
    "provider.event.failed": ("provider", "provider_event", "reason"),
    "observation.recorded": ("task_id", "kind", "subject", "statement", "evidence"),
    "knowledge.derived": ("episode", "written", "unchanged", "skipped", "paths"),
    "knowledge.promoted": ("id", "path"),
    "knowledge.rejected": ("id", "reason"),
    "ledger.rotated": ("archived", "kept", "archive"),
}


def validate(event: str, payload: dict[str, Any]) -> None:
    """Refuse a line that the registry does not know, that lacks a field, or that would shadow the envelope (13)."""
    if event not in EVENTS:
        raise unwritable(f"the ledger has no event called {event}")
    missing = [name for name in EVENTS[event] if name not in payload]
    if missing:
        raise unwritable(f"a line of {event} needs {missing[0]}")
    reserved = [name for name in payload if name in ENVELOPE]
    if reserved:
        raise unwritable(f"{reserved[0]} belongs to the envelope of a ledger line and is no field of {event}")
