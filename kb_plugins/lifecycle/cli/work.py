"""`task`, `decision` and `question`: the acts that leave evidence in the ledger."""

from __future__ import annotations

import click

from kb.api import UsageError
from kb_plugins.lifecycle.cli.frame import as_json, group, option, show, show_json, world

task = group("task", "One task at a time: what is to be done, and how it ended.")
decision = group("decision", "Decisions, each with its reason.")
question = group("question", "Open questions and their answers.")


@task.command()
@click.argument("title", metavar="TASK")
@click.option("--scope", multiple=True, required=True, metavar="PATH[,PATH]", help="What it may touch. May be repeated.")
@option("--profile", default="none", metavar="NAME", help="How it is worked on.")
@option("--owner", default="", metavar="NAME", help="Whose it is. Default: git's user.")
@as_json()
def start(title: str, scope: tuple[str, ...], profile: str, owner: str, json_: bool) -> None:
    """Begin a task."""
    from kb_plugins.lifecycle.tasks import start as act

    disk, ledger = world()
    begun = act(disk, ledger, title, list(scope), profile=profile, owner=owner)
    if json_:
        show_json({"schema": 1, "task_id": begun.id, "task": begun.title, "scope": list(begun.scope)})
    else:
        show(f"start: {begun.id} {begun.title}")


@task.command()
@option("--outcome", required=True, metavar="OUTCOME", help="completed, partial, blocked, no_match or failed.")
@option("--verify-command", metavar="COMMAND", help="A command that proves it; it is run here, and its exit is logged.")
@option("--note", type=click.Path(), metavar="FILE", help="What is left behind: `# Reason`, `# Next Action`.")
@click.option("--check", is_flag=True, help="Judge, and write nothing.")
@as_json()
def finish(outcome: str, verify_command: str | None, note: str | None, check: bool, json_: bool) -> None:
    """End the active task."""
    from kb.api import read_text
    from kb_plugins.lifecycle.tasks import OUTCOMES
    from kb_plugins.lifecycle.tasks import finish as act

    if outcome not in OUTCOMES:
        raise UsageError(f"{outcome!r} is no outcome", hint=f"one of {', '.join(OUTCOMES)}")
    try:
        text = None if note is None else read_text(note, any_kind=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the note {note} cannot be read: {error}") from None
    disk, ledger = world()
    ended = act(disk, ledger, outcome, verify_command=verify_command, note=text, check=check)
    if json_:
        show_json({"schema": 1, "task_id": ended.id, "outcome": outcome, "checked": check})
    else:
        show(f"finish: {ended.id} {outcome}" + (" would be accepted" if check else ""))


@task.command()
@as_json()
def status(json_: bool) -> None:
    """Show the active task."""
    from kb_plugins.lifecycle.tasks import current_task

    disk, _ = world()
    active = current_task(disk)
    if json_:
        show_json({"schema": 1, "active": {"task_id": active.id, "task": active.title, "scope": list(active.scope)}
                   if active else None})
    else:
        show(f"{active.id}  {active.title}  ({', '.join(active.scope)})" if active else "no task is active")


@decision.command()
@click.argument("what", metavar="DECISION")
@option("--why", required=True, metavar="REASON", help="Why it was decided.")
@option("--rejected", default="", metavar="TEXT", help="What was considered and not taken.")
@option("--evidence", default="", metavar="TEXT", help="What it rests on.")
@option("--supersedes", default="", metavar="TEXT", help="The earlier decision that it replaces.")
@as_json()
def add(what: str, why: str, rejected: str, evidence: str, supersedes: str, json_: bool) -> None:
    """Record a decision and its reason."""
    from kb_plugins.lifecycle.notebook import record_decision

    disk, ledger = world()
    record_decision(disk, ledger, what, why, rejected=rejected, evidence=evidence, supersedes=supersedes)
    show_json({"schema": 1, "decision": what.strip()}) if json_ else show(f"recorded: {what.strip()}")


@question.command("add")
@click.argument("text", metavar="QUESTION")
@as_json()
def add_question(text: str, json_: bool) -> None:
    """Open a question under the active task."""
    from kb_plugins.lifecycle.notebook import open_question

    disk, ledger = world()
    opened = open_question(disk, ledger, text)
    if json_:
        show_json({"schema": 1, "number": opened.number, "question": opened.text})
    else:
        show(f"opened: {opened.number}. {opened.text}")


@question.command()
@click.argument("which", metavar="NUMBER|TEXT")
@option("--answer", required=True, metavar="TEXT", help="The answer.")
@as_json()
def resolve(which: str, answer: str, json_: bool) -> None:
    """Answer an open question, named by its number or its text."""
    from kb_plugins.lifecycle.notebook import resolve_question

    disk, ledger = world()
    found = resolve_question(disk, ledger, which, answer)
    if json_:
        show_json({"schema": 1, "question": found.text, "answer": answer.strip()})
    else:
        show(f"resolved: {found.text} — {answer.strip()}")


@question.command("list")
@as_json()
def list_questions(json_: bool) -> None:
    """List the open questions."""
    from kb_plugins.lifecycle.notebook import read_questions

    disk, _ = world()
    opened = [item for item in read_questions(disk) if item.number]
    if json_:
        show_json({"schema": 1, "questions": [{"number": q.number, "task_id": q.task, "question": q.text, "asked": q.asked}
                                              for q in opened]})
        return
    show(f"{item.number}. {item.text}  ({item.task}, {item.asked})" for item in opened)
    show(f"question list: {len(opened)} open")
