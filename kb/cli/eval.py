"""`kb eval`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kb.app import App, open_app
from kb.cli import graded
from kb.cli.boundary import say
from kb.cli.index import Progress
from kb.cli.options import as_json, everything, option, paths, top
from kb.cli.skipped import say_skipped
from kb.errors import UsageError
from kb.ops import gold as gold_files
from kb.ops.evaluate import compare, evaluate
from kb.store.collection import is_collection

if TYPE_CHECKING:
    from kb.ops.gold import Question

_KEYS = 12


@click.command("eval")
@click.argument("gold")
@paths()
@top("How many files of the fused list count for the agent")
@everything()
@click.option("--classify", "with_model", is_flag=True, help="Ask the classifier too: one model call a question.")
@click.option("--triad", "with_triad", is_flag=True, help="Grade the served passages by words: faithful, relevant, on topic.")
@option("--compare", "rivals", nargs=2, metavar="A B", help="Two scorer sets or text backends, with a paired test.")
@option("--keys", type=click.IntRange(0, 100), metavar="N", help=f"For a collection: made keys a note. Default {_KEYS}.")
@as_json()
def eval_(gold: str, paths: tuple[str, ...], top: int, include_private: bool, with_model: bool, with_triad: bool,
          rivals: tuple[str, str] | None, keys: int | None, json_: bool) -> None:
    """Grade the catalogue against GOLD: a file of questions, tabs and answers, or a folder that holds a test collection.

    A collection (corpus.jsonl, queries.jsonl, qrels.tsv) is graded in a temporary base of its own. Grades fail no run;
    a gold file that names files the fleet does not have is refused.
    """
    if rivals and (with_model or with_triad):
        raise UsageError("--compare grades two rankings, without --classify and --triad")
    with _opened(gold, paths, include_private, keys) as (app, questions):
        if with_model:
            from kb.cli.approval import ask_approval

            ask_approval(app, "classifier")
            say(f"one call of the classifier a question: {len(questions)} calls")
        progress = Progress()

        def tick(done: int, total: int) -> None:
            progress.tick("questions", done, total)

        if rivals:
            comparison, runs = compare(app, questions, rivals[0], rivals[1], top, tick)
            progress.finish()
            graded.print_comparison(comparison, runs, json_)
            skipped: Sequence[str] = [line for run in runs for line in run.skipped]
        else:
            run = evaluate(app, questions, top, with_model=with_model, with_triad=with_triad, tick=tick)
            progress.finish()
            graded.print_run(run, json_)
            skipped = (*run.skipped, *run.problems)
        say_skipped(skipped)


@contextmanager
def _opened(gold: str, paths: tuple[str, ...], include_private: bool,
            keys: int | None) -> Iterator[tuple[App, list[Question]]]:
    """The fleet and its questions. Ends the process with 1 when the gold file is stale."""
    if is_collection(gold):
        from kb.core.collection import mechanical_keys
        from kb.ops import collection
        from kb.store.collection import read_collection

        if paths != (".",):
            raise UsageError(f"{gold} is a collection and brings its own base, so no path goes with it")
        found = read_collection(gold)
        words = mechanical_keys(found.documents, _KEYS if keys is None else keys)
        with collection.opened(found, lambda root: open_app([root]), words) as made:
            yield made[0], made[1]
        return
    if keys is not None:
        raise UsageError("--keys belongs to a collection; a gold file is graded on the notes as they are")
    rows = gold_files.read_gold(gold)
    app = open_app(paths, include_private)
    stale = gold_files.stale_answers(app, rows)
    if stale:
        for line in stale:
            say(f"{gold}: {line}")
        say(f"{gold} is stale: {len(stale)} answers are not in this fleet, so nothing was graded")
        click.get_current_context().exit(1)
    yield app, gold_files.questions(app, rows)
