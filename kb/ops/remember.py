"""Is a claim already in the library? Overlap is measured; what to do about it is proposed and never done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kb.core.ports import ChunkHit
from kb.core.values import Passage
from kb.core.words import normalise

if TYPE_CHECKING:
    from kb.app import App

NOOP_FROM, UPDATE_FROM = 0.90, 0.55
CANDIDATES, EVIDENCE_SHOWN = 25, 5

NOTICE = ("What is measured here is overlap of words, and not judgement. Where a claim belongs is for a person to judge. "
          "DELETE is never proposed, because what is absent and what is false look alike to a word count. The decision "
          "belongs in the message of the commit that makes it.")

Proposal = Literal["ADD", "UPDATE", "NOOP"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A chunk near the claim. containment: share of the claim's words in it (0 to 1); missing: words it lacks."""

    base: str
    path: str
    heading_path: str
    excerpt: str
    containment: float
    shared: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The proposal for one claim, closest evidence first; `skipped` says what could not be looked at."""

    claim: str
    proposal: Proposal
    reason: str
    evidence: tuple[Evidence, ...]
    notice: str
    skipped: tuple[str, ...]

    def as_object(self) -> dict[str, Any]:
        """The JSON of the reference, keys in its order."""
        return {"claim": self.claim, "proposal": self.proposal, "reason": self.reason, "evidence": self.evidence,
                "notice": self.notice}


def remember(app: App, claim: str) -> Remembered:
    """Measure `claim` against the text of the library. Containment, not Jaccard: a short claim inside a long chunk is held."""
    query = app.catalogue.query(claim)
    text = app.catalogue.text(query)
    claimed = set(query.terms)
    candidates = text.hits[:CANDIDATES]
    passages = app.catalogue.passages_of(query, candidates)
    measured = sorted((_measure(hit, passage, claimed) for hit, passage in passages.items()),
                      key=lambda found: -found.containment)[:EVIDENCE_SHOWN]
    best = measured[0] if measured else None
    proposal: Proposal = "ADD"
    if best is not None and best.containment >= UPDATE_FROM:
        proposal = "NOOP" if best.containment >= NOOP_FROM else "UPDATE"
    return Remembered(claim, proposal, _reason(proposal, best, bool(candidates)), tuple(measured), NOTICE,
                      (*app.fleet.skipped, *app.catalogue.skipped, *text.skipped, *app.catalogue.take_faults()))


def _measure(hit: ChunkHit, passage: Passage, claim: set[str]) -> Evidence:
    held = set(normalise(passage.text))
    shared = tuple(sorted(claim & held))
    return Evidence(hit.place.base, hit.place.path, passage.heading_path, passage.excerpt,
                    len(shared) / len(claim) if claim else 0.0, shared, tuple(sorted(claim - held)))


def _reason(proposal: Proposal, best: Evidence | None, matched: bool) -> str:
    if best is None and matched:
        return "Passages share words with the claim, and none of them could be read."
    if best is None:
        return "No passage shares a word with the claim."
    held, whole = len(best.shared), len(best.shared) + len(best.missing)
    if proposal == "NOOP":
        return f"One passage already holds {held} of the claim's {whole} words, so writing it again would be a duplicate."
    if proposal == "UPDATE":
        return (f"One passage holds {held} of the claim's {whole} words; what is new: "
                f"{', '.join(best.missing) or 'nothing'}.")
    return f"The closest passage holds only {held} of the claim's {whole} words."
