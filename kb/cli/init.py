"""`kb init`."""

from __future__ import annotations

import click

from kb.cli.adopting import adopt
from kb.cli.options import option
from kb.core.display import printable
from kb.errors import UsageError
from kb.ops.init import init_agent, init_person


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME] [FLEET-ROOT]")
@click.option("--person", is_flag=True, help="Make the person's base: private, and never the owner of a question.")
@option("--adopt", "folder", metavar="FOLDER", help="Make a folder of ordinary notes a base: adds what is missing, changes no note.")
@click.option("--keys", is_flag=True, help="With --adopt: show a key line for every note that has none, and write it once you agree.")
@click.option("--yes", is_flag=True, help="With --keys: write those lines into the notes without asking.")
def init(words: tuple[str, ...], person: bool, folder: str | None, keys: bool, yes: bool) -> None:
    """Make a base, in one of three ways.

    kb init NAME [FLEET-ROOT] makes the agent FLEET-ROOT/fleet/NAME; the root is the current folder when not given.
    kb init --person [FLEET-ROOT] makes fleet/person, the base of the person whom the agents serve.
    kb init --adopt FOLDER makes a base of a folder of notes that you have already.

    No git repository is needed, and none is made.
    """
    if folder is not None:
        if person or words:
            raise UsageError("--adopt takes a folder and no name")
        adopt(folder, keys, yes)
        return
    if keys or yes:
        raise UsageError("--keys and --yes go with --adopt")
    if person:
        if len(words) > 1:
            raise UsageError("--person takes a fleet root and no name")
        made = init_person(words[0] if words else ".")
        click.echo(f"wrote {printable(made.root)}")
        click.echo(f"  {made.files} files; without an agent.txt it can never be elected, and all of it is private")
        click.echo("\nNext: fill in core.md, which every agent's constitution carries.")
        return
    if not 1 <= len(words) <= 2:
        raise UsageError("kb init needs a name", hint="kb init <name> [fleet-root], kb init --person [fleet-root], "
                                                        "or kb init --adopt <folder> for notes that you have already")
    made = init_agent(words[0], words[1] if len(words) > 1 else ".")
    click.echo(f"created {printable(made.root)}")
    click.echo(f"  {made.files} files and directories")
    click.echo("  no repository is needed, and none was made")
    click.echo("\nNext: say in agent.txt what this agent does (role = ...), then fill in index.md.")
