"""The miss report on a terminal and as JSON, and what became of proposed aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kb.core.display import printable
from kb.ops.misses import Lost, MissReport, Near

if TYPE_CHECKING:
    from kb.ops.alias_gate import Judged

_KEYS_SHOWN = 8


def print_report(report: MissReport) -> None:
    click.echo(f"log:      {printable(report.log)}")
    click.echo(f"indexed:  {report.entries} entries across {report.agents} agents, floor {report.floor:.2f}")
    if not report.lost:
        click.echo("\nNothing has been missed here, or the log is kept elsewhere.\n"
                   "KB_MISSES_PATH names the log when it is set.")
        return
    click.echo(f"lost:     {len(report.lost)} distinct questions, {report.asks} asks")
    for one in report.lost:
        _print_lost(one, report.floor)
    click.echo("\nA file at keyword 0.00 holds the words in its text and not on its Search for line: an alias or\n"
               "another key mends that, another note does not. kb misses --apply --gold <tsv> measures the\n"
               "proposals and writes the ones that help and cost nothing.")


def _print_lost(one: Lost, floor: float) -> None:
    row = one.row
    dates = row.first if row.first == row.last else f"{row.first} to {row.last}"
    click.echo(f"\n  {row.times:>3}x  {printable(f'{dates}  {row.question}')}")
    if row.looked_like:
        click.echo(f"        looked like: {printable(', '.join(row.looked_like))}")
    if one.verdict == "hit":
        click.echo("        answered today: its best file clears the floor")
    elif not one.near:
        click.echo("        neither scorer ranked a file for it today")
    if one.near:
        click.echo(f"        under this corpus floor of {floor:.2f} today:")
    for file in one.near:
        title = f"  {file.title}" if file.title else ""
        click.echo(printable(f"          {file.base}/{file.path}  keyword {file.keyword_score:.2f}  "
                             f"{' + '.join(file.why)}{title}"))
        click.echo(f"            keys: {printable(_keys(file))}")
    if one.proposal:
        click.echo(f"        proposed: {printable(f'{one.proposal.base}: {one.proposal.line}')}")
        click.echo(f"                  {printable(one.proposal.why)}")


def _keys(file: Near) -> str:
    if not file.keys:
        return "none: the file has no Search for line, so no question reaches it by keys"
    more = len(file.keys) - _KEYS_SHOWN
    return ", ".join(file.keys[:_KEYS_SHOWN]) + (f", and {more} more" if more > 0 else "")


def as_object(report: MissReport) -> dict[str, Any]:
    """The report as JSON has it: keys in alphabetical order, every key of a near file."""
    return {
        "exists": report.exists,
        "floor": report.floor,
        "indexed": {"agents": report.agents, "entries": report.entries},
        "log": report.log,
        "misses": [{
            "count": one.row.times,
            "first": one.row.first,
            "last": one.row.last,
            "looked_like": one.row.looked_like,
            "near": [{"base": file.base, "keys": file.keys, "keyword_score": file.keyword_score, "path": file.path,
                      "title": file.title, "why": file.why} for file in one.near],
            "proposed": None if one.proposal is None else {
                "alias": one.proposal.alias, "base": one.proposal.base, "canonical": one.proposal.canonical,
                "why": one.proposal.why},
            "question": one.row.question,
        } for one in report.lost],
        "total_asks": report.asks,
        "total_questions": len(report.lost),
    }


def print_judged(judged: Judged) -> None:
    """What became of the proposals for one question."""
    click.echo(f"\n  {printable(judged.question)}")
    if not judged.outcomes:
        click.echo("    answered today, so there is nothing to mend" if judged.answered else "    nothing proposed")
    for outcome in judged.outcomes:
        line = printable(f"{outcome.proposal.base}: {outcome.proposal.line}")
        if outcome.path:
            click.echo(f"    ADMITTED  {line}\n              {outcome.before}\n           -> {outcome.after}\n"
                       f"              written to {printable(outcome.path)}")
        else:
            click.echo(f"    refused   {line}\n              {printable(outcome.reason)}")


def print_totals(judged: Sequence[Judged], asked: bool) -> None:
    """The counts of one run. `asked`: whether a promoter was."""
    outcomes = [outcome for one in judged for outcome in one.outcomes]
    admitted = sum(1 for outcome in outcomes if outcome.path)
    click.echo(f"\n  proposed {len(outcomes)}, admitted {admitted}, refused {len(outcomes) - admitted}")
    if asked:
        click.echo(f"  proposer: declined {sum(one.declined for one in judged)}, silent {sum(one.silent for one in judged)}, "
                   f"unparseable lines {sum(one.dropped for one in judged)}")
    if admitted:
        click.echo("  Read the lines that were written: a gold file guards only the questions that it holds.")
    elif outcomes:
        click.echo("  Refusals are counted in kb-alias-rejections.txt.")
