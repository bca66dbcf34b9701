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


def top(default: int | None = 5) -> Callable[[F], F]:
    """`--top N`, 1 to 1000: zero must not fake a miss."""
    return option("--top", type=click.IntRange(1, 1000), default=default, metavar="N",
                  help=f"How many candidates to carry, 1 to 1000. Default {default}.")


def everything() -> Callable[[F], F]:
    """`--all`: include the private layer. The parameter is called `include_private`."""
    return click.option("--all", "include_private", is_flag=True, help="Include the private layer, and nothing else.")


def as_json() -> Callable[[F], F]:
    """`--json`: the answer as one line. The parameter is called `json_`."""
    return click.option("--json", "json_", is_flag=True, help="Print one line of JSON.")
