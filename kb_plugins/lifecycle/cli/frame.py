"""What every command shares: options given once, groups that suggest, the repository it stands in, and printing."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import click

from kb.api import dumps, printable
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.git import open_checkout
from kb_plugins.lifecycle.ledger import Ledger

F = TypeVar("F", bound=Callable[..., Any])
EXITS = ("Exit codes: 0 done; 2 wrong words, or no git repository here; 10 what was given or what is on disk is not acceptable; "
         "11 watch found drift; 12 what was named does not exist; 13 nothing could be written; 15 it exists already, or belongs "
         "to another checkout.")


class Once(click.Option):
    """An option that takes one value: giving it twice is an error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._fallback = kwargs.pop("default", None)
        self._needed = kwargs.pop("required", False)
        if self._needed and kwargs.get("help"):
            kwargs["help"] += "  [required]"
        kwargs["multiple"] = True
        super().__init__(*args, **kwargs)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        values = super().process_value(ctx, value)
        if not isinstance(values, tuple):
            return values
        if len(values) > 1:
            raise click.BadParameter("given twice, and it takes one value", ctx=ctx, param=self)
        if not values and self._needed:
            raise click.MissingParameter(ctx=ctx, param=self)
        return values[0] if values else self._fallback


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option that takes one value and may be given once."""
    return click.option(*names, cls=Once, **settings)


def as_json(shape: str = "Print the result as one line of JSON.") -> Callable[[F], F]:
    """`--json`. The parameter is called `json_`; `shape` is its help."""
    return click.option("--json", "json_", is_flag=True, help=shape)


class Commands(click.Group):
    """A group whose commands are `module:attribute` strings, imported when run; an unknown name is told its nearest."""

    def __init__(self, *args: Any, targets: dict[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.targets = targets or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.targets, *sorted(self.commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.targets:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.targets[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1, cutoff=0.6)
            known = f"Did you mean {near[0]}?" if near else f"There are {', '.join(self.list_commands(ctx))}."
            ctx.fail(f"there is no command '{args[0]}'. {known}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, summary) for name, (_, summary) in self.targets.items()]
        rows += [(name, command.get_short_help_str(80)) for name, command in sorted(self.commands.items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def group(name: str, text: str, **settings: Any) -> Commands:
    """An empty group of commands."""
    return Commands(name, help=text, epilog=EXITS, context_settings={"help_option_names": ["-h", "--help"]}, **settings)


class World(NamedTuple):
    """The checkout that the command stands in, and its ledger."""

    disk: Disk
    ledger: Ledger


def world() -> World:
    """The world of the current folder. Raises UsageError outside a git repository."""
    disk = Disk(open_checkout())
    return World(disk, Ledger(disk))


def show(lines: Iterable[str] | str) -> None:
    """Lines on stdout, control characters shown and not obeyed."""
    for line in [lines] if isinstance(lines, str) else lines:
        click.echo(printable(line))


def show_json(value: object) -> None:
    """One line of JSON on stdout."""
    click.echo(dumps(value))


def say(line: str) -> None:
    """One line on stderr."""
    click.echo(printable(line), err=True)


def leave(code: int) -> None:
    """End the command with an exit code."""
    click.get_current_context().exit(code)


def body_of_stdin(*, wait: float | None = None) -> bytes:
    """What was piped in, or nothing on a terminal. With `wait`, a pipe that is silent for that many seconds is empty."""
    import os
    import select

    try:
        if sys.stdin is None or sys.stdin.isatty():
            return b""
        fd = sys.stdin.fileno()
        if wait is not None and not select.select([fd], [], [], wait)[0]:
            return b""
        parts = []
        while part := os.read(fd, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except (OSError, ValueError):
        return b""
