"""`kb consolidate`: look for what several past sessions have in common."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.approval import ask_approval
from kb.cli.judged import watching
from kb.cli.options import as_json, option, path, top
from kb.cli.status import Status
from kb.core.display import flat, printable
from kb.core.jsontext import dumps
from kb.ops import consolidate as op


@click.command()
@click.argument("agent")
@path()
@option("--sessions", type=click.IntRange(min=1), default=5, metavar="N", help="How many past sessions to compare. Default 5.")
@top("How many files of the library a reviewer sees beside each proposal")
@click.option("--dry-run", is_flag=True, help="Ask every model and decide everything; write nothing.")
@as_json()
def consolidate(agent: str, path: str, sessions: int, top: int, dry_run: bool, json_: bool) -> None:
    """Compare the records of AGENT's past sessions side by side (handoffs and captured deposits) for what recurs.

    A pattern has to cite two sessions that exist before any reviewer is asked; then it is judged as in kb promote.
    """
    app = open_app([path])
    ask_approval(app, "promoter", "reviewer")
    status = Status()
    watch = watching(status, "consolidate", dry_run=dry_run, quiet=True)
    try:
        done = op.consolidate(app, agent, sessions=sessions, top=top, dry_run=dry_run, watch=watch)
    finally:
        status.clear()
    if json_:
        click.echo(dumps(op.as_object(done)))
    else:
        _show(done, dry_run)


def _show(done: op.Consolidation, dry_run: bool) -> None:
    from kb.cli.judged import show_judged

    if dry_run:
        click.echo("dry run: nothing was written and no refusal was recorded.\n")
    click.echo(f"consolidate {printable(done.agent)}: consulted {len(done.sessions)} session(s), generated {done.proposed} "
               "candidate(s).")
    if len(done.sessions) < op.LEAST:
        click.echo(f"A pattern takes {op.LEAST} recorded sessions (kb handoff save, kb capture), so no model was asked.")
    if done.decided_on:
        click.echo(f"These very sessions were compared on {done.decided_on} (see kb-decided.txt), so no model was asked.")
    for slug, reason in done.rejected:
        click.echo(f"  rejected proposal {printable(flat(slug))}: {printable(flat(reason))}")
    for one in done.judged:
        show_judged(one, dry_run)
    click.echo(f"\n{len(done.judged)} proposal(s) evaluated: {done.written} written, {done.refused} refused.")
