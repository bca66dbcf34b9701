"""`kb misses --apply --gold`: proposed aliases are measured in memory, and only what helps and costs nothing is written.

The gate trusts nobody who proposes. It asks three numbers of the gold file before and after: how often the best file is
right, how often the owner is, and how many questions that must be declined get a confident answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kb.core.aliases import KeyWords, Proposal, obvious_fault, parse_proposals, prompt_for, tells_private
from kb.core.display import flat
from kb.core.owner import elect
from kb.core.query import Query
from kb.core.values import Base, Hit, Place, Verdict
from kb.core.verdict import decide
from kb.ops.gold import Question
from kb.ops.misses import Lost, MissReport, propose
from kb.store.aliases import AliasTaken, append_alias
from kb.store.clock import today
from kb.store.ledgers import record_alias_rejection

if TYPE_CHECKING:
    from kb.app import App
    from kb.store.catalogue import Catalogue


class Score(NamedTuple):
    """What the gold file says: right best files, right owners, and declined questions that were answered as a hit."""

    file: int
    agent: int
    answered: int

    def __str__(self) -> str:
        return f"file {self.file} agent {self.agent} answered-when-should-decline {self.answered}"


class Outcome(NamedTuple):
    """What became of one proposal. `path` is the file it was written to, "" when it was refused for `reason`."""

    proposal: Proposal
    path: str
    reason: str
    before: Score
    after: Score


class Judged(NamedTuple):
    """One logged question: what became of its proposals, and how the promoter behaved.

    answered: whether a search answers or guesses today, so that nothing was proposed.
    """

    question: str
    outcomes: tuple[Outcome, ...]
    answered: bool = False
    declined: int = 0
    silent: int = 0
    dropped: int = 0
    trouble: str = ""


class Secrecy:
    """What an alias line may say: kb-aliases.txt is as public as its base, and who reads it need not have --all."""

    def __init__(self, app: App) -> None:
        """`app` is opened with the private layer."""
        self._closed = app.catalogue.private_places()
        public: list[str] = []
        private: list[str] = []
        for entry in app.catalogue.entries():
            (private if Place(entry.base, entry.path) in self._closed else public).extend(entry.keys)
        self._public, self._private = KeyWords(public), KeyWords(private)

    def tells(self, base: Base | None, proposal: Proposal) -> bool:
        """Whether the line would repeat a private key, or rests on a private file of its base."""
        rests = base is not None and Place(base.name, proposal.near) in self._closed
        return rests or tells_private(proposal.canonical, self._public, self._private)


class Gold:
    """A gold file against one opened catalogue. A row is ranked again only when an alias changes its query."""

    def __init__(self, app: App, rows: Sequence[Question]) -> None:
        self._app = app
        self._rows = rows
        self._known: dict[str, tuple[Query, tuple[int, int, int]]] = {}
        self._agents = {agent.name for agent in app.fleet.agents}

    def score(self, library: Catalogue, *, keep: bool = False) -> Score:
        """The three numbers under `library`; `keep` makes it what later scores are compared with."""
        totals = [0, 0, 0]
        for row in self._rows:
            query = library.query(row.text)
            known = self._known.get(row.text)
            marks = known[1] if known is not None and known[0] == query else self._marks(library, query, row)
            if keep:
                self._known[row.text] = (query, marks)
            totals = [total + mark for total, mark in zip(totals, marks, strict=True)]
        return Score(*totals)

    def _marks(self, library: Catalogue, query: Query, row: Question) -> tuple[int, int, int]:
        hits = self._app.scorers[0].rank(library, query).hits
        if row.declines:
            return 0, 0, int(_verdict(self._app, library, hits) == "hit")
        owner = elect(hits, self._agents)
        return (int(bool(hits) and Place(hits[0].base, hits[0].path) in row.answers),
                int(owner is not None and owner.name in {place.base for place in row.answers}), 0)


def apply_aliases(app: App, report: MissReport, rows: Sequence[Question], top: int) -> Iterator[Judged]:
    """Judge the proposals for the `top` most asked questions, one question at a time, and write what passes.

    The private layer is always measured too. Refusals are counted in kb-alias-rejections.txt, except of lines that would
    tell what is private: those are said to who asked, and written nowhere.
    """
    everything = app if app.include_private else app.reopened(include_private=True)
    library = everything.catalogue
    gold = Gold(everything, rows)
    secrecy = Secrecy(everything)
    before = gold.score(library, keep=True)
    asks_model = everything.fleet.manifest.last("promoter") is not None
    for lost in report.lost[:top]:
        if lost.verdict != "nothing":
            yield Judged(lost.row.question, (), answered=True)
            continue
        own = lost.proposal or propose(everything, lost.row.question, lost.near)
        found = [own] if own else []
        judged = Judged(lost.row.question, ())
        if asks_model:
            judged, more = _ask_promoter(everything, lost)
            found += [proposal for proposal in more if (proposal.base.lower(), proposal.line.lower())
                      not in {(known.base.lower(), known.line.lower()) for known in found}]
        outcomes = []
        for proposal in found:
            outcome, tried = _judge(everything, library, gold, secrecy, before, lost, proposal)
            outcomes.append(outcome)
            if tried is not None:
                library, before = tried, outcome.after
                gold.score(library, keep=True)
        yield judged._replace(outcomes=tuple(outcomes))


def _judge(app: App, library: Catalogue, gold: Gold, secrecy: Secrecy, before: Score, lost: Lost,
           proposal: Proposal) -> tuple[Outcome, Catalogue | None]:
    """What becomes of one proposal, and the library with it when it was written."""
    after = before
    question = lost.row.question
    base = app.fleet.base(proposal.base)
    tried = None
    reason = obvious_fault(proposal) or ""
    if not reason and base is None:
        reason = f"no base called {proposal.base} is open"
    secret = secrecy.tells(base, proposal)
    if not reason and secret and base is not None and not base.privacy.whole:
        reason = "its words are of the private layer, and kb-aliases.txt is not"
    if not reason and base is not None:
        tried = library.with_alias(base.name, proposal.alias, proposal.canonical)
        if _asked(app, library, question) != "nothing":
            reason = "the question is no longer missed"
        elif _asked(app, tried, question) == "nothing":
            reason = "the question would still find nothing"
        else:
            after = gold.score(tried)
            if after.file < before.file or after.agent < before.agent or after.answered > before.answered:
                reason = f"it costs elsewhere: {before} would become {after}"
    path = ""
    if not reason and base is not None:
        try:
            path = append_alias(base.root, proposal.alias, proposal.canonical, (
                f"{today()}, asked {_times(lost.row.times)}: {flat(question)}", f"before: {before}", f"after:  {after}"))
        except AliasTaken as taken:
            reason = str(taken)
    if reason and not secret:
        record_alias_rejection(app.fleet.root, proposal.line, reason)
    return Outcome(proposal, path, reason, before, after), tried if path else None


def _ask_promoter(app: App, lost: Lost) -> tuple[Judged, tuple[Proposal, ...]]:
    from kb.ops.models import ModelUnreachable, ask_model

    near = [f"{file.base}/{file.path}  keyword {file.keyword_score:.2f}  keys: {', '.join(file.keys)}" for file in lost.near]
    judged = Judged(lost.row.question, ())
    try:
        reply = parse_proposals(ask_model(app, "promoter", prompt_for(lost.row.question, lost.row.looked_like, near)))
    except ModelUnreachable as error:
        return judged._replace(silent=1, trouble=str(error)), ()
    return judged._replace(declined=int(reply.declined), dropped=reply.dropped), reply.proposals


def _asked(app: App, library: Catalogue, question: str) -> Verdict:
    return _verdict(app, library, app.scorers[0].rank(library, library.query(question)).hits)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _verdict(app: App, library: Catalogue, hits: Sequence[Hit]) -> Verdict:
    gate = app.scorers[0]
    return decide(hits, gate.floor(library) if gate.floor else 0.0, library.size())
