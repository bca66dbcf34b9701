"""What the librarian at the door says. Every function returns finished text; nothing here decides anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.core.display import flat, printable
from kb.core.dossier import Reviewer, Ruling
from kb.core.handoff import Handoff
from kb.core.values import Base, Layer, Passage, Place
from kb.core.windows import shielded

PASSAGE_BYTES = 6000
HANDOFF_BYTES = 2000
SHORT_MEMORY = " [SHORT MEMORY: recent, not distilled]"
_ROLE, _ENDS = 96, 150


@dataclass(frozen=True, slots=True)
class Subject:
    """The file that a hit is about: its passages, and whether those are what matched or only how the file begins."""

    place: Place
    memory: Layer
    passages: Sequence[Passage]
    matched: bool


def roster(agents: Sequence[Base]) -> str:
    """The agents, what each does and where it stops."""
    lines = ["The fleet:"]
    for agent in agents:
        role = first_clause(agent.role or "", _ROLE)
        lines.append(f"  {_line(agent.name)}: {role}" if role else f"  {_line(agent.name)}")
        if agent.ends:
            lines.append(f"      stops at: {first_clause(agent.ends, _ENDS)}")
    return "\n".join(lines if agents else ["The fleet has no agent: kb init <name> makes one."]) + "\n"


def first_clause(text: str, most: int) -> str:
    """`text` up to its first sentence when that ends before `most` characters, whole when it fits, else cut at a word."""
    text = printable(flat(text))
    sentence = text.find(". ")
    if 0 <= sentence < most:
        return text[:sentence]
    if len(text) <= most:
        return text
    head = text[:most + 1].rpartition(" ")[0]
    return head + "..." if head else text


def gap(ruling: Ruling, agents: Sequence[Base]) -> str:
    """Nobody owns the subject: which gap that is, what may be done, and the roster."""
    subject = _line(ruling.subject) or "this subject"
    reason = f" ({_line(ruling.reason)})" if ruling.reason else ""
    owner = _line(ruling.owner or "")
    if ruling.coverage == "adjacent":
        nearest = f" {owner} is the nearest." if owner else ""
        text = (f"VESTA: no agent owns {subject}.{nearest}{reason} Two things are honest: teach "
                f"{owner or 'an agent'} the subject, or create an agent for it.\n")
    else:
        text = (f"VESTA: nothing in the fleet covers {subject}, and no agent is near it.{reason} It is worth deciding "
                "whether an agent should exist for it.\n")
    if owner:
        text += f"\nAnswer as {owner}, and say that this lies outside the ground that {owner} covers.\n"
    return f"{text}\n{roster(agents)}"


def librarian(places: Sequence[Place]) -> str:
    """Nobody owns it and nobody has to: files of bases that are no agents hold something about it."""
    return ("VESTA: nobody owns this and nobody needs to. Answer as the librarian from these files, and say so when they "
            f"do not cover it:\n\n{_places(places)}")


def unowned(agents: Sequence[Base], shortfall: Sequence[str], degraded: str) -> str:
    """No owner was found. The roster comes last."""
    count = len(agents)
    none = f"none of the {count} agent{'' if count == 1 else 's'} plainly answers for it" if count else "there is no agent yet"
    text = (f"VESTA: no owner was found for this message: {none}.\n\n"
            "Do not assume an agent. Ask which one is meant, or answer as the librarian and say that this does not appear "
            "to be covered.\n\n")
    if degraded:
        text += f"{degraded}\n\n"
    told = " ".join(shortfall[:2])
    return text + (f"{told}\n\n" if told else "") + roster(agents)


def routed(agent: str, previous: str | None, switched: bool, constitution: str) -> str:
    """Who answers. The constitution comes only when the agent changed."""
    name = _line(agent)
    if not switched:
        return f"VESTA: still {name}.\n\n"
    text = (f"VESTA: this message routes to {name}. You are {name} while that holds. The router decided it before the "
            "message was seen, and it is not yours to override. If it is wrong, say so and record it with: kb misroute "
            f"\"<the message>\" --chose {_word(agent)} --owner <agent or none>. That log is evidence, and never an edit.\n")
    if constitution:
        text += constitution if constitution.startswith("\n") else "\n" + constitution
    if previous:
        text = text.rstrip("\n") + f"\n\n(The agent before this message was {_line(previous)}.)\n"
    return text.rstrip("\n") + "\n\n"


def continuity(record: Handoff) -> str:
    """A handoff that is not completed, as much of it as the budget holds."""
    lines = [f"VESTA: CONTINUITY (session {_line(record.session)}, status: {record.status}):"]
    if record.agent:
        lines.append(f"  Agent: {_line(record.agent)}")
    if record.claimed_by:
        lines.append(f"  Claimed by: {_line(record.claimed_by)}")
    if record.task:
        lines.append(f"  Active task: {_block(record.task, '    ')}")
    for label, items in (("Decisions", record.decisions), ("Blockers", record.blockers), ("Next steps", record.next_steps)):
        if items:
            lines.append(f"  {label}:")
            lines += [f"    - {_block(item, '      ')}" for item in items]
    text = "\n".join(lines) + "\n"
    cut = cut_bytes(text, HANDOFF_BYTES)
    return cut + ("  [...continuity truncated to budget]\n" if cut != text else "") + "\n"


def decomposed(parts: Sequence[tuple[str, str]]) -> str:
    """Which agent each part of a compound message belongs to, as (agent, part)."""
    lines = [f"VESTA: decomposed compound inquiry across {len(parts)} domains:"]
    lines += [f'  - [{_line(agent)}]: "{_line(part)}"' for agent, part in parts]
    return "\n".join(lines) + "\n\n"


def panel(owner: str, reviewers: Sequence[Reviewer], tokens: int) -> str:
    """Who must object before the work ships, the command that opens the round, and its price in tokens."""
    lines = [f"VESTA: {_line(owner)} is accountable for this, and these agents must object before it ships:"]
    lines += [f"  {_line(seat.agent)}: {_line(seat.why)}" if seat.why else f"  {_line(seat.agent)}" for seat in reviewers]
    seats = " ".join(f"--reviewer {_word(seat.agent)}" for seat in reviewers)
    lines += ["Draft first; do not poll them for direction. When there is a draft, open the round:",
              f"  kb panel <the file you wrote> --owner {_word(owner)} {seats}",
              f"Booting the panel reads about {tokens} tokens of constitution; real subagents cost about six times more.",
              "Refuse an objection in writing, with the reason. An objection that is blocking is not yours to refuse."]
    return "\n".join(lines) + "\n\n"


def evidence(subject: Subject | None, places: Sequence[Place]) -> str:
    """What to read: the passages of the vouched file and the other files as leads, else the files, else nothing."""
    if not places and subject is None:
        return "No file ranked for this message.\n"
    body = _passages(subject) if subject is not None else ""
    if not body or subject is None:
        return "Open these before answering:\n" + _places(places)
    if subject.matched:
        intro = (f"The library answered: the verdict is about one file, {_line(str(subject.place))}, and these are its "
                 "passages that matched. What is listed after them are leads.\n")
    else:
        intro = (f"The library answered: the verdict is about one file, {_line(str(subject.place))}. It ranked on its keys "
                 "alone, so this is how the file begins, and not the part that answers. Open it.\n")
    leads = [place for place in places if place != subject.place]
    return intro + body + (f"\nRanked leads, unvouched:\n{_places(leads)}" if leads else "")


def passage_header(path: str, heading_path: str, memory: Layer, captured_from: str | None) -> str:
    """The line above a served passage. Everything in it is one line and shows its control characters."""
    label = SHORT_MEMORY if memory == "short" else ""
    origin = f" [captured from {_line(captured_from)}]" if captured_from else ""
    return f"--- {_line(path)} ({_line(heading_path) or 'top'}){label}{origin}\n"


def cut_bytes(text: str, most: int) -> str:
    """`text` cut to at most `most` bytes of UTF-8, at the end of a line where one is near, never inside a character."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    head = data[:most].decode("utf-8", "ignore")
    line = head.rfind("\n")
    return head[:line + 1] if line > len(head) // 2 else head + "\n"


def _passages(subject: Subject) -> str:
    parts: list[str] = []
    used = 0
    for number, passage in enumerate(subject.passages):
        used += len(passage.text.encode("utf-8", "replace"))
        if used > PASSAGE_BYTES:
            if parts:
                left = len(subject.passages) - number
                parts.append(f"\n({left} more passage(s) of this file did not fit; open it)\n")
            break
        parts.append("\n" + passage_header(str(subject.place), passage.heading_path, subject.memory, passage.captured_from)
                     + shielded(passage.text) + "\n")
    return "".join(parts)


def _places(places: Sequence[Place]) -> str:
    return "".join(f"  {_line(str(place))}\n" for place in places)


def _block(text: str, indent: str) -> str:
    """A text of several lines under its first one."""
    return printable(text.strip(), lines=True).replace("\n", "\n" + indent)


def _word(name: str) -> str:
    """A name as one word of a command line."""
    name = printable(name)
    return name if all(c.isalnum() or c in "-_." for c in name) else "'" + name.replace("'", "'\\''") + "'"


def _line(text: str) -> str:
    return printable(flat(text))
