"""`kb boot`: the prompt hook. Whatever happens it exits 0, and on a failure stdout stays empty."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from kb.cli.options import everything, option, paths, top
from kb.core.display import printable
from kb.errors import KbError


class Unfailing(click.Command):
    """A command whose every failure, a wrong option included, is a line in the fleet's boot.log and exit code 0."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        try:
            return super().make_context(*args, **settings)
        except click.exceptions.Exit:
            raise
        except Exception as error:  # noqa: BLE001 - a prompt hook never fails, whatever its words are
            note_failure(".", _words(error))
            raise click.exceptions.Exit(0) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 - nor whatever happens to it
            if os.environ.get("KB_DEBUG") == "1":
                import traceback

                traceback.print_exc()
            note_failure(ctx.meta.get("kb.root", "."), _words(error))
            raise click.exceptions.Exit(0) from None


@click.command(cls=Unfailing)
@paths()
@top("How many files to rank for the message")
@everything()
@option("--session", metavar="ID", help="The session, instead of the payload's session_id.")
@option("--cwd", metavar="DIR", help="The folder to open when no PATH is given, instead of the payload's cwd.")
@click.option("--text", is_flag=True, help="Stdin is the message itself and never a payload.")
@click.pass_context
def boot(ctx: click.Context, paths: tuple[str, ...], top: int, include_private: bool, session: str | None, cwd: str | None,
         text: bool) -> None:
    """Read a message from stdin (or the JSON that a prompt hook gets) and print who answers it, for the model to read.

    Below the gate nobody is picked and the roster is printed. The exit code is always 0: on a prompt hook any other
    one would erase the message or show the person an error.
    """
    from dataclasses import replace

    from kb.app import open_app
    from kb.cli.hookinput import read_hook
    from kb.cli.skipped import gathered
    from kb.ops.boot import boot as brief

    if os.environ.get("KB_INSIDE_MODEL"):  # the hook of a model that kb itself asked: it must not ask again
        return
    hook = read_hook(verbatim=text)
    hook = replace(hook, session=(session or "").strip() or hook.session, cwd=(cwd or "").strip() or hook.cwd)
    given = ctx.get_parameter_source("paths") is click.core.ParameterSource.COMMANDLINE
    opened = paths if given else (hook.cwd or ".",)
    ctx.meta["kb.root"] = opened[0]
    briefing = brief(open_app(opened, include_private), hook, top)
    data = memoryview(printable(briefing.text, lines=True).encode("utf-8", "replace"))
    while data:  # past the buffer, so that a reader that hung up or a full disk is met here and not at exit
        data = data[os.write(sys.stdout.fileno(), data):]
    for line in gathered(briefing.skipped):
        _complain(line)
    for trouble in briefing.troubles:
        if note_failure(opened[0], trouble):
            _complain(trouble)


def note_failure(path: str, message: str) -> bool:
    """Keep a failure in the fleet's boot.log; when that cannot be written, or there is no fleet, one line on stderr.

    Returns whether it was kept.
    """
    from kb.core.scrub import scrub
    from kb.store.clock import instant, now
    from kb.store.fleet import fleet_root, is_base
    from kb.store.sessions import log_failure

    try:
        root = fleet_root(path)
        if not (any(os.path.exists(os.path.join(root, name)) for name in ("fleet.txt", "fleet")) or is_base(root)):
            raise OSError("there is no fleet to keep it in")
        log_failure(root, scrub(message), instant(now()))
    except Exception as error:  # noqa: BLE001 - boot never fails, not even when its log does
        _complain(f"{message} (not logged: {error})")
        return False
    return True


def _words(error: BaseException) -> str:
    if isinstance(error, click.ClickException):
        return f"kb boot: {error.format_message()}"
    return str(error) if isinstance(error, KbError) else f"{type(error).__name__}: {error}"


def _complain(line: str) -> None:
    try:
        sys.stderr.write(f"kb: {printable(line)}\n")
    except (OSError, ValueError):
        pass
