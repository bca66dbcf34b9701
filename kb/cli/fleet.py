"""`kb fleet`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.boundary import say
from kb.cli.options import everything, paths
from kb.ops.roster import roster_text


@click.command()
@paths()
@everything()
def fleet(paths: tuple[str, ...], include_private: bool) -> None:
    """Print the fleet's name and its agents, from fleet.txt and each agent.txt."""
    app = open_app(paths, include_private)
    click.echo(roster_text(app.fleet))
    for line in app.fleet.skipped:
        say(line)
