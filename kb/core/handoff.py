"""The handoff record: what one session leaves for the next, as a markdown file that a person can read and edit.

The first line of a text stands flush; its further lines are indented by two blanks, so that text of several lines
comes back as it went in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from kb.core.counted import field

Status = Literal["pending", "claimed", "completed"]
_STATUSES: tuple[Status, ...] = get_args(Status)
_SECTIONS = {"decisions": "decisions", "blockers": "blockers", "next steps": "next_steps", "references": "references"}
_INDENT = "  "


class Handoff(NamedTuple):
    """One record. Texts may hold several lines; `claimed_by` is None while nobody holds the baton. Dates are UTC."""

    session: str
    agent: str
    task: str
    status: Status
    updated_at: str
    claimed_by: str | None = None
    decisions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


def render(record: Handoff) -> str:
    """The record as the text of its file."""
    head = [f"session: {field(record.session)}", f"agent: {field(record.agent)}", f"status: {record.status}"]
    if record.claimed_by is not None:
        head.append(f"claimed_by: {field(record.claimed_by)}")
    parts = ["\n".join(("---", *head, f"updated_at: {field(record.updated_at)}", "---")),
             "# Task\n" + _escaped(_indented(record.task))]
    for title, items in (("Decisions", record.decisions), ("Blockers", record.blockers),
                         ("Next Steps", record.next_steps), ("References", record.references)):
        if items:
            parts.append("\n".join((f"## {title}", *(f"- {_indented(item)}" for item in items))))
    return "\n\n".join(parts) + "\n"


def parse(text: str) -> Handoff | None:
    """The record that `text` holds, or None when it has no front matter with a session. An unknown status is pending."""
    lines = [line.removesuffix("\r") for line in text.lstrip().split("\n")]
    if lines[0].rstrip() != "---":
        return None
    end = next((number for number, line in enumerate(lines[1:], 1) if line.startswith("---")), None)
    if end is None:
        return None
    keys: dict[str, str] = {}
    for line in lines[1:end]:
        key, colon, value = line.partition(":")
        if colon:
            keys.setdefault(key.strip(), value.strip())
    if not keys.get("session"):
        return None
    body = _sections(lines[end + 1:])
    status: Status = next((known for known in _STATUSES if known == keys.get("status")), "pending")
    return Handoff(keys["session"], keys.get("agent", ""), "\n".join(body["task"]), status, keys.get("updated_at", ""),
                   keys.get("claimed_by") or None, *(tuple(body[name]) for name in _SECTIONS.values()))


def cleaned(text: str) -> str:
    """`text` as a record keeps it: line ends of one kind, nothing around it, no half of a surrogate pair."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.encode("utf-8", "replace").decode().strip().split("\n"))


def as_object(record: Handoff) -> dict[str, Any]:
    """The record as JSON has it: keys in alphabetical order, `claimed_by` only when it is set."""
    found = {name: value for name, value in record._asdict().items() if name != "claimed_by" or value is not None}
    return dict(sorted(found.items()))


def _sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """The items of each section; the task is one item."""
    found: dict[str, list[str]] = {"task": [], **{name: [] for name in _SECTIONS.values()}}
    items: list[str] | None = None
    task = False
    blanks = 0
    for line in lines:
        if line.startswith("#"):
            name = line.strip("# \t").lower()
            task = name == "task" and not line.startswith("##") and not found["task"]
            items = found["task"] if task else found.get(_SECTIONS.get(name, "")) if line.startswith("##") else None
        elif items is None:
            continue
        elif not line.strip():
            blanks += 1
            continue
        elif items and line.startswith(_INDENT):
            items[-1] += "\n" * (blanks + 1) + line[len(_INDENT):]
        elif task:
            items[:] = [f"{items[0]} {line.strip()}"] if items else [_unescaped(line.strip())]
        elif line.startswith("- "):
            items.append(line[2:].strip())
        blanks = 0
    return found


def _indented(text: str) -> str:
    first, *more = cleaned(text).split("\n")
    return "\n".join((first, *(_INDENT + line if line else "" for line in more)))


def _escaped(text: str) -> str:
    return "\\" + text if text.startswith(("#", "\\")) else text


def _unescaped(text: str) -> str:
    return text[1:] if text.startswith(("\\#", "\\\\")) else text
