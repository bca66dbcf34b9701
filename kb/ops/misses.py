"""`kb misses`: each question that was not answered, the files that came near it today, and the alias that would have helped.

The proposal needs no model. The alias is the question's rarest word that no key holds and that the near file's text
does; the canonical side is the key of that file which, as an alias held in memory, puts the file first by most.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kb.core.aliases import Proposal
from kb.core.logrows import LoggedMiss
from kb.core.ports import KEY, PHRASE
from kb.core.values import Place, Verdict
from kb.core.verdict import clears, decide, margin
from kb.core.words import normalise
from kb.ops.ask import ask
from kb.store import misses as log
from kb.store.logs import stray_lines

if TYPE_CHECKING:
    from kb.app import App
    from kb.store.catalogue import Catalogue

_WORDS_TRIED = 12
_KEYS_TRIED = 12


class Near(NamedTuple):
    """A file that today's search ranks for a missed question, under the floor. `keys` are all that it declares."""

    base: str
    path: str
    title: str
    keyword_score: float
    why: tuple[str, ...]
    keys: tuple[str, ...]


class Lost(NamedTuple):
    """One logged question: its row, what a search says today, the near files, and the proposed alias, if there is one."""

    row: LoggedMiss
    verdict: Verdict
    near: tuple[Near, ...]
    proposal: Proposal | None


class MissReport(NamedTuple):
    """The log read back. `skipped` and `strays` are sentences: what could not be searched, which lines are no rows."""

    log: str
    exists: bool
    floor: float
    entries: int
    agents: int
    lost: tuple[Lost, ...]
    skipped: tuple[str, ...]
    strays: tuple[str, ...]
    index_was_rebuilt: bool

    @property
    def asks(self) -> int:
        return sum(one.row.times for one in self.lost)


def _silent(done: int, total: int) -> None:
    return


def misses(app: App, top: int = 5, tick: Callable[[int, int], None] = _silent) -> MissReport:
    """Every logged question with at most `top` near files each; `tick` is told (questions asked, questions in all).

    The indexes are opened once for all of them. Writes nothing; raises KbError for a log it cannot read.
    """
    path = log.misses_path(app.fleet.root)
    text = log.read(path)
    library = app.catalogue
    gate = app.scorers[0]
    floor = gate.floor(library) if gate.floor else 0.0
    skipped: dict[str, None] = {}
    rebuilt = False
    lost = []
    with library.held():
        for row in text.rows:
            answer = ask(app, row.question, top, 0)
            skipped.update(dict.fromkeys(answer.skipped))
            rebuilt = rebuilt or answer.index_was_rebuilt
            near = tuple(Near(r.base, r.path, r.title, r.keyword_score, r.why, _keys(library, Place(r.base, r.path)))
                         for r in answer.results if not clears(r.keyword_score, floor, answer.entries))
            proposal = propose(app, row.question, near) if answer.verdict == "nothing" else None
            lost.append(Lost(row, answer.verdict, near, proposal))
            tick(len(lost), len(text.rows))
    return MissReport(path, os.path.exists(path), floor, library.size(), len(app.fleet.agents), tuple(lost), tuple(skipped),
                      tuple(stray_lines(path, text)), rebuilt)


def propose(app: App, question: str, near: tuple[Near, ...]) -> Proposal | None:
    """The alias that the question's words and the near files' keys suggest; None when nothing connects them."""
    library = app.catalogue
    words = list(dict.fromkeys(normalise(question)))[:_WORDS_TRIED]
    held = {word for word, found in library.postings(words).items() if any(bits & (KEY | PHRASE) for bits in found.fields)}
    reach = {}
    for word in words:
        if word not in held:
            hits = library.text(library.query(word)).hits
            if hits:
                reach[word] = (len(hits), {hit.place for hit in hits})
    for file in near:
        place = Place(file.base, file.path)
        ours = [word for word, (_, places) in reach.items() if place in places]
        if not ours or not file.keys:
            continue
        word = min(ours, key=lambda word: (reach[word][0], -len(word), words.index(word)))
        key = _best_key(app, question, word, file)
        if key is None:
            continue
        count = reach[word][0]
        passages = "1 passage of the text does" if count == 1 else f"{count} passages of the text do"
        return Proposal(file.base, word, key, f"no key holds {word} and {passages}, in {file.path} too; of its keys, "
                                              f"{key} puts it first by most", file.path)
    return None


def _best_key(app: App, question: str, word: str, file: Near) -> str | None:
    """The key of `file` that, standing for `word`, makes it the best file of the question, by the widest margin.

    Of equal ones the shortest, since it changes the fewest other questions, and then the first.
    """
    gate = app.scorers[0]
    floor = gate.floor(app.catalogue) if gate.floor else 0.0
    best: tuple[bool, float, int, int] | None = None
    chosen = None
    for number, key in enumerate(file.keys[:_KEYS_TRIED]):
        if not normalise(key) or not key.isprintable() or "=" in key or "#" in key:
            continue
        library = app.catalogue.with_alias(file.base, word, key)
        hits = gate.rank(library, library.query(question)).hits
        if not hits or (hits[0].base, hits[0].path) != (file.base, file.path):
            continue
        merit = (decide(hits, floor, library.size()) == "hit", round(margin(hits), 6), -len(normalise(key)), -number)
        if best is None or merit > best:
            best, chosen = merit, key
    return chosen


def _keys(library: Catalogue, place: Place) -> tuple[str, ...]:
    entry = library.entry(place)
    return entry.keys if entry else ()
