"""What a prompt hook hands over: the message of a person, cleared of what machines wrapped around it, and its parts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_SIGNS = ("prompt", "session_id", "hook_event_name", "cwd")
_WRAPPINGS = ("system-reminder", "task-notification")
_CONJUNCTIONS = (
    " e como ", " e qual ", " e quanto ", " e onde ", " e por que ", " e quem ", " alem disso ", " além disso ",
    " and how ", " and what ", " and why ", " and where ", " and when ", " and who ", " furthermore ", " moreover ",
)
_SPLITTERS = tuple(re.compile(re.escape(conjunction), re.IGNORECASE) for conjunction in _CONJUNCTIONS)
_LEAST_CHARACTERS, _LEAST_WORDS = 10, 2


@dataclass(frozen=True, slots=True)
class HookInput:
    """One hook event. `prompt` is None when the input held no message at all; blank when it only opened a session."""

    prompt: str | None
    session: str = ""
    cwd: str = ""


def parse_hook(text: str, *, verbatim: bool = False) -> HookInput:
    """What a host wrote to stdin: a JSON object with a known field, else (or when `verbatim`) the message itself."""
    if not verbatim and text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and any(sign in data for sign in _SIGNS):
            return HookInput(_text(data.get("prompt")), _text(data.get("session_id")).strip(),
                             _text(data.get("cwd")).strip())
    return HookInput(_text(text)) if text.strip() else HookInput(None)


def unwrapped(message: str) -> str:
    """`message` without the passages that a machine put into it; one that is never closed takes the rest with it."""
    for name in _WRAPPINGS:
        message = _without(message, f"<{name}>", f"</{name}>")
    return message.strip()


def decompose(message: str) -> list[str]:
    """The sub-questions of a message, or the whole message when it is one; [] when it is blank."""
    whole = message.strip()
    if not whole:
        return []
    parts = [clause.strip() for line in whole.splitlines() for clause in re.split(r"[?;!]", line) if clause.strip()]
    for splitter in _SPLITTERS:
        pieces: list[str] = []
        for part in parts:
            found = splitter.search(part)
            pieces += [part] if found is None else [part[:found.start()], part[found.start() + 1:]]
        parts = pieces
    cleaned = [_cleaned(part) for part in parts]
    kept = [part for part in cleaned if len(part) >= _LEAST_CHARACTERS and len(part.split()) >= _LEAST_WORDS]
    return kept or [whole]


def _text(value: object) -> str:
    """A string that every encoding of ours can hold: a lone surrogate of a JSON escape becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _without(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    while True:
        before, found, rest = text.partition(opening)
        kept.append(before)
        if not found:
            return "".join(kept)
        depth = 1
        while depth:  # one inside another of the same name ends with the outer one
            end, inner = rest.find(closing), rest.find(opening)
            if end < 0:
                return "".join(kept)
            if 0 <= inner < end:
                depth, rest = depth + 1, rest[inner + len(opening):]
            else:
                depth, rest = depth - 1, rest[end + len(closing):]
        text = rest


def _cleaned(part: str) -> str:
    part = part.strip()
    for lead in ("and ", "e "):
        if part.startswith(lead):
            part = part[len(lead):]
            break
    first, last = 0, len(part)
    while first < last and not _keeps(part[first]):
        first += 1
    while last > first and not _keeps(part[last - 1]):
        last -= 1
    return part[first:last].strip()


def _keeps(c: str) -> bool:
    return c.isalnum() or c == "?"
