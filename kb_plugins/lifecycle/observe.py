"""An observation: what a worker met, about which subject, on what evidence. Nothing is judged when it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.api import UsageError
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.exits import invalid
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.tasks import current_id
from kb_plugins.lifecycle.text import is_conversation

KINDS = ("friction", "workaround", "defect", "drift", "repetition")
_PATH = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._/-]*")
_NAMED = re.compile(r"(?:capability|rule|command|gate):[A-Za-z0-9][A-Za-z0-9._/@-]*")
_EVIDENCE = re.compile(r"(?:file|test|commit|issue|claim):\S+")
_BREAK = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")


def validate(kind: str, subject: str, evidence: Sequence[str], statement: str) -> None:
    """Refuse a malformed observation (UsageError), before anything is looked at."""
    if kind not in KINDS:
        raise UsageError(f"the kind must be one of {', '.join(KINDS)}")
    if not subject_is_legal(subject):
        raise UsageError(f"{subject!r} is no subject", hint="name a path of the repository, or capability:, rule:, "
                         "command: or gate: with an identifier")
    bad = next((item for item in evidence if not _EVIDENCE.fullmatch(item)), None)
    if bad is not None:
        raise UsageError(f"{bad!r} is no evidence", hint="use file:, test:, commit:, issue: or claim: with a value")
    if not statement.strip() or _BREAK.search(statement):
        raise UsageError("the statement must be one line of text")
    if is_conversation(statement):
        raise UsageError("the statement opens like a line of a conversation, and no conversation is ever recorded")


def subject_is_legal(subject: str) -> bool:
    """Whether this names something an observation can be about."""
    return bool(_NAMED.fullmatch(subject) or (_PATH.fullmatch(subject) and ".." not in subject.split("/")))


def observe(disk: Disk, ledger: Ledger, kind: str, subject: str, evidence: Sequence[str], statement: str) -> None:
    """Append one `observation.recorded`. Raises KbError (10) when no episode is open: it would never be derived."""
    validate(kind, subject, evidence, statement)
    episode = Episodes(disk).mine()
    if episode is None:
        raise invalid("no episode is open, and an observation outside one would never become a record",
                      hint="open one with session start")
    ledger.append("observation.recorded", episode.id, task_id=current_id(disk), kind=kind, subject=subject,
                  statement=statement, evidence=list(evidence))
