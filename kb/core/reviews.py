"""A reviewer's verdict on one proposed note: the three lenses, and how a reply is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from kb.core.display import flat, uncoloured

Lens = Literal["contradiction", "duplication", "scope"]
LENSES: tuple[Lens, ...] = get_args(Lens)
REPEATED = 3  # refusals after which nobody is asked any more
_QUOTED = 200
_ACCEPT = re.compile(r"\baccept(?:ed|s)?\b")
_REFUSAL = re.compile(r"\b(?:declined?|refused?|deny|denied|unaccept\w*|not (?:\w+ )?accept\w*)\b")
_NEGATION = re.compile(r"\b(?:no|not|never|cannot|without|neither|nor|hardly)\b|n't\b")
_REPETITION = "deterministic repetition filter: "


class Review(NamedTuple):
    """What one lens said of a proposal."""

    lens: Lens
    accept: bool
    reason: str


def parse_review(lens: Lens, reply: str) -> Review:
    """The verdict in a reply. Whatever is not clearly an accept is a refusal that says what was replied.

    A `VERDICT:` line decides, the last one if there are several; one with both words in it refuses. Without such a line
    a line that is nothing but the verdict decides.
    """
    verdict: bool | None = None
    reason = ""
    bare: bool | None = None
    for line in uncoloured(reply).splitlines():
        text = _undecorated(line)
        label, colon, value = text.partition(":")
        label = label.strip().lower()
        if colon and label == "verdict":
            said = _verdict(value)
            verdict = verdict if said is None else said
        elif colon and label == "reason":
            reason = reason or flat(value)
        elif text.lower().rstrip(".") in ("accept", "accepted", "reject", "rejected"):
            bare = text.lower().startswith("accept")
    decided = bare if verdict is None else verdict
    if decided is None:
        said_ = flat(reply)[:_QUOTED]
        return Review(lens, False, f"the reply held no verdict. It said: {said_}")
    return Review(lens, decided, reason or "no reason given")


def unanimous(reviews: Sequence[Review]) -> bool:
    """Whether every lens was asked and every one accepts."""
    return [review.lens for review in reviews] == list(LENSES) and all(review.accept for review in reviews)


def as_lens(name: str) -> Lens:
    """The lens of that name; what is none counts as duplication."""
    return next((lens for lens in LENSES if lens == name), "duplication")


def repetition_reason(times: int, last: str, reason: str) -> str:
    """What a proposal that was refused often is told. It does not nest when it is itself given as the reason."""
    return f"{_REPETITION}refused {times} times (last {last}): {bare_reason(reason)}"


def bare_reason(reason: str) -> str:
    """A recorded reason without the sentences that the filter once put before it."""
    while (found := re.match(re.escape(_REPETITION) + r"refused [0-9]+ times \(last [^)]*\): ", reason)) is not None:
        reason = reason[found.end():]
    return reason


def _verdict(value: str) -> bool | None:
    words = value.lower().replace("\u2019", "'")
    if "reject" in words or _REFUSAL.search(words):
        return False
    found = _ACCEPT.search(words)
    if found is None:
        return None
    return not _NEGATION.search(words[:found.start()])  # what follows is a reason: `accept, no file says it`


def _undecorated(line: str) -> str:
    text = line.strip().lstrip("-*>#` \t").replace("**", "").replace("__", "")
    return text.strip().strip("`").strip()
