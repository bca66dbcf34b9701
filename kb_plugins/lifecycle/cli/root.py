"""The group behind `majordomus`."""

from __future__ import annotations

import os

import click

from kb.api import __version__
from kb_plugins.lifecycle.cli.frame import group

_AT = "kb_plugins.lifecycle.cli"
majordomus = group("majordomus", "What an episode learned, derived at its boundary and promoted by a person.", targets={
    "knowledge": (f"{_AT}.knowledge:knowledge", "derive, review, promote, reject, check, and the graph"),
    "session": (f"{_AT}.session:session", "open and close an episode; the provider's hook"),
    "start": (f"{_AT}.work:start", "begin a task"),
    "finish": (f"{_AT}.work:finish", "end the active task"),
    "task": (f"{_AT}.work:task", "the same, as a group"),
    "decision": (f"{_AT}.work:decision", "record a decision"),
    "question": (f"{_AT}.work:question", "open and resolve questions"),
    "history": (f"{_AT}.state:history", "print the ledger"),
    "context": (f"{_AT}.state:context", "say where this checkout stands"),
    "check": (f"{_AT}.state:check", "enforce the integrity of the records"),
    "doctor": (f"{_AT}.state:doctor", "examine everything"),
    "watch": (f"{_AT}.state:watch", "look for drift"),
    "recover": (f"{_AT}.recover:recover", "close episodes that nobody closed"),
    "capture": (f"{_AT}.root:capture", "draw a provider's boundary"),
})
majordomus.params.append(click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False,
                                      help="Print the version.",
                                      callback=lambda ctx, _, value: _version(ctx) if value else None))

majordomus.params.append(click.Option(["--repo"], is_eager=True, expose_value=False, metavar="PATH",
                                      type=click.Path(exists=True, file_okay=False),
                                      help="Work in this repository instead of the current folder.",
                                      callback=lambda ctx, _, value: os.chdir(value) if value else None))

capture = group("capture", "A provider's boundaries, under the name that its shims use.",
                targets={"session": (f"{_AT}.session:hook", "draw a provider's boundary; always ends with 0")})


def _version(ctx: click.Context) -> None:
    click.echo(f"majordomus {__version__}")
    ctx.exit()
