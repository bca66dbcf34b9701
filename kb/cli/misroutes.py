"""`kb misroutes`."""

from __future__ import annotations

import click

from kb.cli.boundary import say
from kb.cli.options import path, top
from kb.core.display import printable
from kb.ops import ledgers


@click.command()
@path()
@top("How many rows to show, times four")
def misroutes(path: str, top: int) -> None:
    """Read the misroutes back, most reported first: twenty rows, or four times N with --top N."""
    report = ledgers.misroutes(path)
    click.echo(f"log:      {printable(report.path)}")
    for line in report.strays:
        say(line)
    if not report.rows:
        click.echo("\nNo misroute was reported here. kb misroute <message> --chose <agent> --owner <agent> records one.")
        return
    click.echo(f"reported: {len(report.rows)} distinct, {ledgers.total(report.rows)} in total")
    for row in report.rows[:top * ledgers.ROWS_PER_TOP]:
        owner = "nobody" if row.owner == ledgers.NOBODY else row.owner
        dates = row.first if row.first == row.last else f"{row.first} to {row.last}"
        click.echo()
        click.echo(printable(f"  {row.times:>3}x  {row.chose} instead of {owner}  ({dates})"))
        click.echo(printable(f"        {row.message}"))
        if row.why:
            click.echo(printable(f"        why: {row.why}"))
