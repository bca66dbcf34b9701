"""`knowledge ...`: derive, observe, the review queue and its acts, the judge, and the graph."""

from __future__ import annotations

import click

from kb.api import KbError, UsageError, dead_keys
from kb_plugins.lifecycle.cli.frame import as_json, body_of_stdin, group, leave, option, say, show, show_json, world
from kb_plugins.lifecycle.exits import INVALID

_AT = "kb_plugins.lifecycle.cli.graph"


@click.pass_context
def _alone(ctx: click.Context, /) -> None:
    if ctx.invoked_subcommand is None:
        from kb_plugins.lifecycle.cli.graph import sources

        ctx.invoke(sources, scope="all", json_=False)


knowledge = group("knowledge", "What episodes learned: derived at their boundary, promoted by a person.",
                  invoke_without_command=True, callback=_alone, targets={
                      "sources": (f"{_AT}:sources", "list the files that the graph is compiled from"),
                      "nodes": (f"{_AT}:nodes", "list one node per object"),
                      "edges": (f"{_AT}:edges", "list the typed edges and where each is stated"),
                      "validate": (f"{_AT}:validate", "judge the graph: an owned break fails, a broken link does not"),
                  })


@knowledge.command()
@option("--episode", metavar="ID", help="The episode to derive from, instead of the open one.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@as_json()
def derive(episode: str | None, dry_run: bool, json_: bool) -> None:
    """Turn the ledger lines of an episode into candidate records."""
    from kb_plugins.lifecycle.derive import derive as run
    from kb_plugins.lifecycle.episodes import Episodes
    from kb_plugins.lifecycle.records import EPISODE_ID

    if episode is not None and not EPISODE_ID.fullmatch(episode):
        raise UsageError(f"{episode!r} is no id of an episode", hint="s-<14 digits>-<4 hex digits>")
    disk, ledger = world()
    if episode is None:
        own = Episodes(disk).mine()
        episode = own.id if own else None
    result = run(disk, ledger, episode, dry_run=dry_run)
    show_json(result.shown()) if json_ else show(result.text())


@knowledge.command()
@option("--kind", required=True, metavar="KIND", help="friction, workaround, defect, drift or repetition.")
@option("--subject", required=True, metavar="REF", help="A path, or capability:, rule:, command:, gate: with an id.")
@click.option("--evidence", multiple=True, metavar="REF", help="file:, test:, commit:, issue: or claim:. May be repeated.")
@click.argument("statement")
@as_json()
def observe(kind: str, subject: str, evidence: tuple[str, ...], statement: str, json_: bool) -> None:
    """Record what you met, about a subject, on evidence. Nothing is judged."""
    from kb_plugins.lifecycle import observe as act

    act.validate(kind, subject, evidence, statement)
    disk, ledger = world()
    act.observe(disk, ledger, kind, subject, evidence, statement)
    if json_:
        show_json({"schema": 1, "kind": kind, "subject": subject, "statement": statement, "evidence": list(evidence)})
    else:
        show(f"observed: {kind} {subject} — {statement}")


@knowledge.command()
@as_json()
def candidates(json_: bool) -> None:
    """List what awaits a person's review, and what recurs."""
    from kb_plugins.lifecycle.policy import BUILT_IN, read_policy
    from kb_plugins.lifecycle.queue import Queue

    disk, ledger = world()
    queue = Queue(disk, ledger)
    if not json_:
        show(queue.text())
        return
    try:
        policy = read_policy(disk)
    except KbError:  # doctor names a policy that does not parse; the queue is shown all the same
        policy = BUILT_IN
    show_json(queue.shown(policy))


@knowledge.command()
@click.argument("id_", metavar="ID")
@option("--class", "klass", metavar="CLASS", help="fact, convention, constraint, memory or lesson.")
@option("--keys", default="", metavar="A, B", help="Add a `Search for:` line, so that the catalogue finds the record.")
@as_json()
def promote(id_: str, klass: str | None, keys: str, json_: bool) -> None:
    """Verify a candidate: a person's act. The evidence comes on stdin."""
    from kb_plugins.lifecycle.review import promote as act

    disk, ledger = world()
    path = act(disk, ledger, id_, body_of_stdin(), klass=klass, keys=keys)
    dead = dead_keys([word.strip() for word in keys.split(",")]) if keys else []
    if dead:
        say(f"left out {len(dead)} that no question reaches: {', '.join(dead)}")
    show_json({"schema": 1, "id": id_, "path": path}) if json_ else show(path)


@knowledge.command()
@click.argument("id_", metavar="ID")
@option("--reason", required=True, metavar="WHY", help="Why it is not so.")
@option("--by", metavar="ID", help="The record that replaces it.")
@as_json()
def reject(id_: str, reason: str, by: str | None, json_: bool) -> None:
    """Supersede a candidate where it stands: a person's act."""
    from kb_plugins.lifecycle.review import reject as act

    disk, ledger = world()
    path = act(disk, ledger, id_, reason, by=by)
    show_json({"schema": 1, "id": id_, "path": path}) if json_ else show(path)


@knowledge.command()
@as_json()
def check(json_: bool) -> None:
    """Judge every record: its form, its references, its status."""
    from kb_plugins.lifecycle.integrity import check as judge

    disk, ledger = world()
    verdict = judge(disk, ledger)
    show_json(verdict.shown()) if json_ else show(verdict.text())
    if verdict.faults:
        leave(INVALID)


@knowledge.command()
@click.argument("id_", metavar="ID")
@as_json()
def record(id_: str, json_: bool) -> None:
    """Read one record back, every reference resolved."""
    from kb_plugins.lifecycle.record_view import text, view

    disk, ledger = world()
    said = view(disk, ledger, id_)
    show_json(said) if json_ else show(text(said))


@knowledge.command()
@as_json()
def status(json_: bool) -> None:
    """Say whether the writer still writes."""
    from kb_plugins.lifecycle.policy import read_policy
    from kb_plugins.lifecycle.status import shown, text

    disk, ledger = world()
    said = shown(disk, ledger, read_policy(disk))
    show_json(said) if json_ else show(text(said))
