"""The nouns of the catalogue, as immutable values.

They are named tuples and not dataclasses because every question imports them: a named tuple is made six times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Verdict = Literal["hit", "guess", "nothing"]
Layer = Literal["short", "long"]
Kind = Literal["memory", "skills", "tools"]

KINDS: tuple[Kind, ...] = ("memory", "skills", "tools")
PROVENANCES = ("human", "agent", "external")
STAGES = ("raw", "captured", "distilled", "derived")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Place(NamedTuple):
    """A file of the fleet: the base's name and the POSIX path inside it. Sorts by base, then path."""

    base: str
    path: str

    def __str__(self) -> str:
        return f"{self.base}/{self.path}"


class Privacy(NamedTuple):
    """Which files of a base are private. `whole` is all of them; else the folders, root-anchored, segment-wise.

    `warning` is set when the declaration could not be taken at its word and was closed instead.
    """

    whole: bool
    folders: tuple[str, ...] = ()
    warning: str | None = None

    def covers(self, path: str) -> bool:
        """Whether the file or folder at `path` (POSIX, inside the base) is private."""
        if self.whole:
            return True
        return any(path == folder or path.startswith(folder + "/") for folder in self.folders)


class Base(NamedTuple):
    """One directory of markdown. `name` is the last component of `root`, which is absolute and real.

    `within` are the folders (POSIX, inside the base) that were opened, when a path led into the base and not to its root;
    empty when all of it was.
    """

    name: str
    root: str
    title: str
    routable: bool
    privacy: Privacy
    role: str | None = None
    ends: str | None = None
    language: str | None = None
    within: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether the file or folder at `path` (POSIX, inside the base) is part of what was opened."""
        return not self.within or any(path == folder or path.startswith(folder + "/") for folder in self.within)


class Manifest(NamedTuple):
    """fleet.txt: every key with its values in file order."""

    values: Mapping[str, tuple[str, ...]] = _NOTHING

    def last(self, key: str) -> str | None:
        """The value that counts for a key given once: the last one."""
        found = self.values.get(key)
        return found[-1] if found else None

    def all(self, key: str) -> tuple[str, ...]:
        return self.values.get(key, ())


class Fleet(NamedTuple):
    """What the given paths opened.

    root:    where fleet-level files live: the folder of the nearest fleet.txt, else the first given path.
    skipped: what could not be opened, one sentence each; the rest still serves.
    """

    root: str
    manifest: Manifest
    bases: tuple[Base, ...]
    paths: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        import os.path

        own = os.path.basename(self.root)
        return self.manifest.last("name") or own[:1].upper() + own[1:]

    def base(self, name: str) -> Base | None:
        """The base of that name, case aside."""
        folded = name.casefold()
        return next((base for base in self.bases if base.name.casefold() == folded), None)

    @property
    def agents(self) -> tuple[Base, ...]:
        """The bases that can own a question: those with an agent.txt."""
        return tuple(base for base in self.bases if base.routable)


class Header(NamedTuple):
    """What the top of a note declares. `front` keeps the first value of each front matter key, as written."""

    title: str = ""
    keys: tuple[str, ...] = ()
    purpose: str = ""
    front: Mapping[str, str] = _NOTHING

    @property
    def provenance(self) -> str | None:
        return self.front.get("provenance") or None

    @property
    def stage(self) -> str | None:
        return self.front.get("stage") or None


class Entry(NamedTuple):
    """A note that a question can reach: it has at least one key and is no orientation file."""

    base: str
    path: str
    title: str
    keys: tuple[str, ...]
    purpose: str

    @property
    def stem(self) -> str:
        return stem(self.path)


def stem(path: str) -> str:
    """The file name without its last extension."""
    name = path.rpartition("/")[2]
    head, dot, _ = name.rpartition(".")
    return head if dot else name


class Hit(NamedTuple):
    """One ranked file. `fuses` is false when the scorer ranks it and yet would not have it outrank others' files."""

    base: str
    path: str
    score: float
    fuses: bool = True


class Passage(NamedTuple):
    """A chunk of a note, as served. `excerpt` is a short cut of `text` around the words that matched."""

    heading_path: str
    text: str
    excerpt: str
    provenance: str | None = None
    stage: str | None = None
    captured_from: str | None = None


def _no_words(place: Place) -> tuple[str, ...]:
    return ()


def _no_passages(place: Place, limit: int) -> tuple[Passage, ...]:
    return ()


class Ranking(NamedTuple):
    """What a scorer returns: every file it ranked, best first, ties by base and path.

    matched:  the words or keys of the question that one file matched, fetched only for files that are shown.
    passages: the chunks of one file that matched, best first, fetched only for files that are shown.
    skipped:  what the scorer could not look at, one sentence each.
    """

    hits: Sequence[Hit]
    matched: Callable[[Place], tuple[str, ...]] = _no_words
    passages: Callable[[Place, int], tuple[Passage, ...]] = _no_passages
    skipped: tuple[str, ...] = ()


class Result(NamedTuple):
    """One file of the reading list. `score` is the fused score, `keyword_score` what the gate scorer gave it."""

    base: str
    path: str
    memory: Layer
    title: str
    purpose: str
    score: float
    keyword_score: float
    why: tuple[str, ...]
    matched: tuple[str, ...]
    passages: tuple[Passage, ...]


class Confidence(NamedTuple):
    """Agreement 0, 1 or 2; the gate scorer's best score; that over the second best (1 alone, 0 when nothing scored)."""

    agreement: int
    keyword_score: float
    margin: float


class Total(NamedTuple):
    """An agent's total in the fold."""

    agent: str
    score: float


class Owner(NamedTuple):
    """The agent the fold chose. `files` counts species with evidence (1 to 3); `margin` is infinite without a rival."""

    name: str
    score: float
    files: int
    margin: float
    contenders: int
    totals: tuple[Total, ...]


class Miss(NamedTuple):
    """A question the library could not answer, handed back whole. `error` says why the log does not hold it."""

    question: str
    looked_like: tuple[str, ...]
    date: str
    log: str
    recorded: bool
    error: str | None


class Unreachable(NamedTuple):
    """Files no question can reach (no key line), and files the text index has no current chunks for."""

    files: int
    paths: tuple[str, ...]
    unindexed: int
    unindexed_paths: tuple[str, ...]


class KeywordHit(NamedTuple):
    """One row of the gate scorer's own list, unfused: what it scored and which of the question's words matched."""

    base: str
    path: str
    score: float
    title: str
    purpose: str
    matched: tuple[str, ...]


class Answer(NamedTuple):
    """Everything one question brought to light. Surfaces render it; none of them computes more.

    keyword_ranking is the gate scorer's whole list, and keyword_list its first rows with what there is to show of them.
    """

    question: str
    verdict: Verdict
    floor: float
    confidence: Confidence
    owner: Owner | None
    keyword_top: Place | None
    entries: int
    agents: int
    aliases: int
    unreachable: Unreachable
    skipped: tuple[str, ...]
    index_was_rebuilt: bool
    suggestions: tuple[str, ...]
    results: tuple[Result, ...]
    keyword_ranking: tuple[Hit, ...]
    keyword_list: tuple[KeywordHit, ...] = ()

    @property
    def served(self) -> bool:
        return self.verdict != "nothing"

    @property
    def ranked_by_text_only(self) -> bool:
        return not self.served and bool(self.results)
