"""`kb handoff`."""

from __future__ import annotations

import click

from kb.app import App, open_app
from kb.cli.boundary import say
from kb.cli.options import as_json, option
from kb.core.display import printable
from kb.core.handoff import Handoff, as_object, render
from kb.core.jsontext import dumps
from kb.errors import UsageError
from kb.ops import handoff as baton


@click.command()
@click.argument("words", nargs=-1, metavar="[save AGENT | claim AGENT | complete] [PATH]")
@option("--task", help="What is to be done. Required by save.")
@click.option("--decision", "decisions", multiple=True, help="Something that was settled. May be repeated.")
@click.option("--blocker", "blockers", multiple=True, help="What stands in the way. May be repeated.")
@click.option("--next", "next_steps", multiple=True, help="A step to take. May be repeated.")
@click.option("--ref", "--reference", "references", multiple=True, help="A file or address that is needed. May be repeated.")
@option("--session", help="The session of the record. Without it save makes a new one, and the others take the latest.")
@option("--claim", "claimer", help="The same as `claim AGENT`.")
@click.option("--complete", "done", is_flag=True, help="The same as `complete`.")
@click.option("--force", is_flag=True, help="With complete: complete a record that nobody claimed.")
@click.option("--show", "shown", is_flag=True, help="Print the record. This is also what kb handoff alone does.")
@as_json()
def handoff(words: tuple[str, ...], task: str | None, decisions: tuple[str, ...], blockers: tuple[str, ...],
            next_steps: tuple[str, ...], references: tuple[str, ...], session: str | None, claimer: str | None, done: bool,
            force: bool, shown: bool, json_: bool) -> None:
    """Hand work over: save what the next session must know, claim it before starting, complete it when it is done.

    A record is first pending, then claimed, then completed. When several agents claim it at once, exactly one gets it.
    """
    word, agent, path = _form(words, claimer, done, shown)
    if session is not None and not session.strip():
        raise UsageError("the session is blank")
    if word != "save" and (task is not None or decisions or blockers or next_steps or references):
        raise UsageError("--task and its lists belong to kb handoff save")
    if word == "show":
        _show(open_app([path]), session, json_)
        return
    app = open_app([path])
    if word == "save":
        made = baton.save(app, agent, task or "", session=session, decisions=decisions, blockers=blockers,
                          next_steps=next_steps, references=references)
        line = f"saved handoff for session {made.record.session} ({made.record.agent}) into {made.path}"
    elif word == "claim":
        made = baton.claim(app, agent, session)
        line = f"claimed handoff for session {made.record.session} by {made.record.claimed_by}"
    else:
        made = baton.complete(app, session, force=force)
        line = f"completed handoff for session {made.record.session}"
    click.echo(dumps(as_object(made.record)) if json_ else printable(line))
    for trouble in made.troubles:
        say(trouble)


def _form(words: tuple[str, ...], claimer: str | None, done: bool, shown: bool) -> tuple[str, str, str]:
    """(what to do, agent or "", path) from the words and the flags that stand for them."""
    rest = list(words)
    asked = [name for name, given in (("claim", claimer is not None), ("complete", done), ("show", shown)) if given]
    if rest and rest[0] in ("save", "claim", "complete", "show") and not (claimer is not None and rest[0] == "claim"):
        asked = list(dict.fromkeys([rest.pop(0), *asked]))
    if len(asked) > 1:
        raise UsageError(f"one thing at a time: {' or '.join(asked)}")
    word = asked[0] if asked else "show"
    agent = ""
    if word == "save" or (word == "claim" and claimer is None):
        if not rest:
            raise UsageError(f"kb handoff {word} needs an agent")
        agent = rest.pop(0)
    elif word == "claim":
        agent = claimer or ""
    if len(rest) > 1:
        raise UsageError(f"one path, and not also {rest[1]}")
    return word, agent, rest[0] if rest else "."


def _show(app: App, session: str | None, json_: bool) -> None:
    record: Handoff | None = baton.show(app, session)
    if json_:
        click.echo("null" if record is None else dumps(as_object(record)))
    elif record is None:
        click.echo("no handoff records found" if session is None else printable(f"no handoff record for session '{session}'"))
    else:
        click.echo(printable(render(record), lines=True), nl=False)
