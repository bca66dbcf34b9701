"""Asking a person at a terminal whether a fleet may run what it names."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from kb.core.display import printable

if TYPE_CHECKING:
    from kb.app import App
    from kb.ops.trust import Exhibit


def at_terminal() -> bool:
    """Whether there is a person to ask: both what they type and what they read is a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask_approval(app: App, *names: str) -> None:
    """Before a verb works: at a terminal, show what it needs and nobody approved, and record a yes.

    `names` are roles (`promoter`) or adapters (`tools/extract/pdf.cmd`). Elsewhere, and after a no, nothing happens
    here: the operation itself refuses.
    """
    from kb.ops.models import untrusted
    from kb.ops.trust import approve, exhibits

    if os.environ.get("KB_TRUST") == "1" or not at_terminal():
        return
    missing = {item.name for item in untrusted(app, *names)}
    if not missing:
        return
    shown = [exhibit for exhibit in exhibits(app) if exhibit.item.name in missing and not exhibit.problem]
    if not shown:
        return
    click.echo(f"{printable(app.fleet.root)} would run this, and nobody approved it:", err=True)
    for exhibit in shown:
        click.echo(describe(exhibit), err=True)
    if click.confirm("Run it, now and as long as it stays as it is?", default=False, err=True):
        approve(app, shown)


def describe(exhibit: Exhibit) -> str:
    """What would run, in two or more lines of text."""
    item = exhibit.item
    lines = [f"  {printable(item.name)}" + (f" = {printable(item.command)}" if item.command != item.name else ""),
             f"      cannot run: {printable(exhibit.problem)}" if exhibit.problem else f"      runs {printable(exhibit.program)}"]
    lines += [f"      reads {printable(place)}" for place in item.files if exhibit.problem or not exhibit.program.endswith(place)]
    return "\n".join(lines)
