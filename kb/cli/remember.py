"""`kb remember`."""

from __future__ import annotations

import textwrap

import click

from kb.app import open_app
from kb.cli.options import as_json, everything, paths
from kb.cli.skipped import say_skipped
from kb.core.display import flat, printable
from kb.core.jsontext import dumps
from kb.errors import KbError
from kb.ops.remember import Remembered
from kb.ops.remember import remember as measure


@click.command()
@click.argument("claim")
@paths()
@everything()
@as_json()
def remember(claim: str, paths: tuple[str, ...], include_private: bool, json_: bool) -> None:
    """Measure CLAIM against what the library holds and propose ADD, UPDATE or NOOP. It writes nothing."""
    try:
        found = measure(open_app(paths, include_private), claim)
    except KbError as error:
        if json_ and error.exit_code == 1:
            click.echo(dumps({"claim": claim, "error": str(error)}))
        raise
    say_skipped(found.skipped)
    if json_:
        click.echo(dumps(found.as_object()))
    else:
        _print(found)


def _print(found: Remembered) -> None:
    click.echo(f"claim: {printable(flat(found.claim))}\nproposal: {found.proposal}\nreason: {found.reason}\n")
    if not found.evidence:
        click.echo("  nothing in the library overlaps with it")
    else:
        click.echo("evidence, closest first:")
    for item in found.evidence:
        click.echo(f"\n  {item.containment:.2f} contained  {printable(f'{item.base}/{item.path}  {item.heading_path}')}")
        click.echo(f"    shared: {printable(', '.join(item.shared) or '-')}")
        click.echo(f"    new:    {printable(', '.join(item.missing) or '-')}")
        click.echo(f"    {printable(flat(item.excerpt))}")
    click.echo("\n---")
    click.echo("\n".join(textwrap.wrap(found.notice, 88)))
