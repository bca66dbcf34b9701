"""`kb source add`."""

from __future__ import annotations

import click

from kb.cli.options import option, path
from kb.core.display import printable
from kb.core.sources import STATUSES, TYPES, render_record
from kb.ops.source import add_source


@click.group()
def source() -> None:
    """Records of what was read: `kb source add` mints one."""


@source.command()
@path()
@option("--type", "type_", metavar="T", help="One of " + ", ".join(TYPES) + ".")
@option("--title", metavar="X", help="The title of what was read.")
@option("--retrieved-on", metavar="DATE", help="The day it was read, YYYY-MM-DD.")
@option("--retrieval-status", metavar="S", help="One of " + ", ".join(STATUSES) + ". It cannot be left out.")
@click.option("--author", "authors", metavar="A", multiple=True, help="Family, Given; once for each author.")
@option("--year", metavar="Y")
@option("--container", metavar="C", help="The journal, book or site it stands in.")
@option("--volume", metavar="V")
@option("--pages", metavar="P")
@option("--publisher", metavar="P")
@option("--url", metavar="U")
@option("--doi", metavar="D")
@option("--isbn", metavar="I")
@option("--lang", metavar="L")
@option("--replaces", metavar="KEY", help="The record that this one supersedes; it stays in place.")
@option("--note", metavar="N")
def add(path: str, type_: str | None, authors: tuple[str, ...], **fields: str | None) -> None:
    """Mint a source record in the base at PATH and print the line that a citing note must carry."""
    minted = add_source(path, {"type": type_, **fields}, authors)
    click.echo(f"wrote {printable(minted.file)}\n")
    click.echo(f"Cite it as [src:{minted.record.key}], and end the note with this line:")
    click.echo(f"- [src:{minted.record.key}] {printable(render_record(minted.record))}")
