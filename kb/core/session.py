"""The record of a session: what happened in which order, whose each thing is, and the deposit that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

EventKind = Literal["refused", "routed", "conclusion"]
_LONGEST_ID = 100
_INTRO = ("Written by kb capture from the record of one session. No model read it and nothing in it was judged: "
          "kb promote decides what becomes a note.")
_REFUSED = ("Each was asked and no key of the library matched. What is under it are keys of the library that are "
            "spelled alike, as they were offered on the day.")
_CONCLUDED = "Recorded during the session with kb capture --conclusion, secrets cut out."


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a record. `text` is the question, the agent or the conclusion; `words` what was offered back."""

    kind: EventKind
    text: str
    words: tuple[str, ...] = ()

    def line(self) -> str:
        """The event as one line without its end: fields flattened, so that none can forge another."""
        fields = [self.kind, flat_field(self.text)]
        if self.kind == "refused":
            fields.append(", ".join(flat_field(word) for word in self.words))
        return "\t".join(fields)


def flat_field(text: str) -> str:
    """A field of a tab-separated line: tabs and every kind of line end are blanks, and the ends are trimmed."""
    return " ".join(text.replace("\t", " ").splitlines()).strip()


def parse_events(text: str) -> list[Event]:
    """The events of a record. Lines of an unknown kind and lines without a text are passed over."""
    events: list[Event] = []
    for line in text.split("\n"):
        kind, _, rest = line.rstrip("\r").partition("\t")
        first, _, second = rest.partition("\t")
        first = first.strip()
        if not first:
            continue
        if kind == "refused":
            words = tuple(word for piece in second.split(",") if (word := piece.strip()))
            events.append(Event("refused", first, words))
        elif kind == "routed":
            events.append(Event("routed", first))
        elif kind == "conclusion":
            events.append(Event("conclusion", first))
    return events


def safe_id(session: str) -> str:
    """A session id as a file name: ASCII letters, digits and `-` stay, the rest is `_`; a long one ends in a digest."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in session.strip())
    if len(safe) <= _LONGEST_ID:
        return safe
    import hashlib

    digest = hashlib.blake2b(session.strip().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{safe[:_LONGEST_ID - 17]}-{digest}"


def owners(events: Sequence[Event], fallback: str | None) -> list[str | None]:
    """For each event whose it is: the last agent routed before it, else the first one after it, else `fallback`."""
    first = next((event.text for event in events if event.kind == "routed"), fallback)
    found: list[str | None] = []
    holder = first
    for event in events:
        if event.kind == "routed":
            holder = event.text
        found.append(holder)
    return found


def route_of(events: Sequence[Event]) -> list[str]:
    """The agents a session went through, one name for a stay of any length."""
    path: list[str] = []
    for event in events:
        if event.kind == "routed" and (not path or path[-1].casefold() != event.text.casefold()):
            path.append(event.text)
    return path


def deposit(session: str, date: str, events: Sequence[Event], path: Sequence[str]) -> str:
    """The deposit of one agent: its share of the events, and the whole path of the conversation."""
    parts = [f"---\nprovenance: agent\nstage: raw\n---\n\n# Session {safe_id(session)}, {date}\n\n{_INTRO}\n\n"]
    refused = [event for event in events if event.kind == "refused"]
    if refused:
        parts.append(f"## Questions the base could not answer\n\n{_REFUSED}\n\n")
        for event in refused:
            parts.append(f"- {_item(event.text)}\n")
            if event.words:
                parts.append(f"  looked like: {', '.join(event.words)}\n")
        parts.append("\n")
    concluded = [event for event in events if event.kind == "conclusion"]
    if concluded:
        parts.append(f"## Decisions and conclusions\n\n{_CONCLUDED}\n\n")
        parts += [f"- {_item(event.text)}\n" for event in concluded]
        parts.append("\n")
    if path:
        parts.append(f"## Where the conversation went\n\n{', then '.join(path)}\n")
    return "".join(parts).rstrip("\n") + "\n"


def session_of(text: str) -> str | None:
    """The session a deposit is from: the id in its `# Session <id>, <date>` heading, or None when it has none."""
    for line in text.split("\n"):
        if line.startswith("# Session "):
            return line[len("# Session "):].rpartition(",")[0].strip() or None
        if line.startswith("# "):
            return None
    return None


def _item(text: str) -> str:
    """The text of a list item, on one line. It stands under a section heading, where no label is read as a key line."""
    return flat_field(text)
