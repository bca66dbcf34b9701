"""What the command that chooses the agent is asked, and what its reply says.

The stable part (who the agents are, how to judge) comes first, so that a model's prefix cache serves every message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kb.core.display import flat, printable, uncoloured
from kb.core.shelves import kind_of
from kb.core.values import KINDS, Answer, Base, Result

Coverage = Literal["covered", "adjacent", "uncovered"]
MOST_REVIEWERS = 3
_FILES, _TABLE, _RANKED = 5, 4, 20
_ABOUT = 160
_DECORATION = "*_`\"'“”‘’<>[]() \t"

_IDENTITY = ("You are the librarian of a fleet of agents. Decide who answers one message, and reply only in the format "
             "at the end.\n\nThe agents, and no other name exists:\n\n")
_RULES = """
How to judge:
- Judge by what each agent does and where it stops, never by scores. An agent without any score may own the subject; a
  high score of an agent that is not fit for it is a coincidence of vocabulary.
- COVERAGE is covered only when the subject is plainly part of what that agent's lines say. Otherwise it is adjacent,
  and OWNER names the nearest agent; when none is near it is uncovered. When you are torn, it is adjacent.
- For example, a question about making a Kubernetes cluster grow by itself, asked of a marketer, a nutritionist, an
  architect who only builds, and an interface designer, is adjacent, and its OWNER is the architect.
- One owner and nobody else is the normal answer. Name REVIEWERS only when the work would be wrong without them, say
  what each must check, and never name the owner.
"""
_FORMAT = """
Reply with exactly these five lines, in this order, and nothing else:
SUBJECT: the subject in two to five words
REASON: one sentence
COVERAGE: covered, adjacent or uncovered
OWNER: one name from the list, or none
REVIEWERS: none, or up to three as `name: what to check`, separated by `;`
"""
_AGREEMENT = {2: "Both scorers", 1: "Only one of the two scorers", 0: "Neither of the two scorers"}
_VERDICT = {"hit": "something here matches", "guess": "a guess; it may be a coincidence of vocabulary",
            "nothing": "nothing matched"}


@dataclass(frozen=True, slots=True)
class Reviewer:
    """An agent that is to object to another's work, and what it must check ("" when nobody said)."""

    agent: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the classifier said. `owner` and reviewers are names from the roster as the roster spells them."""

    subject: str
    reason: str
    coverage: Coverage
    owner: str | None
    reviewers: tuple[Reviewer, ...] = ()


def dossier(agents: Sequence[Base], answer: Answer, message: str) -> str:
    """The whole prompt: the roster and the rules, then the evidence, the message and the format of the reply."""
    roster = "".join(
        f"  {agent.name.lower()}\n    does:  {flat(agent.role or 'not declared')}\n"
        + (f"    stops: {flat(agent.ends)}\n" if agent.ends else "") for agent in agents)
    return "".join([_IDENTITY, roster, _RULES, *_evidence(answer), "\nTHE MESSAGE:\n", printable(flat(message)), "\n",
                    _FORMAT])


def parse_reply(reply: str, roster: Sequence[str]) -> Ruling | None:
    """The ruling in a reply, its labels in any case and decoration; None when it names neither coverage nor owner."""
    fields: dict[str, str] = {}
    for line in uncoloured(reply).splitlines():
        label, colon, value = line.partition(":")
        name = label.strip(_DECORATION + "#->+.0123456789").upper()
        if colon and name in ("SUBJECT", "REASON", "COVERAGE", "OWNER", "REVIEWERS"):
            fields.setdefault(name, value.strip().strip("*_").strip())
    if "COVERAGE" not in fields and "OWNER" not in fields:
        return None
    names = {name.casefold(): name for name in roster}
    owner = _named(fields.get("OWNER", ""), names)
    return Ruling(fields.get("SUBJECT", ""), fields.get("REASON", ""), _coverage(fields.get("COVERAGE"), owner), owner,
                  _reviewers(fields.get("REVIEWERS", ""), names, owner))


def _evidence(answer: Answer) -> list[str]:
    parts = ["\nWhat a lexical search of their notes found; an empty list is information too:\n"]
    parts += [_file(result) for result in answer.results[:_FILES]] or ["  (nothing matched)\n"]
    table = _species(answer)
    if table:
        parts.append("\nThe best score of each base by kind of note:\n")
        for base, scores in table:
            cells = (f"{kind} {scores[kind]:.1f}" if kind in scores else f"{kind} -" for kind in KINDS)
            parts.append(f"  {base}: {', '.join(cells)}\n")
    found = answer.confidence
    parts.append(f"\nWhat the search thinks of itself: best keyword score {found.keyword_score:.1f}, floor "
                 f"{answer.floor:.1f}. {_AGREEMENT[found.agreement]} ranked that file; it leads the runner-up by "
                 f"{found.margin:.2f}x. {_VERDICT[answer.verdict].capitalize()}.\n")
    return parts


def _file(result: Result) -> str:
    matched = ", ".join(result.matched) if result.keyword_score > 0 and result.matched else "text only"
    place = printable(flat(f"{result.base}/{result.path}"))
    about = one_liner(result.purpose)
    return (f"  [{kind_of(result.path)}] {place}  score {result.keyword_score:.1f}  matched: {matched}\n"
            + (f"      about: {about}\n" if about else ""))


def _species(answer: Answer) -> list[tuple[str, dict[str, float]]]:
    best: dict[str, dict[str, float]] = {}
    for hit in answer.keyword_ranking[:_RANKED]:
        scores = best.setdefault(hit.base, {})
        kind = kind_of(hit.path)
        scores[kind] = max(scores.get(kind, 0.0), hit.score)
    return sorted(best.items(), key=lambda item: (-sum(item[1].values()), item[0]))[:_TABLE]


def one_liner(purpose: str) -> str:
    """A purpose as one plain line of at most about 160 characters, cut at a sentence or a word."""
    text = printable(flat(purpose)).lstrip("-* ")
    if text.startswith("[["):
        text = text.partition("]]")[2].lstrip("* ")
    text = " ".join(text.replace("*", "").replace("`", "").split())
    if len(text) <= _ABOUT:
        return text
    sentence = text.rfind(". ", 0, _ABOUT)
    if sentence > _ABOUT // 3:
        return text[:sentence + 1]
    return text[:_ABOUT].rpartition(" ")[0].rstrip(",") + "..." if " " in text[:_ABOUT] else text[:_ABOUT] + "..."


def _coverage(value: str | None, owner: str | None) -> Coverage:
    if value is None:
        return "covered" if owner else "uncovered"
    words = value.strip(_DECORATION).split()
    word = words[0].strip(_DECORATION + ".,;:!").lower() if words else ""
    return "covered" if word == "covered" else "adjacent" if word == "adjacent" else "uncovered"


def _named(value: str, names: dict[str, str]) -> str | None:
    whole = value.strip(_DECORATION + ".,;:!").casefold()
    if whole in names:
        return names[whole]
    words = whole.split()
    return names.get(words[0].strip(_DECORATION + ".,;:!")) if words else None


def _reviewers(value: str, names: dict[str, str], owner: str | None) -> tuple[Reviewer, ...]:
    found: list[Reviewer] = []
    for item in value.split(";"):
        name, _, why = item.partition(":")
        agent = names.get(name.strip(_DECORATION + "-.,").casefold())
        if agent is None or agent == owner or any(agent == reviewer.agent for reviewer in found):
            continue
        found.append(Reviewer(agent, why.strip().strip("*_`").strip()))
        if len(found) == MOST_REVIEWERS:
            break
    return tuple(found)
