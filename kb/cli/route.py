"""`kb route`."""

from __future__ import annotations

import click

from kb.app import open_app
from kb.cli.boundary import say
from kb.cli.options import as_json, everything, paths, top
from kb.cli.routed import print_fused, print_ranked
from kb.cli.skipped import say_skipped
from kb.core.jsontext import dumps
from kb.core.values import Answer, Miss
from kb.errors import KbError
from kb.ops.route import as_object
from kb.ops.route import route as ask


@click.command()
@click.argument("question")
@paths()
@top("How many files to show")
@click.option("--hybrid", is_flag=True, help="Fuse the keyword ranking with full text.")
@as_json()
@everything()
def route(question: str, paths: tuple[str, ...], top: int, hybrid: bool, json_: bool, include_private: bool) -> None:
    """Ask which files QUESTION should open, which agent owns it, and whether the library holds the answer at all.

    The verdict is hit, guess or nothing: the best file's keyword score against the floor for a library of this size.
    """
    try:
        answer, miss = ask(open_app(paths, include_private), question, top)
    except KbError as error:
        if json_ and error.exit_code == 1:
            click.echo(dumps({"question": question, "error": str(error)}))
        raise
    if json_:
        click.echo(dumps(as_object(answer, miss)))
    elif hybrid:
        print_fused(answer)
    else:
        print_ranked(answer)
    _warn(answer, miss)


def _warn(answer: Answer, miss: Miss | None) -> None:
    say_skipped(answer.skipped)
    if answer.index_was_rebuilt:
        say("an index from before the private column was found; none of its text is served until kb index has run")
    if miss is not None and miss.error:
        say(f"the miss could not be written: {miss.error}")
