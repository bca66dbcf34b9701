"""`kb promote`: every deposit to the first promoter, every proposal to the second, and only a unanimous accept writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.core.decided import WHOLE, Outcome, deposit_digest
from kb.core.promotion_prompts import promoter_prompt
from kb.core.proposals import Proposal, parse_reply
from kb.errors import KbError
from kb.ops.judge import Judge, Judged, Outage, Watch, require_promoters
from kb.ops.models import ask_model
from kb.store.decisions import decisions_on, remember, unreadable_decisions
from kb.store.deposits import Deposit, deposits, text_of
from kb.store.promotion_lock import WAIT, promotion_lock
from kb.store.trust import Untrusted

if TYPE_CHECKING:
    from kb.app import App

IN_A_ROW = 5  # promoters that failed one after the other: the next would too


@dataclass(slots=True)
class Promotion:
    """What came of a run. `outages` are sentences; `known` counts deposits that were decided before and did not change."""

    judged: list[Judged] = field(default_factory=list)
    barren: list[str] = field(default_factory=list)
    outages: list[str] = field(default_factory=list)
    known: int = 0
    capped: bool = False

    @property
    def written(self) -> int:
        return sum(bool(one.written) for one in self.judged)

    @property
    def refused(self) -> int:
        return sum(not one.accepted for one in self.judged)

    @property
    def admitted(self) -> int:
        """Unanimous proposals of this run, written or not: what `--max` counts."""
        return sum(one.accepted and not one.earlier for one in self.judged)


def promote(app: App, *, top: int = 5, dry_run: bool = False, most: int | None = None, wait: float = WAIT,
            watch: Watch | None = None) -> Promotion:
    """Offer every inbox of the fleet to the promoters, under the promotion lock.

    Raises NoModel and Untrusted before anything is read, LockHeld when another run does not end within `wait` seconds.
    Interrupted at any point and run again it loses nothing: what was decided is on disk, and the rest is still open.
    """
    watch = watch or Watch()
    require_promoters(app, "promote")
    with promotion_lock(app.fleet.root, wait=wait, told=watch.note):
        found = [deposit for base in app.fleet.agents for deposit in deposits(base, app.include_private)]
        return promote_deposits(app, found, top=top, dry_run=dry_run, most=most, watch=watch)


def promote_deposits(app: App, found: Sequence[Deposit], *, top: int, dry_run: bool, most: int | None,
                     watch: Watch) -> Promotion:
    """Offer these deposits to the promoters. The caller holds the promotion lock."""
    for sentence in unreadable_decisions(app.fleet.root):
        watch.note(sentence)
    run = _Run(Judge(app, top=top, dry_run=dry_run, watch=watch), most, Promotion())
    run.judge.total = len(found)
    failed = 0
    for number, deposit in enumerate(found):
        if run.is_full():
            break
        run.judge.done = number
        before = len(run.result.outages)
        run.read(deposit)
        failed = failed + 1 if len(run.result.outages) > before else 0
        if failed == IN_A_ROW and number + 1 < len(found):
            run.outage(f"{failed} deposits failed one after the other, so the other {len(found) - number - 1} were not tried")
            break
    return run.result


class _Run:
    """One run over deposits."""

    def __init__(self, judge: Judge, most: int | None, result: Promotion) -> None:
        self.judge, self.most, self.result = judge, most, result

    def is_full(self) -> bool:
        full = self.most is not None and self.result.admitted >= self.most
        self.result.capped = self.result.capped or full
        return full

    def outage(self, sentence: str) -> None:
        self.result.outages.append(sentence)
        self.judge.watch.outage(sentence)

    def read(self, deposit: Deposit) -> None:
        """One deposit: skip it, or have it proposed and decide what was."""
        try:
            text = text_of(deposit)
        except KbError as error:
            self.outage(str(error))
            return
        if not text.strip():
            return
        digest = deposit_digest(deposit.base.name, text)
        before = decisions_on(self.judge.app.fleet.root, digest)
        if WHOLE in before:
            self.result.known += 1
            return
        proposals = self._propose(deposit, text, digest)
        if proposals is None:
            return
        complete = True
        for proposal in proposals:
            if proposal.slug in before:
                continue
            if self.is_full():
                return
            try:
                self.result.judged.append(self.judge.decide(proposal, digest))
            except Outage as error:
                complete = False
                self.outage(str(error))
        if complete and proposals:
            self._close(deposit, digest, "done")

    def _propose(self, deposit: Deposit, text: str, digest: str) -> Sequence[Proposal] | None:
        """What the first promoter proposes, or None when there is nothing to decide now."""
        judge = self.judge
        judge.watch.step(judge.done, judge.total, f"{deposit.source}: promoter")
        prompt = promoter_prompt(deposit.base.name, deposit.base.ends, deposit.source, text)
        try:
            reply = parse_reply(ask_model(judge.app, "promoter", prompt), deposit.base.name, deposit.source)
        except Untrusted:
            raise
        except KbError as error:
            self.outage(f"promoter, on {deposit.source}: {error}")
            return None
        for sentence in reply.incomplete:
            judge.watch.note(f"{deposit.source}: {sentence}, so it was passed over")
        if reply.proposals:
            return reply.proposals
        if not reply.nothing:
            self.outage(f"promoter, on {deposit.source}: the reply held neither a proposal nor the word NOTHING")
            return None
        self.result.barren.append(deposit.source)
        judge.watch.barren(deposit.source)
        self._close(deposit, digest, "nothing")
        return None

    def _close(self, deposit: Deposit, digest: str, outcome: Outcome) -> None:
        if not self.judge.dry_run:
            remember(self.judge.app.fleet.root, digest, deposit.base.name, WHOLE, outcome, deposit.source)
