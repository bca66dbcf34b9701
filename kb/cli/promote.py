"""`kb promote`: offer each inbox to the promoters."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.approval import ask_approval
from kb.cli.judged import watching
from kb.cli.options import everything, option, paths, top
from kb.cli.status import Status
from kb.core.display import printable
from kb.ops import promote as op
from kb.ops.judge import require_promoters
from kb.store.promotion_lock import WAIT, LockHeld


@click.command()
@paths()
@top("How many files of the library a reviewer sees beside each proposal")
@everything()
@click.option("--dry-run", is_flag=True, help="Ask every model and decide everything; write nothing.")
@option("--max", "most", type=click.IntRange(min=1), metavar="N", help="Stop after N proposals were admitted.")
@click.option("--lock", is_flag=True, help="Do not wait for another run that holds .kb-promote.lock; leave at once, exit 0.")
def promote(paths: tuple[str, ...], top: int, include_private: bool, dry_run: bool, most: int | None, lock: bool) -> None:
    """Offer what lies in each agent's inbox/ to two promoters: `promoter =` proposes notes, `reviewer =` is asked three
    questions about each, and only three accepts write. What was decided is remembered in kb-decided.txt.
    """
    app = open_app(paths, include_private)
    ask_approval(app, "promoter", "reviewer")
    require_promoters(app, "promote")
    if dry_run:
        click.echo("dry run: nothing was written and no refusal was recorded.\n")
    status = Status()
    try:
        done = op.promote(app, top=top, dry_run=dry_run, most=most, wait=0 if lock else WAIT,
                          watch=watching(status, "promote", dry_run=dry_run))
    except LockHeld as held:
        if not lock:
            raise
        click.echo(f"kb promote: {printable(held.message)} Nothing was read and nothing was written.")
        return
    finally:
        status.clear()
    click.echo(f"\n{len(done.judged)} proposal(s): {done.written} written, {done.refused} refused. {len(done.barren)} deposit "
               "file(s) held nothing.")
    if done.known:
        click.echo(f"{done.known} deposit file(s) were decided before and have not changed.")
    if done.refused and not dry_run:
        click.echo("Refusals are counted in kb-rejections.txt.")
    if done.capped:
        click.echo(f"Stopped at the cap of {most}. The rest of the deposit was not read and is still there.")
    if done.outages:
        click.get_current_context().exit(1)
