"""`history`, `context`, `doctor`, `watch` and `check`: what happened, where we stand, and whether all is well."""

from __future__ import annotations

import click

from kb_plugins.lifecycle.cli.frame import EXITS, as_json, leave, option, show, show_json, world
from kb_plugins.lifecycle.exits import DRIFT, INVALID
from kb_plugins.lifecycle.health import Finding


@click.command(epilog=EXITS)
@option("--task", metavar="ID", help="Only lines of this task.")
@option("--event", metavar="NAME", help="Only lines of this event.")
@option("--since", metavar="7d", help="Only newer lines: 90s, 30m, 12h, 7d, or an ISO 8601 time.")
@option("--limit", type=click.IntRange(min=1), default=20, metavar="N", help="The newest N. Default 20.")
@click.option("--all", "all_", is_flag=True, help="No limit.")
@click.option("--rotate", is_flag=True, help="Move the oldest lines over the policy's cap to an archive.")
@click.option("--validate", is_flag=True, help="Exit 10 when a line does not parse or names an unknown event.")
@click.option("--json", "json_", is_flag=True, help="Print the lines of the ledger as they stand: one JSON object each.")
def history(task: str | None, event: str | None, since: str | None, limit: int, all_: bool, rotate: bool, validate: bool,
            json_: bool) -> None:
    """Print the ledger, oldest first."""
    from kb_plugins.lifecycle import history as ledger_history

    wanted = ledger_history.Filter.of(task, event, since)
    disk, ledger = world()
    if rotate:
        said = ledger_history.rotate(disk, ledger)
        show_json(said.shown()) if json_ else show(said.text())
    elif validate:
        problems = ledger_history.problems(ledger)
        show_json({"schema": 1, "lines": len(ledger.lines), "problems": problems}) if json_ else show(
            [*problems, f"history: {len(ledger.lines)} line(s), {len(problems)} invalid"])
        if problems:
            leave(INVALID)
    else:
        found = ledger_history.matching(ledger, wanted, None if all_ else limit)
        if json_:
            for line, _ in found:
                click.echo(line.decode("utf-8", "replace").rstrip("\r"))
        else:
            show([ledger_history.row_text(row) for _, row in found] or "no matching events")


@click.command(epilog=EXITS)
@as_json()
def context(json_: bool) -> None:
    """Say where this checkout stands: episode, task, questions, the review queue, the outbox."""
    from kb_plugins.lifecycle.briefing import context as lines

    disk, ledger = world()
    said = lines(disk, ledger)
    show_json({"schema": 1, "lines": said}) if json_ else show(said)


@click.command(epilog=EXITS)
@as_json("Print each finding as a line of JSON.")
def doctor(json_: bool) -> None:
    """Examine the policy, the ledger, the records, the graph, the queue and the outbox. A warning fails no run."""
    from kb_plugins.lifecycle.health import doctor as examine

    disk, ledger = world()
    found = examine(disk, ledger)
    failures = _report(found, json_)
    if not json_:
        show(f"doctor: {failures} failure(s)")
    if failures:
        leave(INVALID)


@click.command(epilog=EXITS)
@as_json("Print each finding as a line of JSON.")
def watch(json_: bool) -> None:
    """Look for drift: a stopped writer, or a graph that broke."""
    from kb_plugins.lifecycle.health import watch as examine

    disk, ledger = world()
    drift = _report(examine(disk, ledger), json_)
    if not json_:
        show(f"watch: {drift} drift finding(s)")
    if drift:
        leave(DRIFT)


@click.command(epilog=EXITS)
@option("--rule", metavar="ID", help="Only this rule: majordomus.knowledge-integrity.")
@as_json("Print each finding as a line of JSON.")
def check(rule: str | None, json_: bool) -> None:
    """Enforce the integrity of the knowledge records."""
    from kb.api import UsageError
    from kb_plugins.lifecycle.health import check as examine

    if rule not in (None, "majordomus.knowledge-integrity"):
        raise UsageError(f"there is no rule {rule!r} for check", hint="majordomus.knowledge-integrity")
    disk, ledger = world()
    found = examine(disk, ledger)
    failing = _report(found, json_)
    if not json_:
        show(f"check: {len(found)} finding(s), {failing} failing")
    if failing:
        leave(INVALID)


def _report(found: list[Finding], json_: bool) -> int:
    """Print the findings, one a line; how many of them fail."""
    for finding in found:
        show_json(finding.shown()) if json_ else show(finding.text())
    return sum(finding.level in ("FAIL", "DRIFT") for finding in found)


