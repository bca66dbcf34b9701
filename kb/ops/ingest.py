"""`kb ingest`: a document into the deposit, through both promoters, and out of the deposit once a note holds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.core.decided import WHOLE, deposit_digest
from kb.core.values import Base, Owner
from kb.errors import KbError
from kb.ops.ask import ask
from kb.ops.extract import extract
from kb.ops.judge import Watch, absorbed, require_promoters
from kb.ops.promote import Promotion, promote_deposits
from kb.store.decisions import decisions_on
from kb.store.deposits import Staged, destroy, stage, stage_original, staged_from, text_of
from kb.store.files import is_inside
from kb.store.promotion_lock import WAIT, promotion_lock

if TYPE_CHECKING:
    from kb.app import App

ROUTED_BY = 4000  # characters of the text that choose the owner


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingest will do.

    document: the absolute real path.
    base:     whose inbox it goes to; `owner` is how the router chose it, None when it was named.
    text:     what was extracted, "" when `earlier` holds it already.
    earlier:  the deposit that an interrupted run made of this very document.
    """

    document: str
    base: Base
    text: str
    owner: Owner | None = None
    earlier: Staged | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What came of it. `kept` says why the document is still there, "" when a note holds it and `removed` is gone."""

    staged: Staged
    promotion: Promotion
    removed: tuple[str, ...] = ()
    kept: str = ""
    asked_to_keep: bool = False


def plan(app: App, document: str, *, agent: str | None = None, top: int = 5) -> Plan:
    """Read the document and choose its owner. Nothing is written or moved.

    A document that an interrupted run has moved already is found again by the path that it had. Raises NoModel and
    Untrusted, KbError when there is no such file, no text in it, or nobody to give it to.
    """
    require_promoters(app, "ingest")
    path = os.path.realpath(document)
    named = _named(app, agent) if agent is not None else None
    earlier = _earlier(path, (named,) if named is not None else app.fleet.bases)
    if earlier is not None:
        return Plan(path, earlier.deposit.base, "", None, earlier)
    if not os.path.isfile(path):
        raise KbError(f"{document} is not a file")
    _refuse_held(app, path)
    text = extract(app.fleet.root, path)
    if named is not None:
        return Plan(path, named, text)
    owner = ask(app, text[:ROUTED_BY], top).owner
    base = app.fleet.base(owner.name) if owner is not None else None
    if owner is None or base is None:
        raise KbError("no agent's notes share a word with this document", hint="name its owner with --agent, or make one "
                      "with kb init")
    if owner.contenders > 1 and owner.margin <= 1.0:
        raise KbError(f"{' and '.join(total.agent for total in owner.totals[:2])} fit this document equally well",
                      hint="name its owner with --agent")
    return Plan(path, base, text, owner)


def ingest(app: App, plan: Plan, *, keep: bool = False, top: int = 5, wait: float = WAIT, watch: Watch | None = None,
           staged: Callable[[Staged], None] = lambda staged: None) -> Ingested:
    """Stage the document, promote its deposit, and remove both once a note on disk names it as its source.

    `staged` is told before any model is asked. Raises LockHeld when another promotion does not end within `wait` seconds
    and KbError when staging fails, with the document where it was. Interrupted and run again with the same path it goes on.
    """
    watch = watch or Watch()
    with promotion_lock(app.fleet.root, wait=wait, told=watch.note):
        place = plan.earlier
        if place is None:
            place = stage(plan.base, plan.document, plan.text, keep=keep)
        elif os.path.isfile(plan.document) and not (keep and os.path.lexists(place.raw)):
            _move(plan.document, place.raw, keep)  # what is there already was compared, and is the same
        staged(place)
        result = promote_deposits(app.reopened(), [place.deposit], top=top, dry_run=False, most=None, watch=watch)
        kept = _why_kept(app, plan, place, result)
        if kept or keep:
            return Ingested(place, result, (), kept or "--keep was given", not kept)
        return Ingested(place, result, tuple(destroy(place)))


def _why_kept(app: App, plan: Plan, place: Staged, result: Promotion) -> str:
    """Why the document must stay, or "": everything was decided, and a note that came of it is on disk.

    That an earlier document of the same name left a note proves nothing: the decisions are looked up by what the deposit
    holds, and in a run that did not begin as the continuation of another this run must have written.
    """
    if result.outages:
        return f"the run is not complete: {result.outages[0]}"
    source = place.deposit.source
    decided = decisions_on(app.fleet.root, deposit_digest(place.deposit.base.name, text_of(place.deposit)))
    written = [slug for slug, row in decided.items() if row.outcome == "written"]
    if WHOLE in decided and any(absorbed(place.deposit.base, slug, source) for slug in written) and (
            plan.earlier is not None or result.written):
        return ""
    if result.known and plan.earlier is None:
        return "this very text was decided before (see kb-decided.txt), and this run wrote no note"
    return (f"no note came of it: {len(result.judged)} proposed, {result.refused} refused"
            + ("; kb rejections says why" if result.refused else ""))


def _earlier(path: str, bases: tuple[Base, ...]) -> Staged | None:
    """The deposit of an interrupted run that holds this very document: the document itself is gone, or is the same."""
    there = os.path.isfile(path)
    for base in bases:
        for found in staged_from(base, path):
            if not there or not os.path.lexists(found.raw) or _same(path, found.raw):
                return found
    return None


def _refuse_held(app: App, path: str) -> None:
    """A file of a base, its deposit aside, is no document: ingesting would take a note, a map or a card out of the library."""
    for base in app.fleet.bases:
        if is_inside(path, base.root) and not is_inside(path, os.path.join(base.root, "inbox")):
            raise KbError(f"{path} is a file of {base.name} already", hint="copy it elsewhere to ingest the copy")
    if path == os.path.join(app.fleet.root, "fleet.txt"):
        raise KbError(f"{path} is the fleet's own")


def _named(app: App, agent: str) -> Base:
    base = app.fleet.base(agent.strip())
    if base is None:
        raise KbError(f"there is no agent called {agent} here",
                      hint="the bases are: " + ", ".join(base.name for base in app.fleet.bases))
    return base


def _move(document: str, raw: str, keep: bool) -> None:
    try:
        stage_original(document, raw, keep=keep)
    except OSError as error:
        raise KbError(f"{document} cannot be moved to {raw}: {error.strerror or error}") from None


def _same(one: str, other: str) -> bool:
    import filecmp

    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
