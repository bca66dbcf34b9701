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
from kb.ops.named_base import base_called
from kb.ops.promote import Promotion, promote_deposits
from kb.store.decisions import decisions_on
from kb.store.deposits import Staged, destroy, digest_of, has_original, holds, stage, stage_original, staged_from, text_of
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
    digest:   of the bytes that were read; "" when the document is gone and `earlier` has all of it.
    text:     what was extracted from them.
    earlier:  the deposit that an interrupted run made of this very document.
    """

    document: str
    base: Base
    digest: str
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


def plan(app: App, document: str, *, agent: str | None = None, keep: bool = False, top: int = 5) -> Plan:
    """Read the document and choose its owner. Nothing is written or moved.

    A document that an interrupted run has moved already is found again by the path that it had. Raises NoModel and
    Untrusted, KbError when there is no such file, no text in it, or nobody to give it to; a link is a document only with
    `keep`, because moving what it leads to would break it.
    """
    require_promoters(app, "ingest")
    path = os.path.realpath(document)
    named = base_called(app, agent) if agent is not None else None
    _refuse_held(app, path)
    if os.path.islink(document) and not keep:
        raise KbError(f"{document} is a link to {path}, and ingest would leave it leading nowhere",
                      hint="name that file itself, or copy it with --keep")
    staged = [found for base in ((named,) if named is not None else app.fleet.bases) for found in staged_from(base, path)]
    if not os.path.isfile(path):
        begun = next((found for found in staged if _goes_on(app, found)), None)
        if begun is None:
            raise KbError(f"{document} is not a file")
        return Plan(path, begun.deposit.base, "", "", None, begun)
    digest = digest_of(path)
    text = extract(app.fleet.root, path)
    same = next((found for found in staged if holds(found, path, digest, text)), None)
    if same is not None:
        return Plan(path, same.deposit.base, digest, text, None, same._replace(digest=digest))
    if named is not None:
        return Plan(path, named, digest, text)
    owner = ask(app, text[:ROUTED_BY], top).owner
    base = app.fleet.base(owner.name) if owner is not None else None
    if owner is None or base is None:
        raise KbError("no agent's notes share a word with this document", hint="name its owner with --agent, or make one "
                      "with kb init")
    if owner.contenders > 1 and owner.margin <= 1.0:
        raise KbError(f"{' and '.join(total.agent for total in owner.totals[:2])} fit this document equally well",
                      hint="name its owner with --agent")
    return Plan(path, base, digest, text, owner)


def ingest(app: App, plan: Plan, *, keep: bool = False, top: int = 5, wait: float = WAIT, watch: Watch | None = None,
           staged: Callable[[Staged], None] = lambda staged: None) -> Ingested:
    """Stage the document, promote its deposit, and remove both once a note on disk names it as its source.

    `staged` is told before any model is asked. Raises LockHeld when another promotion does not end within `wait` seconds
    and KbError when staging fails or the document is no longer what was read, with the document where it was. Interrupted
    and run again with the same path it goes on.
    """
    watch = watch or Watch()
    with promotion_lock(app.fleet.root, wait=wait, told=watch.note):
        place = plan.earlier
        if plan.digest and digest_of(plan.document) != plan.digest:  # another run may have been waited for
            raise KbError(f"{plan.document} changed after it was read", hint="nothing was changed; run the same line again")
        if place is None:
            place = stage(plan.base, plan.document, plan.text, keep=keep, digest=plan.digest)
        elif plan.digest and not (keep and os.path.lexists(place.raw)):
            _move(plan.document, place.raw, keep)  # what is there already was compared, and is the same
        staged(place)
        result = promote_deposits(app.reopened(), [place.deposit], top=top, dry_run=False, most=None, watch=watch)
        kept = _why_kept(app, plan, place, result)
        if kept or keep:
            return Ingested(place, result, (), kept or "--keep was given", not kept)
        return Ingested(place, result, tuple(destroy(place)))


def _why_kept(app: App, plan: Plan, place: Staged, result: Promotion) -> str:
    """Why the document must stay, or "": everything was decided, a note that came of it is on disk, and it is what was read.

    That an earlier document of the same name left a note proves nothing: the decisions are looked up by what the deposit
    holds, and a run that did not begin as the continuation of another must itself have written.
    """
    if result.outages:
        return f"the run is not complete: {result.outages[0]}"
    source = place.deposit.source
    decided = decisions_on(app.fleet.root, deposit_digest(place.deposit.base.name, text_of(place.deposit)))
    written = [slug for slug, row in decided.items() if row.outcome == "written"]
    if WHOLE in decided and any(absorbed(place.deposit.base, slug, source) for slug in written) and (
            plan.earlier is not None or any(one.written and not one.earlier for one in result.judged)):
        return _why_not_itself(place)
    if result.known and plan.earlier is None:
        return "this very text was decided before (see kb-decided.txt), and this run wrote no note"
    return (f"no note came of it: {len(result.judged)} proposed, {result.refused} refused"
            + ("; kb rejections says why" if result.refused else ""))


def _why_not_itself(place: Staged) -> str:
    """Why the original may not be removed although a note came of it, or ""."""
    if not os.path.lexists(place.raw) or has_original(place):
        return ""
    if not place.digest:
        return "a note came of it, but an older kb staged it and kept no digest to know the original by"
    return "a note came of it, but the original changed after it was read"


def _goes_on(app: App, found: Staged) -> bool:
    """Whether a deposit is all that is left of a document that is gone: its original is there, or was removed last.

    Without a digest (an older kb) any original will do, and none is removed then.
    """
    if os.path.lexists(found.raw):
        return has_original(found) or (not found.digest and os.path.isfile(found.raw))
    decided = decisions_on(app.fleet.root, deposit_digest(found.deposit.base.name, text_of(found.deposit)))
    return bool(found.digest) and WHOLE in decided and any(
        row.outcome == "written" and absorbed(found.deposit.base, slug, found.deposit.source) for slug, row in decided.items())


def _refuse_held(app: App, path: str) -> None:
    """A file of a base, its deposit aside, is no document: ingesting would take a note, a map or a card out of the library."""
    for base in app.fleet.bases:
        if is_inside(path, base.root) and not is_inside(path, os.path.join(base.root, "inbox")):
            raise KbError(f"{path} is a file of {base.name} already", hint="copy it elsewhere to ingest the copy")
    if path == os.path.join(app.fleet.root, "fleet.txt"):
        raise KbError(f"{path} is the fleet's own")


def _move(document: str, raw: str, keep: bool) -> None:
    try:
        stage_original(document, raw, keep=keep)
    except OSError as error:
        raise KbError(f"{document} cannot be moved to {raw}: {error.strerror or error}") from None
