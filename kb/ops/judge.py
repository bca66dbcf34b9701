"""The second promoter: one proposed note, three questions, and a note on disk only when all three accept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kb.core.chunks import chunk
from kb.core.decided import Outcome
from kb.core.draft import NoteDraft
from kb.core.header import split_label
from kb.core.logrows import REJECTIONS, Rejection
from kb.core.promotion_prompts import evidence_text, reviewer_prompt
from kb.core.proposals import Proposal, plain_folder, why_not_called, why_not_found_by, why_not_so_long, why_not_there
from kb.core.reviews import LENSES, REPEATED, Lens, Review, as_lens, bare_reason, parse_review, repetition_reason, unanimous
from kb.core.values import Base, Place, Result, stem
from kb.errors import KbError
from kb.ops.ask import ask
from kb.ops.models import NoModel, ask_model, configured, require_settings, require_trust
from kb.ops.write import BadDraft, Refused, compose, finish_interrupted, write_note
from kb.store.decisions import is_of_another, remember
from kb.store.declared import is_private
from kb.store.files import read_text
from kb.store.ledgers import record_rejection
from kb.store.logs import log_path, read_log
from kb.store.notes import read_note
from kb.store.trust import Untrusted
from kb.store.walk import walk_base

if TYPE_CHECKING:
    from kb.app import App

PASSAGES = 1


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one proposal.

    reviews:  who said what; one made by a rule stands for the lens that it belongs to.
    written:  the absolute path of the note, "" when none was written (in a dry run none is).
    earlier:  whether the note is one that an interrupted run wrote from this very deposit.
    dropped:  keys that no question can reach, left out of the note.
    """

    proposal: Proposal
    accepted: bool
    reviews: tuple[Review, ...]
    written: str = ""
    earlier: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(slots=True)
class Watch:
    """How a surface is told about a long run while it goes. Every field may be left out.

    step:   (done, total, what is being asked), before each call of a model.
    judged: a proposal was decided.
    barren: nothing in this deposit is worth a note.
    outage: something could not be reached or read, so that what it was needed for stays open.
    note:   a sentence for the reader that changes nothing.
    """

    step: Callable[[int, int, str], None] = field(default=lambda done, total, what: None)
    judged: Callable[[Judged], None] = field(default=lambda judged: None)
    barren: Callable[[str], None] = field(default=lambda source: None)
    outage: Callable[[str], None] = field(default=lambda sentence: None)
    note: Callable[[str], None] = field(default=lambda sentence: None)


class Outage(KbError):
    """Something failed that says nothing about the proposal: it stays open."""


def require_promoters(app: App, verb: str) -> None:
    """Refuse before any work: both promoters are named in fleet.txt, can run, and are approved; no plugin that feeds the verb is off.

    Raises NoModel, UsageError for a line that can never run and for a bad `model_timeout`, Untrusted and PluginError.
    """
    if configured(app, "promoter") is None:
        raise NoModel(f"kb {verb} needs a `promoter =` line in fleet.txt", hint="it names the command that proposes notes, "
                      "such as: promoter = tools/claude.sh promoter")
    if configured(app, "reviewer") is None:
        raise NoModel(f"kb {verb} needs a `reviewer =` line in fleet.txt: a promoter alone would write what nobody reviewed",
                      hint="such as: reviewer = tools/claude.sh reviewer")
    require_settings(app, "promoter", "reviewer")
    require_trust(app, "promoter", "reviewer")
    for hook in ("kb_promoters", "kb_extractors") if verb == "ingest" else ("kb_promoters",):
        app.host.require(hook, verb)


class Judge:
    """Decides proposals one after the other; each sees the notes that were written before it."""

    def __init__(self, app: App, *, top: int, dry_run: bool, watch: Watch) -> None:
        self.app, self.top, self.dry_run, self.watch = app, top, dry_run, watch
        self.done = self.total = 0  # for `step`

    def decide(self, proposal: Proposal, digest: str) -> Judged:
        """Decide one proposal and keep the decision under `digest`. Raises Outage, with nothing kept, and Untrusted."""
        judged = self._decide(proposal, digest)
        if not self.dry_run:
            if not judged.accepted:
                refusal = next(review for review in judged.reviews if not review.accept)
                reason = bare_reason(refusal.reason)
                record_rejection(self.app.fleet.root, proposal.agent, proposal.slug, refusal.lens, reason)
            outcome: Outcome = "written" if judged.accepted else "refused"
            remember(self.app.fleet.root, digest, proposal.agent, proposal.slug, outcome, proposal.source)
        self.watch.judged(judged)
        return judged

    def _decide(self, proposal: Proposal, digest: str) -> Judged:
        base = self.app.fleet.base(proposal.agent)
        if base is None:
            raise Outage(f"{proposal.slug}: there is no agent called {proposal.agent} here")
        rule = why_not_called(proposal.slug) or why_not_there(proposal.folder) or why_not_found_by(
            proposal.keys) or why_not_so_long(proposal.summary, proposal.keys, proposal.body)
        if rule is not None:
            return _refused(proposal, "scope", f"hard rule: {rule}")
        draft = NoteDraft(base.name, proposal.slug, proposal.keys, proposal.summary, proposal.body,
                          plain_folder(proposal.folder), "agent", "captured", proposal.source)
        there = _note_called(base, proposal.slug)
        if there is not None:
            return self._of_an_earlier_run(base, there[0], draft, proposal, digest)
        prior = self._prior(proposal)
        often = next((row for row in prior if row.times >= REPEATED), None)
        if often is not None:
            return _refused(proposal, as_lens(often.lens), repetition_reason(often.times, often.last, often.reason))
        try:
            compose(draft)
        except (Refused, BadDraft) as error:
            return _refused(proposal, "scope", f"refused at the write: {error}")
        reviews = self._reviews(proposal, base, prior)
        if not unanimous(reviews):
            return Judged(proposal, False, reviews)
        return Judged(proposal, True, reviews) if self.dry_run else self._write(proposal, draft, reviews)

    def _write(self, proposal: Proposal, draft: NoteDraft, reviews: tuple[Review, ...]) -> Judged:
        try:
            written = write_note(self.app, draft)
        except (Refused, BadDraft) as error:
            return Judged(proposal, False, (*reviews, Review("scope", False, f"refused at the write: {error}")))
        except KbError as error:
            raise Outage(f"write {proposal.slug}: {error}") from error
        try:
            self.app = self.app.reopened()
        except KbError as error:
            self.watch.outage(f"the library could not be read again: {error}")
        return Judged(proposal, True, reviews, written.note_file, dropped=written.dropped)

    def _of_an_earlier_run(self, base: Base, path: str, draft: NoteDraft, proposal: Proposal, digest: str) -> Judged:
        """The note of that name, when a run that was killed before it could remember wrote it from this deposit.

        Name and source prove nothing: names of deposits are used again, and a deposit grows. Its text must be what this
        proposal makes, and no other deposit may have it among its decisions. Raises Outage for any other note.
        """
        if not _is_note_of(draft, os.path.join(base.root, path)) or is_of_another(
                self.app.fleet.root, digest, base.name, proposal.slug, proposal.source):
            hidden = not self.app.include_private and is_private(base, path)
            raise Outage(f"write {proposal.slug}: {base.name} has a note of that name already"
                         + (", in its private layer" if hidden else f": {path}"))
        if not self.dry_run:  # that run may have been killed before it listed the note
            try:
                finish_interrupted(base)
            except KbError as error:
                raise Outage(f"write {proposal.slug}: {error}") from error
        return Judged(proposal, True, (), os.path.join(base.root, path), earlier=True)

    def _reviews(self, proposal: Proposal, base: Base, prior: tuple[Rejection, ...]) -> tuple[Review, ...]:
        found = ask(self.app, " ".join(proposal.keys), self.top, PASSAGES)
        evidence = evidence_text(found, [self._holds(result) for result in found.results])
        card = f"which {base.role or 'says nothing of what it does'}" + (f"; it {base.ends}" if base.ends else "")
        reviews = []
        for lens in LENSES:
            self.watch.step(self.done, self.total, f"{proposal.agent}/{proposal.slug}: reviewer, {lens}")
            before = next((row for row in prior if row.lens == lens), None)
            prompt = reviewer_prompt(lens, proposal, card, evidence, before)
            try:
                reviews.append(parse_review(lens, ask_model(self.app, "reviewer", prompt)))
            except Untrusted:
                raise
            except KbError as error:
                raise Outage(f"reviewer {lens}, on {proposal.slug}: {error}") from error
        return tuple(reviews)

    def _holds(self, result: Result) -> str:
        """The first passage of a file; of one that the text index does not know yet, the first of its text."""
        if result.passages:
            return result.passages[0].text
        text = self.app.catalogue.text_of(Place(result.base, result.path))
        lines = [line for _, body in chunk(text or "") for line in body.split("\n") if split_label(line)[0] is None]
        return "\n".join(lines)

    def _prior(self, proposal: Proposal) -> tuple[Rejection, ...]:
        rows = read_log(log_path(self.app.fleet.root, REJECTIONS), REJECTIONS).rows
        return tuple(row for row in rows if row.agent.casefold() == proposal.agent.casefold() and row.slug == proposal.slug)


def _refused(proposal: Proposal, lens: Lens, reason: str) -> Judged:
    return Judged(proposal, False, (Review(lens, False, reason),))


def _note_called(base: Base, slug: str) -> tuple[str, str] | None:
    """(path inside the base, captured_from) of the note with that name, or None."""
    for found in walk_base(base, True).files:
        if stem(found.path) == slug and "/inbox/" not in f"/{found.path}":
            note, _ = read_note(base.root, found, None)
            return found.path, note.header.front.get("captured_from", "")
    return None


def _is_note_of(draft: NoteDraft, path: str) -> bool:
    """Whether the file at `path` is what this draft would be written as."""
    try:
        return read_text(path) == compose(draft)[2]
    except (Refused, BadDraft, OSError, UnicodeDecodeError):
        return False


def absorbed(base: Base, slug: str, source: str) -> bool:
    """Whether the base holds, outside its deposit, the note of that name that was distilled from `source`."""
    there = _note_called(base, slug)
    return there is not None and there[1] == source
