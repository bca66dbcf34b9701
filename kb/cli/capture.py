"""`kb capture`: turn a session's record into a deposit."""

from __future__ import annotations

import sys

import click

from kb.cli.options import option, path
from kb.core.display import printable
from kb.errors import KbError, UsageError


@click.command()
@path()
@option("--session", metavar="ID", help="The session; without it, the session_id of the hook payload on stdin.")
@option("--conclusion", metavar="TEXT", help="Record a decision of the session; nothing is deposited until a plain capture.")
def capture(path: str, session: str | None, conclusion: str | None) -> None:
    """Turn what kb boot recorded of a session into one raw deposit per agent, in that agent's inbox.

    No model runs, and nothing is captured from a session in which no agent was routed. Secrets are cut out.
    """
    from kb.app import open_app
    from kb.ops import capture as op

    name = (session or "").strip()
    if not name and sys.stdin is not None and not sys.stdin.isatty():
        from kb.cli.hookinput import read_hook

        name = read_hook().session
    if not name:
        raise UsageError("no session was named", hint="--session ID, or a hook payload with session_id on stdin")
    app = open_app([path], include_private=True)
    if conclusion is not None:
        op.conclude(app, name, conclusion)
        click.echo(f"recorded a conclusion of session {printable(name)}; kb capture deposits it")
        return
    outcomes = op.capture(app, name)
    for outcome in outcomes:
        if outcome.path:
            click.echo(f"captured session {printable(name)} into {printable(outcome.path)}")
        else:
            click.echo(f"nothing captured for session {printable(name)}: {printable(outcome.why)}")
    failed = [outcome for outcome in outcomes if outcome.failed]
    if failed:
        raise KbError(failed[0].why)
