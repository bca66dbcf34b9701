"""`kb misses`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kb.app import App, open_app
from kb.cli.boundary import say
from kb.cli.missed import as_object, print_judged, print_report, print_totals
from kb.cli.options import as_json, everything, option, paths, top
from kb.cli.skipped import say_skipped
from kb.core.jsontext import dumps
from kb.errors import UsageError
from kb.ops.misses import MissReport
from kb.ops.misses import misses as read_misses

if TYPE_CHECKING:
    from kb.ops.gold import Question


@click.command()
@paths()
@everything()
@top("How many near files to show for each question; with --apply also how many questions to work on")
@as_json()
@click.option("--apply", "apply_", is_flag=True, help="Write the aliases that pass; only with --gold.")
@option("--gold", metavar="TSV", help="The gold file that every proposed alias is measured against.")
def misses(paths: tuple[str, ...], include_private: bool, top: int, json_: bool, apply_: bool, gold: str | None) -> None:
    """Read back what the library could not answer, most asked first, with the files that came near today.

    Proposes an alias line where one would help. --apply --gold measures every proposal in memory first, and writes only
    what makes a missed question answered and costs nothing in the gold file.
    """
    if apply_ and gold is None:
        raise UsageError("--apply needs --gold <tsv>", hint="an alias is only written after it was measured")
    if gold is not None and not apply_:
        raise UsageError("--gold belongs to --apply")
    app = open_app(paths, include_private)
    report = _read(app, top)
    rows = _gold(app, gold) if gold is not None and report.lost and not json_ else None
    if json_:
        click.echo(dumps(as_object(report)))
    else:
        print_report(report)
    say_skipped(report.skipped)
    for line in report.strays:
        say(line)
    if report.index_was_rebuilt:
        say("an index from before the private column was found; none of its text is served until kb index has run")
    if rows is not None:
        _apply(app, report, rows, top)


def _read(app: App, top: int) -> MissReport:
    """The log with what a search says of each row today, and a bar meanwhile."""
    from kb.cli.index import Progress

    progress = Progress(step=1)
    try:
        return read_misses(app, top, lambda done, total: progress.tick("asking again", done, total))
    finally:
        progress.finish()


def _gold(app: App, path: str) -> list[Question]:
    """The gold file's questions, and whatever else must hold before anything is printed. Raises UsageError."""
    from kb.cli.approval import ask_approval
    from kb.ops import gold as gold_files
    from kb.ops.models import require_trust

    rows = gold_files.read_gold(path)
    stale = gold_files.stale_answers(app, rows)
    if stale:
        raise UsageError(f"{path} is stale: {'; '.join(stale)}", hint="nothing was measured and nothing was written")
    if app.fleet.manifest.last("promoter") is not None:
        ask_approval(app, "promoter")
        require_trust(app, "promoter")
    return gold_files.questions(app, rows)


def _apply(app: App, report: MissReport, rows: list[Question], top: int) -> None:
    from kb.ops.alias_gate import apply_aliases

    judged = []
    for one in apply_aliases(app, report, rows, top):
        print_judged(one)
        if one.trouble:
            say(one.trouble)
        judged.append(one)
    print_totals(judged, app.fleet.manifest.last("promoter") is not None)
