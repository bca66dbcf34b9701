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
@option("--agent", metavar="NAME", help="The agent that gets the notes. Default: the one whose notes share most with the document.")
@click.option("--keep", is_flag=True, help="Work on a copy, and leave the document where it is.")
@click.option("--dry-run", is_flag=True, help="Read the document and name its owner; ask no model, move nothing.")
@top("How many files of the library a reviewer sees beside each proposal")
@everything()
def ingest(file: str, paths: tuple[str, ...], agent: str | None, keep: bool, dry_run: bool, top: int,
           include_private: bool) -> None:
    """Turn the document FILE into notes. It is moved out of its folder into its owner's inbox, its text is extracted
    (by tools/extract/<ext>.cmd of the fleet, or by a built-in reader), and the promoters decide on notes made of it.

    FILE ITSELF IS DELETED once a note holds what it says; --keep copies it and leaves the original alone. A document
    that produced no note is never deleted.
    """
    app = open_app(paths, include_private)
    adapter = adapter_for(app.fleet.root, os.path.realpath(file))
    ask_approval(app, "promoter", "reviewer", *([adapter] if adapter else []))
    plan = op.plan(app, file, agent=agent, keep=keep, top=top)
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
