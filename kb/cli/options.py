"""Options and arguments that several verbs share, and the rule that an option which takes one value is given once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Once(click.Option):
    """An option that takes one value: giving it twice is an error, not a silent override."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._fallback = kwargs.pop("default", None)
        kwargs["multiple"] = True
        super().__init__(*args, **kwargs)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        values = super().process_value(ctx, value)
        if isinstance(values, tuple):
            if len(values) > 1:
                raise click.BadParameter("given twice, and it takes one value", ctx=ctx, param=self)
            return values[0] if values else self._fallback
        return values


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option that takes one value and may be given once."""
    return click.option(*names, cls=Once, **settings)


def paths() -> Callable[[F], F]:
    """`[path]...`, the current folder by default. The value is a tuple of strings, never empty."""
    return click.argument("paths", nargs=-1, metavar="[PATH]...", callback=lambda ctx, param, value: value or (".",))


def path() -> Callable[[F], F]:
    """`[path]`, the current folder by default."""
    return click.argument("path", required=False, default=".", metavar="[PATH]")


def top(what: str) -> Callable[[F], F]:
    """`--top N`, 1 to 1000, 5 when not given: zero must not fake a miss. `what` says what it bounds, as a sentence without its end."""
    return option("--top", type=click.IntRange(1, 1000), default=5, metavar="N", help=f"{what}. Default 5.")


def everything() -> Callable[[F], F]:
    """`--all`: include the private layer. The parameter is called `include_private`."""
    return click.option("--all", "include_private", is_flag=True, help="Include the private layer too; nothing else changes.")


def as_json(shape: str = "Print the result as one line of JSON.") -> Callable[[F], F]:
    """`--json`: the answer as one line. The parameter is called `json_`; `shape` is its help."""
    return click.option("--json", "json_", is_flag=True, help=shape)
