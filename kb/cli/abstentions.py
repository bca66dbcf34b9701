"""`kb abstentions`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.boundary import say
from kb.cli.options import everything, path, top
from kb.core.display import printable
from kb.core.logrows import ABSTENTIONS
from kb.ops import ledgers
from kb.store.fleet import fleet_root
from kb.store.logs import log_path


@click.command()
@path()
@top("How many subjects to show, times four")
@everything()
def abstentions(path: str, top: int, include_private: bool) -> None:
    """Read back the subjects that nobody owns, most frequent first, with what the agents scored then and score now.

    It shows twenty, or four times N with --top N.
    """
    click.echo(f"log:      {printable(log_path(fleet_root(path), ABSTENTIONS))}")
    app = open_app([fleet_root(path)], include_private)
    report = ledgers.abstentions(app)
    for line in report.strays:
        say(line)
    if not report.rows:
        click.echo("\nNo subject without an owner was recorded. kb boot records one when the classifier of fleet.txt\n"
                   "says that no agent covers a message; without a classifier there is nothing to record.")
        return
    click.echo(f"recorded: {len(report.rows)} distinct subject(s), {ledgers.total(report.rows)} abstention(s) in total")
    for row in report.rows[:top * ledgers.ROWS_PER_TOP]:
        dates = row.first if row.first == row.last else f"{row.first} to {row.last}"
        click.echo()
        click.echo(printable(f"  {row.times:>3}x  {row.coverage}  nearest: {row.nearest}  ({dates})"))
        click.echo(printable(f"        subject: {row.subject}"))
        click.echo(printable(f"        message: {row.message}"))
        if row.reason:
            click.echo(printable(f"        reason:  {row.reason}"))
        now = ", ".join(f"{agent} {score:.1f}" for agent, score in ledgers.scored_now(app, row))
        click.echo(printable(f"        scored then: {row.contenders or 'nothing'}"))
        click.echo(printable(f"        scored now:  {now or 'nothing'}"))
    click.echo("\nA subject that comes back is a gap: teach the nearest agent, or make one. An agent that scores now is a\n"
               "reason to look at its keys, and not a proof that it owns the subject.")
