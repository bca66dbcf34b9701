"""`kb list`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.options import as_json, everything, option, paths
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.ops.listing import Facets, list_files, row_text


@click.command("list")
@paths()
@option("--base", metavar="B", help="One base, by the name of its folder.")
@option("--folder", metavar="F", help="A folder inside its base, and everything under it.")
@option("--kind", metavar="K", help="memory, skills or tools, read from the first folder.")
@option("--stage", metavar="S", help="raw, captured, distilled or derived, read from the front matter.")
@option("--provenance", metavar="P", help="human, agent or external, read from the front matter.")
@as_json()
@everything()
def list_(paths: tuple[str, ...], base: str | None, folder: str | None, kind: str | None, stage: str | None,
          provenance: str | None, json_: bool, include_private: bool) -> None:
    """List what the shelves hold, narrowed by facet. Facets combine with AND; nothing is ranked.

    A value outside its set is an error that names the set, never an empty list.
    """
    app = open_app(paths, include_private)
    rows = list_files(app, Facets(base, folder, kind, stage, provenance))
    if json_:
        click.echo(dumps(rows))
        return
    for row in rows:
        click.echo(printable(row_text(row)))
    click.echo(f"\n{len(rows)} files")
    if not include_private:
        click.echo("  the private layer is not listed; --all includes it")
    for line in (*app.fleet.skipped, *app.catalogue.skipped):
        click.echo(f"kb: {printable(line)}", err=True)
