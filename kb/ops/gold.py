"""Opening a gold file against a fleet: bad lines are refused by number, answers the fleet lacks are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kb.core.gold import GoldRow, parse_gold, place_of
from kb.core.values import Fleet, Place
from kb.errors import UsageError
from kb.store.files import read_text

if TYPE_CHECKING:
    from kb.app import App


class Question(NamedTuple):
    """A question to grade: how relevant each file of the opened fleet is (1 in a gold file), the bases by their own names."""

    text: str
    gains: Mapping[Place, float]

    @property
    def answers(self) -> frozenset[Place]:
        return frozenset(place for place, gain in self.gains.items() if gain > 0)

    @property
    def declines(self) -> bool:
        """Whether nothing answers it, so that the library must decline."""
        return not self.answers


def read_gold(path: str) -> list[GoldRow]:
    """The rows of the gold file. Raises UsageError that names the file, and the line when one is at fault."""
    try:
        rows, error = parse_gold(read_text(path, any_kind=True))
    except OSError as failure:
        raise UsageError(f"cannot read the gold file {path}: {failure.strerror or failure}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the gold file {path} is not UTF-8 text") from None
    if error is not None:
        raise UsageError(f"{path}:{error.line} {error.message}" if error.line else f"{path} {error.message}")
    return rows


def stale_answers(app: App, rows: list[GoldRow]) -> list[str]:
    """One sentence for every answer that is no file in scope. Without the private layer it is the same one for a file of that
    layer and for none at all: what is private is not given away by asking for it."""
    missing = "is not there" if app.include_private else "is not there, or only --all sees it"
    found = []
    for row in rows:
        for answer in row.answers:
            place = place_of(answer)
            base = app.fleet.base(place.base) if place else None
            if place is None:
                found.append(f"line {row.line}: {answer} is no <base>/<path>")
            elif base is None:
                found.append(f"line {row.line}: {answer}: no base called {place.base} is open")
            elif not app.catalogue.has(Place(base.name, place.path)):
                found.append(f"line {row.line}: {answer} {missing}")
    return found


def questions(app: App, rows: list[GoldRow]) -> list[Question]:
    """The rows with their answers as places of this fleet. Every answer must be one that `stale_answers` passes."""
    return [Question(row.question, dict.fromkeys((_place(app.fleet, answer) for answer in row.answers), 1.0)) for row in rows]


def _place(fleet: Fleet, answer: str) -> Place:
    place = place_of(answer)
    base = fleet.base(place.base) if place else None
    if place is None or base is None:
        raise UsageError(f"{answer} is no file of this fleet")
    return Place(base.name, place.path)
