"""`kb index`: one line per base, the totals, and what no question can reach."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from kb.app import open_app
from kb.cli import options
from kb.cli.boundary import say
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.errors import ExitCode
from kb.ops.index import IndexReport, entries
from kb.ops.index import index as index_bases
from kb.store.sync import Synced

UNREACHABLE_SHOWN = 3
UNREADABLE_SHOWN = 8


@click.command("index")
@options.paths()
@options.as_json("Print every entry as one line of JSON, and build nothing.")
@options.everything()
def index(paths: tuple[str, ...], json_: bool, include_private: bool) -> None:
    """Build the index of each base at BASE/.kb/ from its markdown. A file that did not change is not read again.

    A base that cannot be indexed is told, the others are, and the exit code is 1.
    """
    app = open_app(paths, include_private)
    if json_:
        click.echo(dumps(entries(app)))
        return
    progress = Progress()

    def told(base: Synced) -> None:
        progress.finish()
        _print_base(base)

    report = index_bases(app, progress.tick, told)
    _print_totals(report)
    for sentence in (*report.skipped, *report.failed):
        say(sentence)
    if report.failed:
        click.get_current_context().exit(ExitCode.FAILURE)


def _print_base(base: Synced) -> None:
    rebuilt = ", rebuilt: the old index was of another version or damaged" if base.rebuilt else ""
    click.echo(f"  {printable(base.base):<10} {base.reindexed} reindexed, {base.unchanged} unchanged, "
               f"{base.removed} removed, {base.chunks} chunks, {len(base.unreachable)} unreachable{rebuilt}")


def _print_totals(report: IndexReport) -> None:
    unreachable, unreadable = report.unreachable, report.unreadable
    click.echo(f"  total: {report.files} files, {report.chunks} chunks, {len(report.bases)} indexes, {len(unreachable)} "
               f"unreachable, {report.exempt} unsearchable by design, {len(unreadable)} unreadable")
    for path in unreachable[:UNREACHABLE_SHOWN]:
        click.echo(f"    {printable(path)}")
    if unreachable:
        if len(unreachable) > UNREACHABLE_SHOWN:
            click.echo(f"    ... and {len(unreachable) - UNREACHABLE_SHOWN} more")
        click.echo("    no question reaches these: they have no Search for line; kb check names each as E02")
    for path, reason in unreadable[:UNREADABLE_SHOWN]:
        click.echo(f"    unreadable: {printable(path)}: {printable(reason)}")
    if len(unreadable) > UNREADABLE_SHOWN:
        click.echo(f"    ... and {len(unreadable) - UNREADABLE_SHOWN} more unreadable files; kb check names each")


class Progress:
    """A bar on stderr for each base, shown once the work has taken `after` seconds, and only on a terminal.

    It moves with every `step` of what is done.
    """

    def __init__(self, after: float = 1.0, step: int = 32) -> None:
        self._step = step
        self._bar: Any = None
        self._start = time.monotonic() + after
        self._shown = sys.stderr.isatty()

    def tick(self, base: str, done: int, total: int) -> None:
        if not self._shown or (done % self._step and done != total):
            return
        if self._bar is None and time.monotonic() > self._start:
            self._bar = click.progressbar(length=total, label=f"  {printable(base)}", file=sys.stderr)
        if self._bar is not None:
            self._bar.update(done - self._bar.pos)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None
