"""`kb answer`: an answer from the passages that the catalogue serves, or the reading list."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.approval import ask_approval
from kb.cli.boundary import say
from kb.cli.cited import say_citations
from kb.cli.complete import progress, show_complete
from kb.cli.options import everything, paths, top
from kb.cli.skipped import say_skipped
from kb.core.citations import cited
from kb.core.display import printable
from kb.core.evidence import SPELLING_CAVEAT, shortfall
from kb.core.values import Answer
from kb.errors import UsageError
from kb.ops.answer import Answered, Mode, answer_complete
from kb.ops.answer import answer as op


@click.command()
@click.argument("question")
@paths()
@top("How many files to rank; the model reads five of them, with --expanded twelve")
@everything()
@click.option("--expanded", is_flag=True, help="Read up to twelve files in the one call instead of five.")
@click.option("--complete", is_flag=True, help="Read every keyed file, ten a call, and answer from the facts found.")
def answer(question: str, paths: tuple[str, ...], top: int, include_private: bool, expanded: bool, complete: bool) -> None:
    """Answer QUESTION from the library: the passages it finds go to `answerer =` of fleet.txt, which may use nothing else.

    Nothing matched: no model is called. No answerer: the reading list. What the reply cites is checked afterwards.
    """
    if not question.strip():
        raise UsageError("the question is blank")
    app = open_app(paths, include_private)
    ask_approval(app, "answerer")
    if complete:
        show_complete(answer_complete(app, question, progress()))
        return
    mode: Mode = "expanded" if expanded else "fast"
    done = op(app, question, mode, top)
    say_skipped(done.found.skipped)
    if done.miss is not None and done.miss.error:
        say(f"the miss could not be written: {done.miss.error}")
    if done.reply is not None:
        _show_reply(done, mode)
    elif done.problem:
        say(f"{done.problem}; here is the reading list:")
        _reading_list(done.found, err=True)
        click.get_current_context().exit(2 if done.refused else 1)
    elif done.found.verdict == "nothing" or not done.found.results:
        _show_nothing(done.found)
    else:
        click.echo("There is no `answerer = ...` in fleet.txt, so here is the reading list:\n")
        _reading_list(done.found)


def _show_reply(done: Answered, mode: str) -> None:
    found = done.found
    remark = "hit" if found.verdict == "hit" else "guess, read the sources yourself"
    click.echo(f"{printable(done.reply or '', lines=True)}\n")
    click.echo("sources served: " + " ".join(printable(cited(path)) for path in done.served))
    click.echo(f"mode: {mode} | confidence: score {found.confidence.keyword_score:.1f} vs floor {found.floor:.1f}; {remark}")
    say_citations(done.unserved, done.uncited)


def _show_nothing(found: Answer) -> None:
    if found.entries == 0:
        click.echo("There is nothing to search: no note in scope has a `Search for:` line. kb write makes one that has.")
        return
    click.echo("Nothing in the library matched this question, so no model was called.\nThe question was counted; kb misses "
               "reads it back.\n")
    for sentence in shortfall(found):
        click.echo(f"  {sentence}")
    if found.suggestions:
        click.echo(f"  it does know: {printable(', '.join(found.suggestions))}\n  {SPELLING_CAVEAT}")


def _reading_list(found: Answer, err: bool = False) -> None:
    for number, result in enumerate(found.results[:5], 1):
        click.echo(f"  {number}. {printable(f'{result.base}/{result.path}')}", err=err)
