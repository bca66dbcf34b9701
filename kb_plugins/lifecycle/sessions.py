"""Closing an episode: its record, the outbox, the derivation, the ledger line, in that order. And the lost ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kb.api import KbError
from kb_plugins.lifecycle import clock, layout, outbox
from kb_plugins.lifecycle.derive import derive_quietly
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episode, Episodes
from kb_plugins.lifecycle.exits import absent, conflict, invalid
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.policy import read_policy
from kb_plugins.lifecycle.session_records import FORGED, Closing, compose, existing, publish

Say = Callable[[str], None]


@dataclass(frozen=True)
class Closed:
    """A closed episode: its record's path, and why the derivation failed ("" when it did not)."""

    episode: str
    path: str
    failure: str = ""


def close(disk: Disk, ledger: Ledger, say: Say, *, outcome: str = "closed", body: str = "",
          provider_session: str | None = None) -> Closed:
    """Close the episode that is mine. Raises KbError: 10 for a forged summary, 12 when none is open, 15 for a foreign one."""
    forged = next((line for line in body.split("\n") if FORGED.match(line)), None)
    if forged is not None:
        raise invalid(f"the summary opens a line with `{forged.partition(':')[0]}:`, which is a field of the record")
    episodes = Episodes(disk)
    episode = episodes.mine(provider_session)
    if episode is None:
        foreign = [item for item in episodes.all() if item.foreign]
        if foreign and not episodes.here() and provider_session is None:
            raise conflict(f"the open episode {foreign[0].id} belongs to another checkout, "
                           f"{foreign[0].fields.get('worktree', '')}", hint="close it there")
        raise absent("no episode is open", hint="open one with session start")
    return close_episode(disk, ledger, episode, Closing(outcome, body), say)


def close_episode(disk: Disk, ledger: Ledger, episode: Episode, closing: Closing, say: Say, *, reason: str = "",
                  by: str | None = None) -> Closed:
    """Close this episode: the caller's own, or a stranded one for a `reason` and `by` the caller's. Safe to repeat."""
    with disk.lock("session-close"):
        if not disk.exists(episode.path):
            raise absent(f"the episode {episode.id} was closed by another process")
        stem, text = compose(disk, episode, ledger.stamped(episode.id), closing)
        path = existing(disk, episode.id)
        again = path is not None
        if path is None:
            folder = layout.OUTBOX_SESSIONS if disk.checkout.on_trunk else layout.SESSIONS
            path = publish(disk, folder, stem, text)
        else:
            say(f"session close: {episode.id} already has a record, which is kept: {path}")
        if not closing.recovered:
            outbox.drain(disk, say)
        failure = derive_at_end(disk, ledger, episode.id, say)
        events = {row["event"] for row in ledger.stamped(episode.id)} if again else set()
        if closing.recovered and "session.recovered" not in events:
            ledger.append("session.recovered", by, session_id=episode.id, reason=reason, session_path=path)
        if "session.closed" not in events:
            ledger.append("session.closed", episode.id, outcome=closing.outcome, session_path=path)
        Episodes(disk).end(episode)
    return Closed(episode.id, path, failure)


def derive_at_end(disk: Disk, ledger: Ledger, episode: str, say: Say) -> str:
    """The derivation that a close carries. A failure is told and given back, never raised."""
    try:
        on = read_policy(disk).on("session.knowledge_on_end")
    except KbError as error:
        say(f"session close: the knowledge was not derived: {error}")
        return str(error)
    if not on:
        say("session close: session.knowledge_on_end is false, so nothing is derived")
        return ""
    worked, line = derive_quietly(disk, ledger, episode)
    say(f"session close: {'knowledge derived' if worked else 'the knowledge was not derived'}: {line}")
    return "" if worked else line


# -- recovery ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stranded:
    """An episode that fell silent: its last sign of life, where that was seen, and its age in seconds."""

    episode: Episode
    last: str
    source: str
    age: int


def stranded(disk: Disk, ledger: Ledger, older_than: int) -> list[Stranded]:
    """Episodes of this checkout, other than the caller's own, silent for longer than `older_than` seconds."""
    episodes = Episodes(disk)
    own = episodes.mine()
    found = []
    for episode in episodes.here():
        if own is not None and episode.id == own.id:
            continue
        signs = [(row["ts"], "the ledger") for row in ledger.stamped(episode.id) if row["event"] != "session.recovered"]
        signs.append((episode.started_at, "its open file"))
        dated = [(moment, ts, source) for ts, source in signs if (moment := clock.parse(ts)) is not None]
        if not dated:
            continue
        moment, ts, source = max(dated)
        age = int((clock.now() - moment).total_seconds())
        if age > older_than:
            found.append(Stranded(episode, ts, source, age))
    return found


def recover(disk: Disk, ledger: Ledger, item: Stranded, older_than: int, say: Say) -> Closed:
    """Close a stranded episode: record, derivation, `session.recovered`, `session.closed`."""
    body = (f"Nobody closed this episode; `recover episodes` did. Its last sign of life was {item.last}, in {item.source}, "
            f"{item.age // 60} minutes before; the threshold is {older_than // 60} minutes.")
    own = Episodes(disk).mine()
    return close_episode(disk, ledger, item.episode, Closing("interrupted", body, recovered=True), say,
                         reason=f"silent since {item.last}", by=own.id if own else None)
