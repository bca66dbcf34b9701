"""Rounds on a terminal and as JSON."""

from __future__ import annotations

import shlex
from typing import Any

import click

from kb.core.briefing import first_clause
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.core.rounds import Round, markdown
from kb.ops.panel import ASK, Ledger, Opened, Proposed, Recorded

_ROLE, _ENDS = 100, 150


def print_proposed(made: Proposed, json_: bool) -> None:
    if json_:
        click.echo(dumps({"artifact": made.artifact, "owner": made.owner, "artifact_tokens": made.artifact_tokens or 0,
                          "candidates": [{"agent": one.agent.name, "score": one.score, "tokens": one.tokens}
                                         for one in made.candidates]}))
        return
    click.echo(f"proposed, and not opened: {printable(made.artifact)}, owned by {printable(made.owner)}")
    if made.artifact_tokens is None:
        click.echo("artifact: no readable text file, so reading it is not priced")
    else:
        click.echo(f"artifact: {made.size} bytes, ~{made.artifact_tokens} tokens for each reviewer")
    for one in made.candidates:
        score = "unranked" if one.score is None else f"{one.score:.2f}"
        price = "no blocks.txt, so it cannot be seated" if one.tokens is None else f"~{one.tokens} tokens"
        click.echo(f"\n  {printable(one.agent.name):<12} {score:>9}  {price}")
        if one.agent.role:
            click.echo(f"      owns:     {first_clause(one.agent.role, _ROLE)}")
        if one.agent.ends:
            click.echo(f"      stops at: {first_clause(one.agent.ends, _ENDS)}")
    click.echo(f"\nChoose, and open it: {_command(made.artifact, f'--owner {made.owner} --reviewer <agent> ...')}")


def print_opened(made: Opened, json_: bool) -> None:
    if json_:
        click.echo(dumps({
            "artifact": made.artifact, "owner": made.owner, "seated": made.seated, "panel": made.panel,
            "cost": {"boot": made.boot, "reading": made.reading, "total": made.boot + made.reading,
                     "reviewers": len(made.panel), "artifact_tokens": made.artifact_tokens},
            "ask": ASK, "log": made.log}))
        return
    seated = f"{', '.join(made.seated)} joined" if made.seated else "nobody new was seated"
    click.echo(printable(f"round on {made.artifact}, owned by {made.owner}: {seated}"))
    click.echo(f"\n  {'reviewer':<12} {'~boot':>7}  constitution")
    for seat in made.panel:
        click.echo(f"  {printable(seat.agent):<12} {seat.tokens:>7}  {printable(seat.constitution)}")
    told = "" if made.readable else "  (no readable text file, so reading it is not priced)"
    click.echo(f"\n  boot      {made.boot:>7}\n  reading   {made.reading:>7}{told}")
    click.echo(f"  total     {made.boot + made.reading:>7}")
    click.echo("\nBoot one subagent for each reviewer with its constitution, give it the artifact, and ask:\n")
    click.echo(f"  {ASK}\n\nThen record what each returned:")
    for seat in made.panel:
        click.echo(f"  {_command(made.artifact, f'--from {seat.agent} --objection <text>')}   or --nothing, --not-returned")
    click.echo(f"  {_command(made.artifact, '--resolve <n> --taken')}   or --refused --why <text>, --escalated")
    click.echo(f"  {_command(made.artifact, '--ledger')}")
    click.echo(f"\nlog:      {printable(made.log)}")


def print_recorded(made: Recorded, json_: bool) -> None:
    row = made.row
    if json_:
        click.echo(dumps({"artifact": made.artifact, "n": made.number, "reviewer": row.reviewer, "state": row.state,
                          "blocking": row.blocking, "text": row.text, "why": row.why}))
    elif made.number is None:
        told = "found nothing" if row.state == "nothing" else "was not returned"
        click.echo(printable(f"recorded: {row.reviewer} {told}"))
    elif row.state == "objection":
        weight = ", blocking" if row.blocking else ""
        click.echo(printable(f"recorded: objection {made.number} from {row.reviewer}{weight}"))
    else:
        click.echo(printable(f"objection {made.number} from {row.reviewer}: {row.state}"))
    if made.advisory and not json_:
        click.echo(f"It is advisory and does not block: {made.advisory}.")


def print_round(round_: Round, json_: bool) -> None:
    table = markdown(round_)
    if json_:
        click.echo(dumps({**_object(round_), "markdown": table}))
        return
    click.echo(printable(f"{round_.artifact}, owned by {round_.owner}\n\n{table}", lines=True))
    if round_.closed:
        click.echo("closed: every objection is accounted for and every reviewer has answered.")
        return
    click.echo("OPEN.")
    for number, row in round_.open_:
        what = "blocking, and neither taken nor escalated" if row.blocking else "not accounted for"
        click.echo(printable(f"  objection {number} from {row.reviewer}: {what}"))
    for name in round_.still_out:
        click.echo(printable(f"  {name} has not answered"))


def print_rounds(whole: Ledger, json_: bool) -> None:
    if json_:
        click.echo(dumps({"log": whole.log, "rounds": [_object(one) for one in whole.rounds]}))
        return
    click.echo(f"log:      {printable(whole.log)}")
    if not whole.rounds:
        click.echo("\nNo round was opened here.")
    for one in whole.rounds:
        state = "closed" if one.closed else "OPEN  "
        click.echo(f"  {printable(one.artifact):<40} {state}  {len(one.objections)} objections, "
                   f"{len(one.still_out)} still out")


def _object(one: Round) -> dict[str, Any]:
    return {
        "artifact": one.artifact, "owner": one.owner, "closed": one.closed,
        "objections": [{"n": number, "reviewer": row.reviewer, "blocking": row.blocking, "state": row.state, "text": row.text,
                        "why": row.why} for number, row in enumerate(one.objections, 1)],
        "still_out": one.still_out,
    }


def _command(artifact: str, rest: str) -> str:
    return printable(f"kb panel {shlex.quote(artifact)} {rest}")
