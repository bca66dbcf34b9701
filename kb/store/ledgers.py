"""Writers of the counted logs that lie beside fleet.txt. All raise KbError when the log cannot be read or written."""

from __future__ import annotations

from collections.abc import Sequence

from kb.core.logrows import (
    ABSTENTIONS,
    ALIAS_REJECTIONS,
    MISROUTES,
    REJECTIONS,
    Abstention,
    AliasRejection,
    Misroute,
    Rejection,
)
from kb.core.scrub import scrub
from kb.store.clock import today
from kb.store.logs import count_up, log_path

CONTENDERS_KEPT = 3


def record_misroute(root: str, message: str, chose: str, owner: str, why: str = "") -> str:
    """Count a message that went to `chose` and belonged to `owner` (`-`: nobody). Returns the path of the log."""
    path, day = log_path(root, MISROUTES), today()
    count_up(path, MISROUTES, Misroute(1, day, day, _name(chose), _name(owner), _clean(message), _clean(why)))
    return path


def record_abstention(root: str, subject: str, message: str, coverage: str, nearest: str, reason: str,
                      contenders: Sequence[tuple[str, float]]) -> str:
    """Count a subject that nobody owns: `coverage` is `adjacent` or `uncovered`, `nearest` an agent or `-`.

    `contenders` are (agent, total of the fold), best first; three are kept. Returns the path of the log.
    """
    path, day = log_path(root, ABSTENTIONS), today()
    scored = ", ".join(f"{name} {score:.1f}" for name, score in contenders[:CONTENDERS_KEPT])
    count_up(path, ABSTENTIONS, Abstention(1, day, day, coverage, nearest.strip() or "-", _clean(subject),
                                           _clean(message), _clean(reason), scored))
    return path


def record_rejection(root: str, agent: str, slug: str, lens: str, reason: str) -> str:
    """Count a proposed note that a review refused. Returns the path of the log."""
    path, day = log_path(root, REJECTIONS), today()
    count_up(path, REJECTIONS, Rejection(1, day, day, agent, slug, lens, _clean(reason)))
    return path


def record_alias_rejection(root: str, line: str, reason: str) -> str:
    """Count an alias line that the measurement refused. Returns the path of the log."""
    path, day = log_path(root, ALIAS_REJECTIONS), today()
    count_up(path, ALIAS_REJECTIONS, AliasRejection(1, day, day, _clean(line), reason))
    return path


def _clean(text: str) -> str:
    from kb.core.counted import clipped

    return clipped(scrub(text))


def _name(text: str) -> str:
    return text.strip().lower()
