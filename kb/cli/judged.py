"""What promote, ingest and consolidate print about each proposal, as it is decided."""

from __future__ import annotations

import click

from kb.cli.boundary import say
from kb.cli.status import Status
from kb.core.display import flat, printable
from kb.ops.judge import Judged, Watch


def watching(status: Status, verb: str, *, dry_run: bool, quiet: bool = False) -> Watch:
    """A watch that prints each decision at once, so that an interrupted run has told what it did."""

    def judged(one: Judged) -> None:
        status.clear()
        if not quiet:
            show_judged(one, dry_run)

    def barren(source: str) -> None:
        status.clear()
        if not quiet:
            click.echo(f"  nothing worth keeping in {printable(source)}")

    def outage(sentence: str) -> None:
        status.clear()
        say(f"{verb}: {flat(sentence)}; nothing was written for it, and it stays open")

    def note(sentence: str) -> None:
        status.clear()
        say(f"{verb}: {flat(sentence)}")

    return Watch(status.show, judged, barren, outage, note)


def show_judged(one: Judged, dry_run: bool) -> None:
    """One decision: what was written and where, or which lens refused it and why."""
    proposal = one.proposal
    name = printable(f"{proposal.agent}/{flat(proposal.slug)}")
    if one.accepted and dry_run and not one.written:
        click.echo(f"  would write {name}")
    elif one.accepted:
        click.echo(f"  wrote   {name}" + (" (by an earlier run)" if one.earlier else ""))
        click.echo(f"          {printable(one.written)}")
    else:
        click.echo(f"  refused {name}")
        for review in one.reviews:
            if not review.accept:
                click.echo(f"          {review.lens} says: {printable(flat(review.reason))}")
    if one.dropped:
        click.echo(f"          {name}: dropped unreachable key(s) {printable(', '.join(one.dropped))}")
    click.echo(f"          from {printable(proposal.source)}")
