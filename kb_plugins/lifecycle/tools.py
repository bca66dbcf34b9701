"""MCP tools over the records: the queue, one record, the status. They read; promoting is a person's act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kb.api import Tool, UsageError, dumps

_READING = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False, "destructiveHint": False}
_NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def tools() -> list[Tool]:
    """The three tools."""
    return [
        Tool("kb_knowledge_candidates",
             "List the knowledge candidates that await a person's review, with what recurs. It promotes nothing.",
             _NOTHING, _candidates, _READING),
        Tool("kb_knowledge_record", "Read one knowledge record, every reference resolved.",
             {"type": "object", "properties": {"id": {"type": "string", "maxLength": 300, "description": "The record's id."}},
              "required": ["id"], "additionalProperties": False}, _record, _READING),
        Tool("kb_knowledge_status", "Say whether closed episodes of work are still being derived into records.",
             _NOTHING, _status, _READING),
    ]


def _candidates(app: Any, arguments: Mapping[str, Any]) -> str:
    from kb_plugins.lifecycle.policy import read_policy
    from kb_plugins.lifecycle.queue import Queue

    disk, ledger = world_of(app)
    return dumps(Queue(disk, ledger).shown(read_policy(disk)))


def _record(app: Any, arguments: Mapping[str, Any]) -> str:
    from kb_plugins.lifecycle.record_view import view

    disk, ledger = world_of(app)
    return dumps(view(disk, ledger, str(arguments["id"])))


def _status(app: Any, arguments: Mapping[str, Any]) -> str:
    from kb_plugins.lifecycle.policy import read_policy
    from kb_plugins.lifecycle.status import shown

    disk, ledger = world_of(app)
    return dumps(shown(disk, ledger, read_policy(disk)))


def world_of(app: Any) -> tuple[Any, Any]:
    """(disk, ledger) of the repository that the fleet lies in. Raises UsageError when it lies in none."""
    from kb_plugins.lifecycle.disk import Disk
    from kb_plugins.lifecycle.git import open_checkout
    from kb_plugins.lifecycle.ledger import Ledger

    try:
        disk = Disk(open_checkout(app.fleet.root))
    except UsageError:
        raise UsageError("the fleet does not lie in a git repository, so it has no knowledge records",
                         hint="serve a path inside one") from None
    return disk, Ledger(disk)
