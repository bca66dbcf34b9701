"""`kb-decided.txt`: what promotion has decided, so that an unchanged deposit is not proposed again."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from kb.core.counted import LogFormat, field, tabbed

Outcome = Literal["written", "refused", "nothing", "done"]
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
WHOLE = "-"


class Decision(NamedTuple):
    """One decision. `digest` is of the agent's name and the deposit's text.

    outcome: `written` or `refused` for the note `slug`; with slug `-`, of the whole deposit: `nothing` was in it, or all
             that was proposed from it is `done`.
    day:     UTC.
    """

    digest: str
    agent: str
    slug: str
    outcome: Outcome
    day: str
    source: str


def deposit_digest(agent: str, text: str) -> str:
    """What a deposit is known by: the same text in another agent's inbox is another deposit."""
    import hashlib

    return hashlib.blake2b(f"{agent.casefold()}\n{text}".encode("utf-8", "replace"), digest_size=16).hexdigest()


def _read(line: str) -> Decision | None:
    parts = tabbed(line, 6, 6)
    if parts is None or not all(parts):
        return None
    outcome = next((known for known in _OUTCOMES if known == parts[3]), None)
    return None if outcome is None else Decision(parts[0], parts[1], parts[2], outcome, parts[4], parts[5])


DECIDED: LogFormat[Decision] = LogFormat(
    file="kb-decided.txt",
    header=(
        "What kb promote, ingest and consolidate have decided. An unchanged deposit is not proposed again.",
        "Tabs between: digest of the deposit, agent, slug (- for the whole deposit), outcome, day, deposit.",
        "Delete a line to have it decided again. Private: do not commit this file.",
    ),
    read=_read, line=lambda row: "\t".join(map(field, row)), key=lambda row: (row.digest, row.slug),
    merge=lambda old, new: new, order=None)
