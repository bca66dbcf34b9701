"""An answer on a terminal: the head, the ranked or the fused list, and on a refusal what to do about it."""

from __future__ import annotations

import textwrap

import click

from kb.core.display import flat, printable
from kb.core.evidence import SPELLING_CAVEAT, evidence_line, shortfall
from kb.core.shelves import layer_of
from kb.core.values import Answer

_SHORT = "  [short memory]"


def print_ranked(answer: Answer) -> None:
    """The keyword ranking alone: rank, score, place, and the words that matched."""
    _head(answer)
    for rank, hit in enumerate(answer.keyword_list, start=1):
        label = _SHORT if layer_of(hit.path) == "short" else ""
        click.echo(f"  {rank:>2}. {hit.score:>6.2f}  {printable(f'{hit.base}/{hit.path}')}{label}")
        if hit.matched:
            click.echo(f"      matched: {printable(', '.join(hit.matched))}")
    if answer.ranked_by_text_only:
        click.echo("  No key line holds these words, and the text of some notes does: --hybrid shows them.")
    _foot(answer)


def print_fused(answer: Answer) -> None:
    """The fused list: score, place, which scorer ranked it where, and an excerpt."""
    _head(answer)
    if answer.results and all(len(result.why) < 2 for result in answer.results):
        click.echo("  NOTE: each of these was ranked by one scorer only, so take them as guesses;\n"
                   "  the subject may not be covered.\n")
    for result in answer.results:
        label = _SHORT if result.memory == "short" else ""
        click.echo(f"  {result.score:>5.3f}  {printable(result.base):<8} {printable(result.path):<44} "
                   f"{' + '.join(result.why)}{label}")
        if result.passages:
            passage = result.passages[0]
            click.echo(f"         {printable(flat(passage.heading_path))}: {printable(flat(passage.excerpt))}")
    _foot(answer)


def _head(answer: Answer) -> None:
    click.echo(f"question: {printable(flat(answer.question))}")
    click.echo(f"indexed:  {answer.entries} entries across {answer.agents} agents, {answer.aliases} aliases")
    owner = answer.owner
    if owner is not None:
        rival = ""
        if len(owner.totals) > 1:
            second = owner.totals[1]
            rival = f"; runner-up {printable(second.agent)} ({second.score:.2f}), {owner.margin:.2f}x behind"
        click.echo(f"owner:    {printable(owner.name)} ({owner.score:.2f}){rival}")
    elif answer.served:
        click.echo("owner:    nobody; no agent has a note that matches")
    click.echo(f"\n{evidence_line(answer)}\n")


def _foot(answer: Answer) -> None:
    if answer.verdict == "hit":
        return
    if answer.entries == 0:
        _empty(answer)
        return
    if not answer.served and not answer.results:
        click.echo("  The library does not cover this, or its key lines lack these words.")
    for sentence in shortfall(answer):
        click.echo("\n".join(textwrap.wrap(sentence, 72, initial_indent="  ", subsequent_indent="  ",
                                           break_long_words=False)))
    if answer.suggestions:
        click.echo(f"\n  Keys that look like your words:\n    {printable(', '.join(answer.suggestions))}")
        click.echo("\n".join(textwrap.wrap(SPELLING_CAVEAT, 72, initial_indent="  ", subsequent_indent="  ")))


def _empty(answer: Answer) -> None:
    click.echo("  There is no note with a Search for line here, so no question can be answered.")
    files = answer.unreachable.files
    if files:
        click.echo(f"  {files} files have no such line: kb check names them, kb init --adopt --keys proposes one for each.")
    else:
        click.echo("  kb init <name> makes a base, kb write adds a note; kb fleet lists what is here already.")
