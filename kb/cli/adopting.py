"""`kb init --adopt`."""

from __future__ import annotations

import shlex
import sys

import click

from kb.core.display import printable
from kb.ops.adopt import adopt_folder, propose_keys, write_keys


def adopt(folder: str, keys: bool, yes: bool) -> None:
    """Add what a base needs; with `keys`, show a proposal for each keyless note and write it when a person confirms."""
    done = adopt_folder(folder)
    for file in done.created:
        click.echo(f"created {printable(file)}")
    if not done.created:
        click.echo(f"{printable(done.root)} is a base already")
    if not keys:
        place = printable(shlex.quote(folder))
        click.echo(f"\n{done.keyless} notes have no Search for line, so no question is sure to find them.")
        click.echo(f"Next: kb init --adopt {place} --keys proposes one for each, as a diff, before anything is written.")
        click.echo(f"      kb index {place} makes their text searchable meanwhile.")
        return
    proposals = propose_keys(done.root)
    for proposal in proposals:
        click.echo(printable(proposal.diff, lines=True), nl=False)
    if not proposals:
        click.echo("\nEvery note has keys already.")
        return
    if not yes and not (sys.stdin.isatty() and click.confirm(f"\nWrite these {len(proposals)} lines?", err=True)):
        click.echo(f"\n{len(proposals)} lines are proposed and none is written. Add --yes to write them as shown.")
        return
    written = write_keys(done.root, proposals)
    click.echo(f"\nwrote {written} key lines. Next: kb index, then ask with kb route.")
    if written < len(proposals):
        click.echo(f"{len(proposals) - written} notes changed since they were read, and were left alone.")
