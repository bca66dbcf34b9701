"""`kb panel`."""

from __future__ import annotations

import os
from typing import get_args

import click

from kb.app import open_app
from kb.cli import paneled
from kb.cli.boundary import say
from kb.cli.options import as_json, everything, option
from kb.errors import UsageError
from kb.ops import panel as rounds
from kb.store.fleet import fleet_root


@click.command()
@click.argument("words", nargs=-1, metavar="[ARTIFACT] [PATH]")
@option("--owner", metavar="AGENT", help="Who answers for the artifact.")
@click.option("--reviewer", "reviewers", multiple=True, metavar="AGENT", help="Who must object; three at most.")
@option("--out", metavar="DIR", help="Where the constitutions go; .kb/panel beside fleet.txt without it.")
@option("--from", "reviewer", metavar="AGENT", help="Record what this reviewer returned.")
@option("--objection", metavar="TEXT", help="With --from: the fault that was found.")
@click.option("--blocking", is_flag=True, help="With --objection: it must be answered; once for each reviewer.")
@click.option("--nothing", is_flag=True, help="With --from: no fault was found.")
@click.option("--not-returned", is_flag=True, help="With --from: no answer came.")
@option("--resolve", "number", type=int, metavar="N", help="Account for objection N.")
@click.option("--taken", is_flag=True, help="With --resolve: the artifact was changed.")
@click.option("--refused", is_flag=True, help="With --resolve and --why: it was not. Never for a blocking one.")
@click.option("--escalated", is_flag=True, help="With --resolve: someone else decides.")
@option("--why", default="", metavar="TEXT", help="The reason.")
@click.option("--ledger", is_flag=True, help="Read a round back, or list them all.")
@as_json()
@everything()
def panel(words: tuple[str, ...], owner: str | None, reviewers: tuple[str, ...], out: str | None, reviewer: str | None,
          objection: str | None, blocking: bool, nothing: bool, not_returned: bool, number: int | None, taken: bool,
          refused: bool, escalated: bool, why: str, ledger: bool, json_: bool, include_private: bool) -> None:
    """Keep the ledger of an objection round on one ARTIFACT: open it, record what came back, account for it, read it.

    No model is called and nobody is chosen for you. A blocking objection must name a mechanism, a rule or a line of the
    reviewer's constitution, and cannot be refused. --ledger exits 1 while the round is open.
    """
    outcomes = [name for name, given in zip(get_args(rounds.Outcome), (taken, refused, escalated), strict=True) if given]
    returned = objection is not None or blocking or nothing or not_returned
    _refuse_mixed(ledger=ledger, resolve=number is not None or bool(outcomes), returned=returned,
                  opens=owner is not None or bool(reviewers) or out is not None)
    artifact, path = _places(words, ledger)
    if ledger:
        _ledger(artifact, path, json_)
        return
    if artifact is None:
        raise UsageError("kb panel needs an artifact", hint="kb panel <file> --owner <agent> opens a round about it")
    if number is None and reviewer is None and owner is None:
        raise UsageError("a round needs its --owner", hint="or --from, --resolve, --ledger for a round that is open")
    if number is not None and len(outcomes) != 1:
        raise UsageError("--resolve needs exactly one of --taken, --refused and --escalated")
    if outcomes and number is None:
        raise UsageError(f"--{outcomes[0]} belongs to --resolve <n>")
    app = open_app([fleet_root(path)], include_private)
    if number is not None:
        paneled.print_recorded(rounds.resolve(app, artifact, number, outcomes[0], why or "", reviewer), json_)
    elif reviewer is not None:
        paneled.print_recorded(rounds.record(app, artifact, reviewer, objection=objection, blocking=blocking,
                                             nothing=nothing, not_returned=not_returned, why=why or ""), json_)
    elif reviewers:
        paneled.print_opened(rounds.open_round(app, artifact, owner or "", reviewers, out), json_)
    else:
        paneled.print_proposed(rounds.propose(app, artifact, owner or ""), json_)


def _refuse_mixed(*, ledger: bool, resolve: bool, returned: bool, opens: bool) -> None:
    given = [name for name, on in (("--ledger", ledger), ("--resolve", resolve), ("what a reviewer returned", returned),
                                   ("--owner, --reviewer and --out", opens)) if on]
    if len(given) > 1:
        raise UsageError(f"one thing at a time: {' or '.join(given)}")


def _places(words: tuple[str, ...], ledger: bool) -> tuple[str | None, str]:
    """(artifact or None, path). With --ledger a lone word that names a folder is the path."""
    if len(words) > 2:
        raise UsageError(f"one artifact and one path, and not also {words[2]}")
    if len(words) == 2:
        return words[0], words[1]
    if words and not (ledger and os.path.isdir(words[0])):
        return words[0], "."
    return None, words[0] if words else "."


def _ledger(artifact: str | None, path: str, json_: bool) -> None:
    if artifact is None:
        whole = rounds.ledger(path)
        paneled.print_rounds(whole, json_)
    else:
        round_, whole = rounds.find_round(path, artifact)
        paneled.print_round(round_, json_)
    for line in whole.strays:
        say(line)
    if artifact is not None and not round_.closed:
        click.get_current_context().exit(1)
