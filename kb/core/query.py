"""A question made ready for scoring: its words, what aliases add, and the runs in which phrases may be found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kb.core.words import normalise


class Alias(NamedTuple):
    """One line of a kb-aliases.txt: both sides as written, and the base it stands in."""

    base: str
    alias: str
    canonical: str


@dataclass(frozen=True, slots=True)
class Query:
    """One question.

    words: its own words in order, repeats kept, stop words dropped.
    terms: the set that scores: its own words once each, then what aliases added, in order.
    runs:  word sequences in which a phrase may match: the question itself, then each alias's canonical side. A phrase
           never matches across two runs.
    """

    question: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]

    def phrases(self, longest: int, known: Iterable[str] | None = None) -> Iterator[str]:
        """Every run of 2 to `longest` words as one joined string. With `known`, runs that hold another word are left out."""
        vocabulary = None if known is None else frozenset(known)
        for run in self.runs:
            for start in range(len(run)):
                for end in range(start + 1, min(start + longest, len(run)) + 1):
                    if vocabulary is not None and run[end - 1] not in vocabulary:
                        break
                    if end - start > 1:
                        yield " ".join(run[start:end])


def parse_aliases(text: str, base: str = "") -> list[Alias]:
    """The `alias = canonical` lines of a kb-aliases.txt; `#` starts a comment."""
    found = []
    for line in text.split("\n"):
        left, equals, right = line.partition("#")[0].partition("=")
        if equals and left.strip() and right.strip():
            found.append(Alias(base, left.strip(), right.strip()))
    return found


def prepare(question: str, aliases: Iterable[Alias] = ()) -> Query:
    """Normalise `question` and add what its aliases say. Additive only: the question's own words always stay.

    An alias fires when its words stand in the question as whole words, side by side; what it adds fires no other.
    """
    words = tuple(normalise(question))
    own = tuple(dict.fromkeys(words))
    terms = dict.fromkeys(own)
    runs = [words]
    places: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        places.setdefault(word, []).append(at)
    for alias in aliases if words else ():
        left = tuple(normalise(alias.alias))
        if left and left[0] in places and any(words[at:at + len(left)] == left for at in places[left[0]]):
            right = tuple(normalise(alias.canonical))
            terms.update(dict.fromkeys(right))
            if len(right) > 1:
                runs.append(right)
    return Query(question, words, tuple(terms), tuple(runs))
