"""`kb trust`: show and approve the commands that a fleet names."""

from __future__ import annotations

import os

import click

from kb.cli.options import path
from kb.core.display import printable
from kb.errors import UsageError


@click.command()
@path()
@click.option("--list", "list_", is_flag=True, help="List what was approved, of every fleet, and approve nothing.")
@click.option("--forget", is_flag=True, help="Take back what was approved for this fleet.")
def trust(path: str, list_: bool, forget: bool) -> None:
    """Show the commands that a fleet names and approve them.

    A fleet's commands and adapters arrive with a clone, so nothing runs them before a person said so. What is recorded
    is the command line and the bytes of the fleet's own files that it names: a change of either asks again. At a
    terminal this asks first; elsewhere it shows and records at once. A line that cannot run is not approved (exit 1).
    KB_TRUST=1 approves for one process.
    """
    from kb.ops import trust as op

    if list_ and forget:
        raise UsageError("--list and --forget do not go together")
    if list_:
        for row in op.approvals():
            click.echo(f"{row.day}  {printable(row.root)}  {printable(row.name)} = {printable(row.command)}")
    elif forget:
        _forget(path)
    else:
        _show_and_approve(path)


def _forget(path: str) -> None:
    from kb.ops import trust as op
    from kb.store.fleet import fleet_root

    root = fleet_root(path) if os.path.exists(path) else os.path.realpath(path)  # a fleet that is gone can be forgotten
    gone = op.forget(root)
    names = ": " + ", ".join(map(printable, gone)) if gone else ""
    click.echo(f"forgot {len(gone)} approval(s) of {printable(root)}{names}")


def _show_and_approve(path: str) -> None:
    from kb.app import open_app
    from kb.cli.approval import at_terminal, describe
    from kb.ops import trust as op

    app = open_app([path])
    shown = op.exhibits(app)
    if not shown:
        click.echo(f"{printable(app.fleet.root)} names no command and has no adapter: there is nothing to approve")
        return
    click.echo(printable(app.fleet.root))
    for exhibit in shown:
        click.echo(describe(exhibit) + ("\n      approved" if exhibit.approved else ""))
    left = [exhibit for exhibit in shown if not exhibit.approved]
    if not left:
        click.echo("all of it is approved")
        return
    broken = [exhibit.item.name for exhibit in left if exhibit.problem]
    what = "all of this" if not broken else "what can run"
    if len(broken) == len(left) or (at_terminal() and not click.confirm(f"Approve {what}?", default=False, err=True)):
        click.echo("nothing was approved")
        click.get_current_context().exit(1)
    op.approve(app, shown)
    click.echo(f"approved; take it back with: kb trust {printable(path)} --forget")
    if broken:
        click.echo(f"not approved, because it cannot run: {printable(', '.join(broken))}")
        click.get_current_context().exit(1)
