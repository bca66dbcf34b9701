"""`kb source add`."""

from __future__ import annotations

import click

from kb.cli.options import option, path
from kb.core.display import printable
from kb.core.sources import STATUSES, TYPES, render_record
from kb.ops.source import add_source


@click.group()
def source() -> None:
    """Records of what was read. `kb source add --help` has the fields, `kb sources` lists the records."""


@source.command(short_help="Mint a source record and print its citation.")
@path()
@option("--type", "type_", metavar="T", help="One of " + ", ".join(TYPES) + ".  [required]")
@option("--title", metavar="X", help="The title of what was read.  [required]")
@option("--retrieved-on", metavar="DATE", help="The day it was read, YYYY-MM-DD.  [required]")
@option("--retrieval-status", metavar="S", help="How much was read: " + ", ".join(STATUSES) + ".  [required]")
@click.option("--author", "authors", metavar="A", multiple=True, help="Family, Given; once for each author.")
@option("--year", metavar="Y", help="The year it was published.")
@option("--container", metavar="C", help="The journal, book or site it stands in.")
@option("--volume", metavar="V", help="The volume, where the container has several.")
@option("--pages", metavar="P", help="The pages, such as 12-19.")
@option("--publisher", metavar="P", help="Who published it.")
@option("--url", metavar="U", help="Its address, http or https.")
@option("--doi", metavar="D", help="Its DOI, such as 10.1234/suffix.")
@option("--isbn", metavar="I", help="Its ISBN of ten or thirteen digits.")
@option("--lang", metavar="L", help="Its language.")
@option("--replaces", metavar="KEY", help="The record that this one supersedes; it stays in place.")
@option("--note", metavar="N", help="A remark.")
def add(path: str, type_: str | None, authors: tuple[str, ...], **fields: str | None) -> None:
    """Mint a source record in the base at PATH and print the line that a citing note must carry."""
    minted = add_source(path, {"type": type_, **fields}, authors)
    click.echo(f"wrote {printable(minted.file)}\n")
    click.echo(f"Cite it as [src:{minted.record.key}], and end the note with this line:")
    click.echo(f"- [src:{minted.record.key}] {printable(render_record(minted.record))}")
