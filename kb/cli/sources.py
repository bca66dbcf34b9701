"""`kb sources`."""

from __future__ import annotations

import os

import click

from kb.app import open_app
from kb.cli.boundary import say
from kb.cli.options import as_json, everything, paths
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.core.sources import as_csl, render_record
from kb.ops.source import list_sources


@click.command()
@paths()
@as_json()
@everything()
@click.pass_context
def sources(ctx: click.Context, paths: tuple[str, ...], json_: bool, include_private: bool) -> None:
    """List what each base has read, one rendered line per record, or export it as CSL JSON."""
    found = list_sources(open_app(paths, include_private))
    if json_:
        click.echo(dumps([as_csl(record) for record in found.records]))
    elif not found.records:
        click.echo("no source records: kb source add mints one")
    else:
        for record in found.records:
            click.echo(f"[src:{record.key}] {printable(render_record(record))}")
        click.echo(f"\n{len(found.records)} sources in {found.bases} base{'' if found.bases == 1 else 's'}")
    for root, broken in found.broken:
        say(f"{os.path.join(root, 'sources', broken.name)}: {broken.problem}")
    if found.broken:
        ctx.exit(1)
