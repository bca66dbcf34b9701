"""`kb write`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.options import option
from kb.cli.standard_input import standard_input
from kb.core.display import printable
from kb.core.draft import NoteDraft
from kb.errors import KbError
from kb.ops.write import write_note


@click.command()
@click.argument("agent")
@click.argument("slug")
@click.argument("fleet_root", default=".")
@option("--keys", metavar="A,B", required=True, help="The words a question would use, separated by commas.")
@option("--summary", metavar="LINE", required=True, help="What the note is for, in one line.")
@option("--folder", metavar="F", default="knowledge", help="The folder inside the base. Default knowledge.")
@option("--provenance", metavar="P", default="agent", help="human, agent or external. Default agent.")
@option("--stage", metavar="S", default="derived", help="raw, captured, distilled or derived. Default derived.")
@option("--captured-from", metavar="PATH", help="The deposit that the note was distilled from.")
def write(agent: str, slug: str, fleet_root: str, keys: str, summary: str, folder: str, provenance: str, stage: str,
          captured_from: str | None) -> None:
    """Write the note on stdin into AGENT's base as SLUG.md, with its keys, and list it in the agent's map."""
    try:
        body = standard_input("the note").read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise KbError("the note on stdin is not UTF-8") from None
    draft = NoteDraft(agent, slug, [keys], summary, body, folder, provenance, stage, captured_from)
    done = write_note(open_app([fleet_root]), draft)
    click.echo(f"wrote {printable(done.note_file)}")
    click.echo(f"  listed in {printable(done.map_file)} under {printable(done.heading)}")
    if done.withheld:
        click.echo("  by its name alone: the note is private and the map is not")
    if done.dropped:
        click.echo(f"  left out {len(done.dropped)} that no question reaches: {printable(', '.join(done.dropped))}")
    if done.section_created:
        click.echo("  the section is new")
    click.echo("\nNext: kb index makes its text searchable (its keys already are);\n      kb check says what it still lacks.")
