"""`kb init --adopt`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

import click

from kb.cli.skipped import gathered, say_skipped
from kb.core.display import printable
from kb.core.privacy import DEFAULT_FOLDERS
from kb.errors import KbError
from kb.ops.adopt import Adopted, KeyProposals, KeysWritten, adopt_folder, propose_keys, write_keys

_NAMED = 3  # of more notes than this, the first are named and the rest counted


def adopt(folder: str, keys: bool, yes: bool) -> None:
    """Add what a base needs; with `keys`, show a proposal for each keyless note and write it when a person confirms.

    Raises KbError when a note that should be written cannot be.
    """
    done = adopt_folder(folder)
    for file in done.created:
        click.echo(f"created {printable(file)}")
    if not done.created:
        click.echo(f"{printable(done.root)} is a base already")
    _show_private(done)
    if not keys:
        _show_next(done, printable(shlex.quote(folder)))
        return
    found = propose_keys(done.root)
    for proposal in found.proposals:
        click.echo(printable(proposal.diff, lines=True), nl=False)
    click.echo()
    _show_left(found)
    count = len(found.proposals)
    if not count:
        return
    here = sys.stdin is not None and sys.stdin.isatty()
    if not yes and not (here and click.confirm(f"Write {'this line' if count == 1 else f'these {count} lines'}?", err=True)):
        told = "1 line is proposed and is not written" if count == 1 else f"{count} lines are proposed and none is written"
        click.echo(f"{told}. Add --yes to write {'it' if count == 1 else 'them'} as shown.")
        return
    _show_written(write_keys(done.root, found.proposals))


def _show_private(done: Adopted) -> None:
    """What no question will find, before somebody looks for it: a private layer that nobody declared, or a whole one."""
    if not done.private:
        return
    notes = _notes(done.private)
    if not done.private_folders:
        click.echo(f"\n{notes} {_are(done.private)} private: neither listed nor searched without --all.")
        return
    others = [name for name in DEFAULT_FOLDERS if name not in done.private_folders]
    line = "private = " + ", ".join(f"{name}/" for name in others or ["nothing"])
    click.echo(f"\n{notes} in {_listed([f'{name}/' for name in done.private_folders])} {_are(done.private)} private until agent.txt says "
               f"otherwise: neither listed nor searched without --all. A line `{line}` in agent.txt opens what it does not name.")


def _show_next(done: Adopted, place: str) -> None:
    if done.keyless:
        has = "has" if done.keyless == 1 else "have"
        click.echo(f"\n{_notes(done.keyless)} {has} no Search for line, so no question is sure to find {_them(done.keyless)}.")
        click.echo(f"Next: kb init --adopt {place} --keys proposes one for each, as a diff, before anything is written.")
        click.echo(f"      kb index {place} makes their text searchable meanwhile, with kb route --hybrid.")
    else:
        click.echo("\nNo note in reach of a question is without a Search for line.")
        click.echo(f"Next: kb index {place}")


def _show_left(found: KeyProposals) -> None:
    """The notes without keys for which nothing can be proposed, and that there are none when there are none."""
    say_skipped(found.skipped)
    for paths, what in ((found.empty, "empty"), (found.wordless, "without a word that could be a key")):
        if paths:
            click.echo(f"{_notes(len(paths))} {_are(len(paths))} {what} and got no proposal: {_listed(paths)}")
    if found.unreadable:
        click.echo(f"{_notes(len(found.unreadable))} cannot be read and got no proposal: "
                   + "; ".join(printable(line) for line in gathered(f"{path}: {reason}" for path, reason in found.unreadable)))
    if not (found.proposals or found.empty or found.wordless or found.unreadable):
        click.echo("Every note has keys already." if found.keyed else "There is no note here that could be given keys.")


def _show_written(done: KeysWritten) -> None:
    """How it ended. Raises KbError when a note could not be written, after the count of those that were."""
    count = len(done.written)
    click.echo(f"wrote {count} key {'line' if count == 1 else 'lines'}." + (" Next: kb index, then ask with kb route." if count else ""))
    if done.changed:
        click.echo(f"{_notes(len(done.changed))} changed or went away since {'it was' if len(done.changed) == 1 else 'they were'} read, "
                   f"and {'was' if len(done.changed) == 1 else 'were'} left alone: {_listed(done.changed)}")
    if done.failed:
        reasons = gathered(f"{path}: {reason}" for path, reason in done.failed)
        raise KbError(f"{count} written, {len(done.failed)} could not be: " + "; ".join(reasons))


def _listed(names: Sequence[str]) -> str:
    """`a, b and c`; of many the first three and how many more there are."""
    shown = [printable(name) for name in names]
    if len(shown) > _NAMED:
        return f"{', '.join(shown[:_NAMED])} and {len(shown) - _NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _notes(count: int) -> str:
    return "1 note" if count == 1 else f"{count} notes"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
