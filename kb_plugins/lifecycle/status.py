"""Whether the writer still writes: the newest close against the derivations, the policy's numbers between them."""

from __future__ import annotations

from dataclasses import dataclass

from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.freshness import Freshness, freshness
from kb_plugins.lifecycle.ledger import Ledger, Row
from kb_plugins.lifecycle.policy import Policy
from kb_plugins.lifecycle.queue import Queue


@dataclass(frozen=True)
class Writer:
    """The judgement. `why` says why there is none; `covered` is whether a derivation names the newest closed episode."""

    last_derived: Row | None
    last_closed: Row | None
    underived: int
    judged: bool
    covered: bool
    freshness: Freshness
    why: str

    @property
    def stopped(self) -> bool:
        return self.judged and not self.covered and self.freshness.word == "stale"


def judge(ledger: Ledger, policy: Policy) -> Writer:
    """Judge the newest close. A checkout that never derived, or whose switch is off, is not judged."""
    closes, derivations = ledger.of("session.closed"), ledger.of("knowledge.derived")
    named = {row.get("episode") for row in derivations}
    closed = closes[-1] if closes else None
    derived = derivations[-1] if derivations else None
    episodes = dict.fromkeys(str(row["session"]) for row in closes if isinstance(row.get("session"), str))
    underived = sum(1 for episode in episodes if episode not in named)
    episode = closed.get("session") if closed else None
    why = ("no episode was ever closed here" if closed is None else
           "session.knowledge_on_end is false" if not policy.on("session.knowledge_on_end") else
           "nothing was ever derived in this checkout" if derived is None else
           "the newest close names no episode" if not isinstance(episode, str) else "")
    if why or closed is None:
        return Writer(derived, closed, underived, False, False, Freshness("unknown", None, why), why)
    age = freshness(closed["ts"], policy.stated("session.freshness.fresh_minutes"),
                    policy.stated("session.freshness.stale_minutes"))
    covered = episode in named
    if not covered and age.word in ("invalid", "unknown"):
        return Writer(derived, closed, underived, False, False, age, f"the newest close cannot be dated: {age.reason}")
    return Writer(derived, closed, underived, True, covered, age, "")


def shown(disk: Disk, ledger: Ledger, policy: Policy) -> dict[str, object]:
    """The status as JSON shows it."""
    writer, queue = judge(ledger, policy), Queue(disk, ledger)
    findings = []
    if writer.why:
        findings.append(f"the writer is not judged: {writer.why}")
    elif writer.stopped:
        findings.append("the newest closed episode was never derived, and it is stale")
    elif not writer.covered:
        findings.append("the newest closed episode awaits its derivation")
    if ledger.malformed:
        findings.append(f"{ledger.malformed} line(s) of the ledger do not parse")
    said: dict[str, object] = {"present": bool(ledger.lines or queue.records), "branch": disk.checkout.branch}
    if writer.last_derived is not None:
        said["last_derived"] = {"ts": writer.last_derived["ts"], "episode": writer.last_derived.get("episode")}
    if writer.last_closed is not None:
        said["last_closed"] = {"ts": writer.last_closed["ts"], "episode": writer.last_closed.get("session")}
    said |= {"closed_without_derivation": writer.underived, "candidates": len(queue.awaiting),
             "on_this_branch": len(queue.here), "freshness": writer.freshness.word}
    if writer.freshness.age is not None:
        said["age_minutes"] = writer.freshness.age
    return {**said, "freshness_reason": writer.freshness.reason, "judged": writer.judged, "stopped_writer": writer.stopped,
            "knowledge_on_end": policy.on("session.knowledge_on_end"),
            "knowledge_on_compact": policy.on("session.knowledge_on_compact"), "findings": findings}


def text(said: dict[str, object]) -> list[str]:
    """The same as labelled lines."""
    def last(key: str) -> str:
        row = said.get(key)
        return f"{row['ts']}  {row['episode'] or '-'}" if isinstance(row, dict) else "never"

    age = f", {said['age_minutes']} minutes" if "age_minutes" in said else ""
    writer = "not judged" if not said["judged"] else "STOPPED" if said["stopped_writer"] else "writing"
    rows = {"present": "yes" if said["present"] else "no", "last derived": last("last_derived"),
            "last closed": last("last_closed"), "underived": f"{said['closed_without_derivation']} closed episode(s)",
            "candidates": f"{said['candidates']}, {said['on_this_branch']} on {said['branch']}",
            "freshness": f"{said['freshness']}{age} ({said['freshness_reason']})", "writer": writer,
            "switches": f"knowledge_on_end {_word(said['knowledge_on_end'])}, "
                        f"knowledge_on_compact {_word(said['knowledge_on_compact'])}"}
    findings = said["findings"]
    assert isinstance(findings, list)
    return [*(f"{label:<14}{value}" for label, value in rows.items()), *(f"{'finding':<14}{item}" for item in findings)]


def _word(on: object) -> str:
    return "on" if on else "off"
