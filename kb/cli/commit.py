"""`kb commit`."""

from __future__ import annotations

import click

from kb.cli.options import option
from kb.core.display import printable
from kb.ops.commit import commit as commit_paths


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@option("-m", "message", required=True, metavar="MESSAGE", help="What changed, for a reader.")
def commit(paths: tuple[str, ...], message: str) -> None:
    """Commit exactly the paths named, and say what is still dirty. There is deliberately no flag that means everything."""
    done = commit_paths(paths, message)
    click.echo(f"committed {done.sha}")
    for file in done.files:
        click.echo(f"  {printable(file)}")
    if done.left:
        click.echo(f"\nleft untouched, still dirty ({len(done.left)}):")
        for path in done.left:
            click.echo(f"  {printable(path)}")
    else:
        click.echo("\nnothing else was dirty")
