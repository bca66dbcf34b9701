"""`kb answer --complete` on a terminal: the plan, the pace and what came of it."""

from __future__ import annotations

import click

from kb.cli.boundary import say
from kb.cli.cited import say_citations
from kb.core.display import printable
from kb.core.triad import ABSTENTION
from kb.ops.answer import Complete, Progress


def progress() -> Progress:
    """The plan on stdout before the first call, each batch on stderr."""
    def plan(files: int, batches: int, calls: int) -> None:
        click.echo(f"complete search: reading all {files} files in {batches} batch(es), {calls} model call(s) total.")
        click.echo("This is the slow mode; how long it takes is told after the first batch.")

    def batch(number: int, batches: int, seconds: float) -> None:
        if number == 1 and batches > 1:
            minutes = seconds * (batches + 1) / 60
            pace = f"at that pace the whole read is ~{minutes:.1f} min"
            click.echo(f"  batch 1/{batches} took {seconds:.1f}s; {pace}", err=True)
        else:
            click.echo(f"  batch {number}/{batches} done in {seconds:.1f}s", err=True)

    def failed(number: int, batches: int, why: str) -> None:
        click.echo(f"  batch {number}/{batches} gave nothing: {printable(why)}\n  its files were not read", err=True)

    return Progress(plan, batch, failed)


def show_complete(done: Complete) -> None:
    """The answer with its price; or the facts on stderr and exit 1 when the last call failed."""
    if done.files == 0 and not done.problem:
        click.echo("There is no keyed file in scope to read.")
    elif done.reply is not None:
        click.echo(f"\n{printable(done.reply, lines=True)}\n")
        click.echo(f"mode: complete | read {done.files} files in {done.calls} model calls | {done.seconds:.1f}s total")
        say_citations(done.unserved)
    elif done.problem:
        say(done.problem)
        for fact in done.facts:
            click.echo(printable(fact), err=True)
        click.get_current_context().exit(1)
    else:
        click.echo(f"\nNot one file of the library mentions it.\n{ABSTENTION}")
