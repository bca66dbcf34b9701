"""The walls between the rules and the world: what scorers, checks and backends may count on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from kb.core.content import Dash
    from kb.core.inline import BibliographyLine, Citation, WikiLink
    from kb.core.query import Query
    from kb.core.sources import BrokenRecord, Record
    from kb.core.values import Base, Entry, Fleet, Header, Passage, Place

# Where a word stands in an entry: bits of one posting.
KEY, TITLE, STEM, PURPOSE, PHRASE = 1, 2, 4, 8, 16


class Postings(NamedTuple):
    """Entries that hold a word: parallel sequences of entry numbers and of field bits. Document frequency is the length."""

    entries: Sequence[int]
    fields: Sequence[int]


class Library(Protocol):
    """The notes of an opened fleet in the current scope, as today's files have them. What scorers rank."""

    fleet: Fleet
    include_private: bool

    def size(self) -> int:
        """How many entries there are: N of every formula."""

    def postings(self, words: Iterable[str]) -> Mapping[str, Postings]:
        """The postings of each normalised word; a word in no entry is absent. Words of phrases count (PHRASE)."""

    def vocabulary(self, beginning: str) -> Iterable[str]:
        """Normalised words of entries that begin so: where inflections are looked for. Some may have no postings in scope."""

    def phrases(self, candidates: Iterable[str]) -> Mapping[str, Sequence[int]]:
        """For each normalised phrase (words joined by one blank) that some entry declares: the entries."""

    def longest_phrase(self) -> int:
        """Words in the longest declared phrase; 0 when there is none."""

    def place(self, number: int) -> Place:
        """Where entry `number` is."""

    def entry(self, place: Place) -> Entry | None:
        """The entry at a place, or None when the file has no keys."""

    def entries(self) -> Iterator[Entry]:
        """Every entry, in order of base and path. Reads them all: not for the hot path."""

    def text(self, query: Query) -> TextHits:
        """Chunks that match the question over all bases, on one scale, today's private layer and changed files left out."""

    def passages(self, query: Query, hits: Sequence[ChunkHit]) -> tuple[Passage, ...]:
        """The texts behind ranked chunks, in their order, each with an excerpt around the question's words."""


class ChunkHit(NamedTuple):
    """One ranked chunk: whose it is, its row in that base's index, and its score (higher is better)."""

    place: Place
    row: int
    score: float


class TextHits(NamedTuple):
    """Ranked chunks, best first (at most 1,000), and what could not be searched."""

    hits: Sequence[ChunkHit]
    skipped: tuple[str, ...]


class Chunk(NamedTuple):
    """A chunk on its way into a text backend. `row` is its number in index.db: file number x 2**20 + chunk number.

    heading_path and text are as stored; `language` is a Snowball name such as `english`, or "" when unknown.
    """

    row: int
    heading_path: str
    text: str
    language: str


class Changes(NamedTuple):
    """What one sync did to a base: rows to forget (half-open ranges) and chunks to add, in batches of bounded size."""

    removed: Sequence[tuple[int, int]]
    added: Iterable[Sequence[Chunk]]


class TextIndex(Protocol):
    """One base's text index, opened for reading."""

    def size(self) -> int:
        """How many chunks it holds."""

    def frequencies(self, words: Sequence[str]) -> Sequence[int]:
        """For each word of a question, in how many chunks it occurs (under the backend's stemming)."""

    def search(self, weights: Mapping[str, float], limit: int, allowed: Callable[[int], bool]) -> list[tuple[int, float]]:
        """The best `limit` rows that `allowed` admits, as (row, score), best first, ties by row.

        `weights` maps words of the question to fleet-wide idf. A score is the sum over words of weight x saturated term
        frequency, so that scores of several bases compare. Nothing in a word is ever query syntax.
        """

    def close(self) -> None: ...


class TextBackend(Protocol):
    """A full text engine: a driver of the group `kb.text`, made without arguments, one per fleet.

    All calls name the base they are about; `base.language` is what it or its fleet declares. Errors a user can act on
    (cannot be reached, locked, corrupt, out of step) are raised as KbError. Reading creates nothing on disk.
    """

    name: str

    def apply(self, base: Base, generation: int, changes: Changes, *, fresh: bool) -> None:
        """Bring the index to `generation`. `fresh` empties it first and `changes` holds every chunk of the base.

        Called by `kb index` alone, under the base's lock. `changes.added` is read once and streamed; a batch holds some
        2,000 chunks. After a failure `generation` must not answer with the new number.
        """

    def open(self, base: Base, generation: int) -> TextIndex:
        """Open for reading at exactly that generation.

        Raises IndexOutOfStep when the index is not built or stands at another one, any other KbError when it is damaged.
        """

    def generation(self, base: Base) -> int | None:
        """The generation the index stands at, or None when there is none."""


class NoteUnderCheck(Protocol):
    """One readable file as checks see it, parsed once.

    Its text is not kept, because no code of ours needs it: a check that asks for it reads the file.
    """

    @property
    def path(self) -> str:
        """POSIX, inside the base."""

    @property
    def text(self) -> str:
        """The whole file, without a byte order mark. Line endings stay. Empty when it is gone since."""

    @property
    def header(self) -> Header: ...

    @property
    def dead_keys(self) -> Sequence[str]:
        """Keys of the header that no question reaches."""

    @property
    def exempt(self) -> bool:
        """Whether a missing key line is by design."""

    @property
    def has_front_matter(self) -> bool: ...

    @property
    def names_sources(self) -> bool:
        """Whether it has front matter, and a line that opens with `Sources` or `Fontes`."""

    @property
    def in_knowledge(self) -> bool:
        """Whether the file lies in the base's knowledge folder."""

    @property
    def links(self) -> Sequence[WikiLink]:
        """Wikilinks outside code."""

    @property
    def citations(self) -> Sequence[Citation]:
        """Citations outside code, those on bibliography lines included."""

    @property
    def bibliography(self) -> Sequence[BibliographyLine]: ...

    @property
    def dashes(self) -> Sequence[Dash]:
        """Lines with an em or en dash, code and front matter included, bibliography lines not."""

    def lines(self) -> Sequence[str]:
        """The lines of the file, without their ends."""


class BaseUnderCheck(Protocol):
    """One base as `kb check` reads it: every file once, parsed once, shared by all checks."""

    @property
    def base(self) -> Base: ...

    @property
    def include_private(self) -> bool: ...

    @property
    def run(self) -> dict[str, Any]:
        """What checks keep for the length of one run: one dict for all bases of it, empty at its beginning."""

    @property
    def notes(self) -> Sequence[NoteUnderCheck]:
        """The readable files in scope, by path."""

    @property
    def records(self) -> Sequence[Record] | None:
        """The source records, or None when sources/ is out of scope or cannot be read: citation checks stay silent then."""

    @property
    def broken_records(self) -> Sequence[BrokenRecord]: ...

    @property
    def withheld_records(self) -> frozenset[str]:
        """Keys of records that are private, one by one, and out of scope. Nothing else of them is known."""

    @property
    def private_citations(self) -> frozenset[str]:
        """Keys that files out of scope cite. Nothing else of those files is known."""

    @property
    def as_vault(self) -> bool:
        """Whether links may carry a path or `.md`, case aside, as in a vault that is not kept for kb alone."""

    def resolve(self, link: WikiLink) -> Sequence[str]:
        """Paths of the files that a link may mean, private ones included."""

    def is_private(self, path: str) -> bool: ...

    def elsewhere(self, target: str) -> str | None:
        """The first other base of this run that publishes a file of that stem, case aside."""

    def unignored_folders(self) -> Sequence[str]:
        """Private folders that the base's .gitignore does not cover; none when it has no .gitignore."""
