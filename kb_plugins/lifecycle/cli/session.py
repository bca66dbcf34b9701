"""`session ...`: open an episode, close it, look at the open and the closed ones, and the provider's hook."""

from __future__ import annotations

from typing import Any

import click

from kb.api import KbError
from kb_plugins.lifecycle.cli.frame import as_json, body_of_stdin, group, option, say, show, show_json, world
from kb_plugins.lifecycle.exits import ABSENT, absent

session = group("session", "Episodes of work: opened, closed, recovered; each leaves a record.", targets={
    "recover": ("kb_plugins.lifecycle.cli.recover:recover", "close episodes that nobody closed"),
    "context": ("kb_plugins.lifecycle.cli.state:context", "say where this checkout stands"),
})


@session.command()
@option("--owner", default="", metavar="NAME", help="Who works. Default: git's user.")
@option("--worker", default="", metavar="NAME", help="What works for the owner, such as a model.")
@option("--if-open", type=click.Choice(["refuse", "keep"]), default="refuse", help="What to do when one is open.")
@option("--provider", default="", metavar="NAME", help="The program that draws the boundaries.")
@option("--provider-session", default="", metavar="ID", help="Its own id of the session.")
@as_json()
def start(owner: str, worker: str, if_open: str, provider: str, provider_session: str, json_: bool) -> None:
    """Open an episode."""
    from kb_plugins.lifecycle.episodes import Episodes

    disk, ledger = world()
    episode, new = Episodes(disk).start(ledger, owner=owner, worker=worker, provider=provider,
                                        provider_session=provider_session, keep=if_open == "keep")
    if json_:
        show_json({"schema": 1, "session_id": episode.id, "started_at": episode.started_at, "opened": new})
    elif new:
        show(f"session {episode.id} opened at {episode.started_at} (head {disk.checkout.head[:7]})")
    else:
        show(f"session {episode.id} is kept, open since {episode.started_at}")


@session.command()
@option("--outcome", type=click.Choice(["closed", "interrupted"]), default="closed", help="How it ended.")
@option("--if-none", type=click.Choice(["refuse", "ignore"]), default="refuse", help="What to do when none is open.")
@option("--provider-session", metavar="ID", help="Close this provider's session, and no other.")
@as_json()
def close(outcome: str, if_none: str, provider_session: str | None, json_: bool) -> None:
    """Close the open episode and print the path of its record.

    What is piped in becomes the summary of the record; without a pipe there is none. Then the candidates are derived.
    """
    from kb_plugins.lifecycle.sessions import close as act

    disk, ledger = world()
    body = body_of_stdin(wait=1.0).decode("utf-8-sig", "replace")
    try:
        closed = act(disk, ledger, say, outcome=outcome, body=body, provider_session=provider_session)
    except KbError as error:
        if error.exit_code == ABSENT and if_none == "ignore":
            say(f"session close: {error.message}")
            if json_:
                show_json({"schema": 1, "session_id": None, "path": None, "derived": False})
            return
        raise
    if json_:
        show_json({"schema": 1, "session_id": closed.episode, "path": closed.path, "derived": not closed.failure})
    else:
        show(closed.path)


@session.command()
@as_json()
def status(json_: bool) -> None:
    """Show the episode that is open here, and others beside it."""
    from kb_plugins.lifecycle.episodes import Episodes

    disk, _ = world()
    episodes = Episodes(disk)
    own = episodes.mine()
    others = [episode for episode in episodes.all() if own is None or episode.key != own.key]
    if json_:
        show_json({"schema": 1, "open": own.shown() if own else None, "others": [other.shown() for other in others]})
        return
    show(f"open      {own.id}  since {own.started_at}  on {own.fields.get('branch', '-')}" if own else "open      none")
    show(f"{'foreign' if other.foreign else 'other':<9} {other.id}  since {other.started_at}  "
         f"{other.fields.get('worktree', '') if other.foreign else other.fields.get('provider', 'hand')}" for other in others)


@session.command("list")
@as_json()
def list_(json_: bool) -> None:
    """List the session records of this tree, oldest first."""
    records = _records()
    if json_:
        show_json({"schema": 1, "sessions": [_row(path, fields) for path, fields in records]})
        return
    show("  ".join(str(value) for value in _row(path, fields).values()) for path, fields in records)
    show(f"session list: {len(records)} record(s)")


@session.command("show")
@click.argument("id_", metavar="ID")
@as_json()
def show_(id_: str, json_: bool) -> None:
    """Print one session record."""
    _print([(path, fields) for path, fields in _records() if fields.get("session_id") == id_], id_, json_)


@session.command()
@as_json()
def latest(json_: bool) -> None:
    """Print the newest session record."""
    _print(_records()[-1:], "latest", json_)


class HookCommand(click.Command):
    """A command that a provider runs: whatever is wrong with its words, it ends with 0."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            say(f"session hook: {error.format_message()}")
            ctx.exit(0)


@session.command(cls=HookCommand)
@option("--provider", required=True, metavar="NAME", help="The program whose boundary this is.")
@option("--event", required=True, type=click.Choice(["start", "end", "compact"]), help="Which boundary.")
def hook(provider: str, event: str) -> None:
    """Draw a provider's boundary; its payload comes on stdin as JSON. Always ends with 0."""
    fire(provider, event)


def fire(provider: str, event: str) -> None:
    """The hook itself: every failure is told, and none leaves this function.

    Silent inside a model that kb itself runs: its session is no episode of anybody's work.
    """
    import os

    from kb_plugins.lifecycle import hooks

    if os.environ.get("KB_INSIDE_MODEL"):
        return
    try:
        text = hooks.read_payload()
        disk, ledger = world()
        payload = hooks.payload_of(text)
        boundary = hooks.Boundary(disk, ledger, provider, event, payload or {}, say, show)
        if payload is None and text.strip():
            boundary.fail("the payload is no JSON object")
        boundary.fire()
    except (KbError, OSError) as error:
        say(f"session hook: {event}: {error}")


def _records() -> list[tuple[str, dict[str, object]]]:
    from kb_plugins.lifecycle.session_records import read_session_records

    disk, _ = world()
    return sorted(read_session_records(disk), key=lambda item: (str(item[1].get("closed_at", "")), item[0]))


def _row(path: str, fields: dict[str, object]) -> dict[str, Any]:
    return {**{key: fields.get(key, "") for key in ("session_id", "closed_at", "outcome", "branch")}, "path": path}


def _print(found: list[tuple[str, dict[str, object]]], name: str, json_: bool) -> None:
    if not found:
        raise absent(f"there is no session record {name}", hint="session list shows them")
    disk, _ = world()
    path, fields = found[0]
    if json_:
        show_json({"schema": 1, "path": path, **fields})
    else:
        show((disk.text(path) or "").split("\n"))


