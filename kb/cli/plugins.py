"""`kb plugins`: what is loaded, from which distribution, what failed and why."""

from __future__ import annotations

import click

from kb.app import shared_host
from kb.cli.boundary import say
from kb.cli.group import split_commands
from kb.cli.options import as_json
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.errors import PluginError


@click.command()
@as_json()
def plugins(json_: bool) -> None:
    """List every plugin: its name, its hooks, the distribution it came with, and what failed to load.

    KB_DISABLE_PLUGINS=a,b turns plugins off; KB_PLUGINS_ONLY=a,b keeps only those (`builtin` stands for ours).
    """
    host = shared_host(quiet=True)
    host.load_all()
    try:
        clashes = {plugin: f"kb_commands: it {told}" for plugin, told in split_commands()[1].items()}
    except PluginError as error:  # two of them clash: both are listed all the same
        clashes = {}
        say(str(error))
    failed = {failure.plugin: f"{failure.stage}: {failure.reason}" for failure in host.failures} | clashes
    rows = [{"name": p.name, "group": p.group, "value": p.value, "distribution": p.distribution, "version": p.version,
             "state": "failed" if p.name in failed else "off" if p.name in host.disabled else "on",
             "hooks": list(p.hooks or ()),
             "error": failed.get(p.name)}
            for p in host.plugins]
    if json_:
        click.echo(dumps(rows))
        return
    for row in rows:
        what = row["error"] or ", ".join(row["hooks"]) or row["group"]  # type: ignore[arg-type]
        click.echo(printable(f"{row['state']:<7} {row['name']:<24} {row['distribution']} {row['version']}  {what}"))
