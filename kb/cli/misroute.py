"""`kb misroute`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.options import option, path
from kb.core.display import printable
from kb.core.logrows import MISROUTES
from kb.ops import ledgers
from kb.store.fleet import fleet_root
from kb.store.logs import log_path


@click.command()
@click.argument("message")
@path()
@option("--chose", required=True, metavar="AGENT", help="The agent that the router gave the message to.")
@option("--owner", required=True, metavar="AGENT|none", help="The agent it belongs to, or none.")
@option("--why", default="", help="What makes it so, in your words.")
def misroute(message: str, path: str, chose: str, owner: str, why: str) -> None:
    """Record that MESSAGE went to one agent and belongs to another.

    Evidence, never an edit: no base is touched, and nothing is decided about who was right.
    """
    app = open_app([fleet_root(path)], include_private=True)
    row = ledgers.misroute(app, message, chose, owner, why or "")
    right = "nobody" if row.owner == ledgers.NOBODY else row.owner
    click.echo(printable(f"recorded: it went to {row.chose} and belongs to {right}"))
    click.echo(f"log:      {printable(log_path(app.fleet.root, MISROUTES))}")
    click.echo("This is evidence and not a fix: kb misroutes shows which agents keep being mistaken for each other.")
