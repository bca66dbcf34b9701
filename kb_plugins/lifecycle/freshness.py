"""How old something is, in five words, and the two numbers of the policy that divide them."""

from __future__ import annotations

from dataclasses import dataclass

from kb_plugins.lifecycle import clock


@dataclass(frozen=True)
class Freshness:
    """`word` is fresh, aging, stale, unknown or invalid; `age` is in whole minutes; `reason` is never empty."""

    word: str
    age: int | None
    reason: str


def freshness(ts: str, fresh: int | None, stale: int | None) -> Freshness:
    """The freshness of a written time against two thresholds in minutes."""
    if not ts:
        return Freshness("unknown", None, "there is no time to measure from")
    moment = clock.parse(ts)
    if moment is None:
        return Freshness("invalid", None, f"{ts} is no time")
    seconds = (clock.now() - moment).total_seconds()
    if seconds < 0:
        return Freshness("invalid", None, f"{ts} lies in the future")
    age = int(seconds // 60)
    if fresh is None or stale is None:
        return Freshness("unknown", age, "the policy leaves a threshold out")
    if age >= stale:
        return Freshness("stale", age, f"{span(age)} ago, and stale begins at {span(stale)}")
    word = "fresh" if age < fresh else "aging"
    return Freshness(word, age, f"{span(age)} ago, under the {span(fresh if word == 'fresh' else stale)} of the policy")


def span(minutes: int) -> str:
    """`45m`, `30h` or `4d`."""
    if minutes < 90:
        return f"{minutes}m"
    return f"{minutes // 60}h" if minutes < 2880 else f"{minutes // 1440}d"
