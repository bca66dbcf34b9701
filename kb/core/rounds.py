"""An objection round: its rows, the rubric that a blocking objection must pass, and when the round is closed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from kb.core.counted import LogFormat, field, tabbed

State = Literal["asked", "nothing", "not-returned", "objection", "taken", "refused", "escalated"]
_STATES: frozenset[str] = frozenset(get_args(State))
_SEAT_STATES = ("asked", "nothing", "not-returned", "objection")
MOST_REVIEWERS = 3


class RoundRow(NamedTuple):
    """One fact of a round. `seq` 0 is a reviewer's seat, from 1 on its objections; names are in lower case; dates are UTC."""

    artifact: str
    owner: str
    reviewer: str
    seq: int
    state: str
    opened: str
    updated: str
    blocking: bool = False
    text: str = ""
    why: str = ""


def _read(line: str) -> RoundRow | None:
    parts = tabbed(line, 8, 10)
    if parts is None or not re.fullmatch("[0-9]{1,9}", parts[3]) or parts[4] not in _STATES or not parts[0]:
        return None
    seq = int(parts[3])
    if (seq == 0) != (parts[4] in _SEAT_STATES) and parts[4] != "objection":
        return None
    return RoundRow(parts[0].removeprefix("./"), parts[1].lower(), parts[2].lower(), seq, parts[4], parts[5], parts[6],
                    parts[7] == "blocking", parts[8], parts[9])


def _line(row: RoundRow) -> str:
    artifact = field(row.artifact)
    if artifact.startswith("#"):  # a line that begins with # is a comment
        artifact = "./" + artifact
    return "\t".join((artifact, field(row.owner), field(row.reviewer), str(row.seq), row.state, field(row.opened),
                      field(row.updated), "blocking" if row.blocking else "-", field(row.text), field(row.why)))


ROUNDS: LogFormat[RoundRow] = LogFormat(
    file="kb-rounds.txt",
    header=(
        "Objection rounds: who was asked about which artifact, what came back, and what became of it.",
        "Tabs between: artifact, owner, reviewer, number (0 is the seat), state, opened, updated, blocking, text, why.",
        "kb panel writes this file; kb panel <artifact> --ledger reads a round back.",
    ),
    read=_read, line=_line, key=lambda row: (row.artifact, row.reviewer, row.seq), merge=None, order=None)


# -- one round ---------------------------------------------------------------------------------------------------------


class Round(NamedTuple):
    """The rows of one artifact: seats and objections, each in the order of the file."""

    artifact: str
    owner: str
    seats: tuple[RoundRow, ...]
    objections: tuple[RoundRow, ...]

    @property
    def still_out(self) -> tuple[str, ...]:
        """Reviewers who were asked and have not answered."""
        return tuple(seat.reviewer for seat in self.seats if seat.state == "asked")

    @property
    def open_(self) -> tuple[tuple[int, RoundRow], ...]:
        """Objections that keep the round open, numbered from 1: not accounted for, or blocking and refused."""
        return tuple((number, row) for number, row in enumerate(self.objections, 1)
                     if row.state == "objection" or (row.blocking and row.state not in ("taken", "escalated")))

    @property
    def closed(self) -> bool:
        return bool(self.seats) and not self.open_ and not self.still_out

    def seat(self, reviewer: str) -> RoundRow | None:
        return next((seat for seat in self.seats if seat.reviewer == reviewer.lower()), None)


def round_of(rows: Sequence[RoundRow], artifact: str) -> Round | None:
    """The round of an artifact, or None when nobody was ever seated on it."""
    mine = [row for row in rows if row.artifact == artifact]
    seats = tuple(row for row in mine if row.seq == 0)
    if not seats:
        return None
    return Round(artifact, seats[0].owner, seats, tuple(row for row in mine if row.seq))


def rounds_of(rows: Sequence[RoundRow]) -> list[Round]:
    """Every round, first opened first."""
    found = (round_of(rows, artifact) for artifact in dict.fromkeys(row.artifact for row in rows))
    return [round_ for round_ in found if round_ is not None]


def markdown(round_: Round) -> str:
    """The round as a markdown table: numbered objections, then the seats without one."""
    lines = ["| # | Reviewer | Objection | Taken or refused | Why |", "|---|---|---|---|---|"]
    for number, row in enumerate(round_.objections, 1):
        state = "open" if row.state == "objection" else row.state
        text = _cell(row.text) + (" **(blocking)**" if row.blocking else "")
        lines.append(f"| {number} | {_cell(row.reviewer)} | {text} | {state} | {_cell(row.why)} |")
    told = {"nothing": "found nothing", "not-returned": "was not returned", "asked": "still out"}
    for seat in round_.seats:
        if seat.state in told:
            lines.append(f"| - | {_cell(seat.reviewer)} | {told[seat.state]} | - | {_cell(seat.why)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# -- the rubric --------------------------------------------------------------------------------------------------------


Grade = Literal["constitutional", "advisory", "rejected"]
_BRIEF = 10  # bytes
_TASTE = ("i don't like the tone", "i don't like this approach", "feels wrong", "feels weird", "looks ugly",
          "feels a bit wordy", "needs more flair", "not a fan")
_MARKERS = re.compile(
    r"\b(?:(?:invariant|violates|violation|mechanism|failure mode|use-after-free|memory|leak|race condition|concurrency|"
    r"deadlock|overflow|underflow|rule|w03|citation|unbounded|backpressure|correctness|security|contract|broken|regression|"
    r"crash|panic|false|incorrect|error|untrue|claim|latency)(?:e?s)?\b|adr-)")


def grade(text: str, constitution: str) -> tuple[Grade, str]:
    """Whether an objection may block, and why: it must name a mechanism, a rule or a line of the reviewer's constitution.

    Matching is on whole words. Lines of fewer than three words of the constitution are too common to count.
    """
    plain = " ".join(text.replace("\u2019", "'").lower().split())
    if len(plain.encode("utf-8", "replace")) < _BRIEF:
        return "rejected", "it is too brief to be checked"
    if any(_holds(plain, phrase) for phrase in _TASTE) and not (_holds(plain, "because") or _holds(plain, "violates")):
        return "rejected", "it is a matter of taste"
    found = _MARKERS.search(plain)
    if found:
        return "constitutional", f"it names {found[0].rstrip('-')}"
    for raw in constitution.split("\n"):
        line = " ".join(raw.replace("\u2019", "'").lower().split())
        if len(re.findall(r"\w+", line)) >= 3 and _holds(plain, line):
            return "constitutional", "it cites the reviewer's constitution"
    return "advisory", "it names no mechanism, no rule and no line of the reviewer's constitution"


def _holds(text: str, phrase: str) -> bool:
    """Whether `phrase` stands in `text` with no letter or digit directly before or after it."""
    at = text.find(phrase)
    while at >= 0:
        before, after = text[at - 1:at], text[at + len(phrase):at + len(phrase) + 1]
        if not (before.isalnum() and phrase[0].isalnum()) and not (after.isalnum() and phrase[-1].isalnum()):
            return True
        at = text.find(phrase, at + 1)
    return False
