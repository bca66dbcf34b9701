"""`recover ...`: what nobody closed is closed, derived and said."""

from __future__ import annotations

import click

from kb.api import UsageError
from kb_plugins.lifecycle import clock
from kb_plugins.lifecycle.cli.frame import EXITS, World, as_json, option, say, show, show_json, world
from kb_plugins.lifecycle.exits import INVALID, invalid

WHAT = ("status", "episodes", "records", "orphans", "all")


@click.command(epilog=EXITS)
@click.argument("what", type=click.Choice(WHAT), default="status", metavar="[status|episodes|records|orphans|all]")
@click.option("--check", is_flag=True, help="Only say what would be done; exit 10 when there is something.")
@option("--older-than", metavar="12h", help="How long an episode must have been silent: 90s, 30m, 12h, 7d.")
@as_json()
def recover(what: str, check: bool, older_than: str | None, json_: bool) -> None:
    """Close episodes that fell silent, and clear what a killed process left behind."""
    here = world()
    limit = _limit(here, older_than)
    done: list[str] = []
    look = check or what == "status"
    if what in ("status", "orphans", "all"):
        done += _orphans(here, look)
    if what in ("status", "episodes", "all"):
        done += _episodes(here, limit, look)
    if what in ("status", "records", "all"):
        done += _records(here, look)
    if json_:
        show_json({"schema": 1, "what": what, "done": [] if look else done, "found": done if look else []})
    else:
        show(done)
        show(f"recover {what}: {len(done)} {'found' if look else 'done'}")
    if check and done:
        click.get_current_context().exit(INVALID)


def _limit(here: World, older_than: str | None) -> int:
    from kb_plugins.lifecycle.policy import read_policy

    if older_than is not None:
        limit = clock.seconds(older_than)
        if limit is None:
            raise UsageError(f"{older_than!r} is no length of time", hint="90s, 30m, 12h or 7d")
        return limit
    stated = read_policy(here.disk).stranded_after
    if stated is None:
        raise invalid("the policy leaves session.stranded_after out", hint="add it, or give --older-than 12h")
    return stated


def _episodes(here: World, limit: int, look: bool) -> list[str]:
    from kb_plugins.lifecycle import sessions

    found = sessions.stranded(here.disk, here.ledger, limit)
    if look:
        return [f"episode {item.episode.id} is silent since {item.last}" for item in found]
    return [f"episode {item.episode.id} recovered: {sessions.recover(here.disk, here.ledger, item, limit, say).path}"
            for item in found]


def _orphans(here: World, look: bool) -> list[str]:
    """A pointer that points to nothing."""
    import os

    from kb_plugins.lifecycle import layout

    path = os.path.join(here.disk.root, layout.POINTER)
    if not os.path.islink(path) or os.path.exists(path):
        return []
    if not look:
        here.disk.remove(layout.POINTER)
    return [f"{layout.POINTER} points to no episode"]


def _records(here: World, look: bool) -> list[str]:
    """What a process that died in its last step left: an open file of a closed episode, the candidate of a promotion."""
    from kb_plugins.lifecycle.episodes import Episodes
    from kb_plugins.lifecycle.review import finish_promotion, half_promoted

    episodes = Episodes(here.disk)
    closed = {row.get("session") for row in here.ledger.of("session.closed")}
    left = [episode for episode in episodes.here() if episode.id in closed]
    if not look:
        for episode in left:
            episodes.end(episode)
    half = half_promoted(here.disk)
    if not look:
        for name in half:
            finish_promotion(here.disk, here.ledger, name)
    return [f"episode {episode.id} was closed, and its open file remained" for episode in left] + [
        f"{name} was promoted, and its candidate remained" for name in half]
