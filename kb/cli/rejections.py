"""`kb rejections`."""

from __future__ import annotations

import click

from kb.cli.boundary import say
from kb.cli.options import as_json, option, paths, top
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.ops import ledgers


@click.command()
@paths()
@top("How many rows to show, times four; --json prints all")
@option("--agent", help="Only what was proposed to this agent.")
@option("--lens", help="Only what this lens refused: contradiction, duplication, scope.")
@as_json()
def rejections(paths: tuple[str, ...], top: int, agent: str | None, lens: str | None, json_: bool) -> None:
    """Read back the notes that promotion refused, most refused first: twenty rows, or four times N with --top N.

    A note that is refused again and again is a gap in the base rather than a bad proposal.
    """
    report = ledgers.rejections(paths[0], agent, lens)
    for line in report.strays:
        say(line)
    if json_:
        click.echo(dumps([{"agent": row.agent, "count": row.times, "first_seen": row.first, "last_seen": row.last,
                           "lens": row.lens, "reason": row.reason, "slug": row.slug} for row in report.rows]))
        return
    click.echo(f"log:      {printable(report.path)}")
    if not report.rows:
        click.echo("\nNo refused proposals are recorded here." if agent is None and lens is None
                   else "\nNo refused proposals are recorded for that agent and lens.")
        return
    click.echo(f"refused:  {len(report.rows)} distinct, {ledgers.total(report.rows)} in total")
    for row in report.rows[:top * ledgers.ROWS_PER_TOP]:
        click.echo(printable(f"  {row.times:>3}x  {row.agent}/{row.slug} ({row.lens}, {row.first} to {row.last})"))
        click.echo(printable(f"        why: {row.reason}"))
