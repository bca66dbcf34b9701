"""The memory of what promotion decided, beside fleet.txt. All raise KbError when it cannot be read or written."""

from __future__ import annotations

from kb.core.counted import field
from kb.core.decided import DECIDED, WHOLE, Decision, Outcome
from kb.store.clock import today
from kb.store.logs import count_up, log_path, read_log, stray_lines


def decisions_on(root: str, digest: str) -> dict[str, Decision]:
    """What was decided about the deposit with that digest, by slug; the deposit as a whole is `-`."""
    rows = read_log(log_path(root, DECIDED), DECIDED).rows
    return {row.slug: row for row in rows if row.digest == digest}


def is_of_another(root: str, digest: str, agent: str, slug: str, source: str) -> bool:
    """Whether the note `slug` was written from other words than those of `digest` that came under the same name."""
    rows = read_log(log_path(root, DECIDED), DECIDED).rows
    return any(row.slug == slug and row.outcome == "written" and row.digest != digest and row.source == field(source)
               and row.agent.casefold() == agent.casefold() for row in rows)


def unreadable_decisions(root: str) -> list[str]:
    """One sentence for each line of the memory that is no decision."""
    path = log_path(root, DECIDED)
    return stray_lines(path, read_log(path, DECIDED))


def remember(root: str, digest: str, agent: str, slug: str, outcome: Outcome, source: str) -> None:
    """Keep one decision."""
    count_up(log_path(root, DECIDED), DECIDED, Decision(digest, agent, slug or WHOLE, outcome, today(), source))
