"""`kb ingest`: a document becomes notes in one step."""

from __future__ import annotations

import os

import click

from kb.app import open_app
from kb.cli.approval import ask_approval
from kb.cli.boundary import say
from kb.cli.judged import watching
from kb.cli.options import everything, option, paths, top
from kb.cli.status import Status
from kb.core.display import printable
from kb.ops import ingest as op
from kb.ops.extract import adapter_for
from kb.store.deposits import Staged


@click.command()
@click.argument("file")
@paths()
@option("--agent", metavar="NAME", help="Whose document it is, instead of the agent that the router picks.")
@click.option("--keep", is_flag=True, help="Copy the document into the deposit and leave it alone.")
@click.option("--dry-run", is_flag=True, help="Read the document and choose its owner; move nothing, ask no model.")
@top()
@everything()
def ingest(file: str, paths: tuple[str, ...], agent: str | None, keep: bool, dry_run: bool, top: int,
           include_private: bool) -> None:
    """Turn the document FILE into notes: move it into its owner's inbox, take its text (tools/extract/<ext>.cmd of the
    fleet, or a built-in reader), and offer that to the promoters. Once a note holds it, the document is removed; a
    document that produced no note never is.
    """
    app = open_app(paths, include_private)
    adapter = adapter_for(app.fleet.root, os.path.realpath(file))
    ask_approval(app, "promoter", "reviewer", *([adapter] if adapter else []))
    plan = op.plan(app, file, agent=agent, top=top)
    if plan.owner is not None:
        owner = plan.owner
        lead = f"{owner.margin:.2f}x over the runner-up" if owner.contenders > 1 else "no other"
        click.echo(f"routed to {printable(owner.name)} (score {owner.score:.1f}, {lead}, {owner.contenders} agent(s) scored)")
    if dry_run:
        click.echo(f"dry run: {printable(file)} would be staged into {printable(plan.base.name)}/inbox and distilled there. "
                   "Nothing moved.")
        return
    status = Status()
    place: list[Staged] = []

    def staged(found: Staged) -> None:
        place.append(found)
        click.echo(f"staged  {printable(found.deposit.path)}" + (" (by an earlier run)" if plan.earlier else ""))
        click.echo(f"        original at {printable(found.raw)}")

    try:
        done = op.ingest(app, plan, keep=keep, top=top, watch=watching(status, "ingest", dry_run=False), staged=staged)
    except KeyboardInterrupt:
        status.clear()
        if place:
            say(f"ingest: the document is at {place[0].raw}; the same line again goes on from here")
        raise
    finally:
        status.clear()
    _show(done)


def _show(done: op.Ingested) -> None:
    for path in done.removed:
        click.echo(f"removed {printable(path)}")
    if not done.kept:
        click.echo(f"\n{done.promotion.written} note(s) written. The document is gone; its notes name where it came from.")
        return
    click.echo(f"\nkept: {printable(done.kept)}.")
    click.echo(f"      the document is at {printable(done.staged.raw)}")
    click.echo(f"      its text is at     {printable(done.staged.deposit.path)}")
    if not done.asked_to_keep:
        click.get_current_context().exit(1)
