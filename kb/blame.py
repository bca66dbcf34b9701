"""A plugin's own code at run time: what it raises names the plugin, and is never taken for a fault of kb or for its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from kb.errors import KbError, PluginError
from kb.store.ending import Ended

if TYPE_CHECKING:
    from kb.core.ports import Changes, TextBackend, TextIndex
    from kb.core.values import Base

P = ParamSpec("P")
R = TypeVar("R")
HINT = "mend it, or turn it off with KB_DISABLE_PLUGINS"
ENDINGS = (KeyboardInterrupt, Ended)  # a person or a host ends kb: no plugin's code holds that back


@contextmanager
def blamed(what: str, *, may_refuse: bool = True) -> Iterator[None]:
    """Run a plugin's code. Whatever it raises becomes a PluginError about `what`, such as "the check Z01 of plugin z".

    A KbError is what a plugin that `may_refuse` wants to say, and passes. What it prints goes to stderr: it is no output of
    the verb.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ENDINGS:
        raise
    except BaseException as error:  # SystemExit too: a plugin does not end kb
        if may_refuse and isinstance(error, KbError):
            raise
        raise PluginError(f"{what} failed: {reason(error)}", hint=HINT) from error


def blaming(what: str, call: Callable[P, R]) -> Callable[P, R]:
    """`call`, blamed each time it is called."""
    def run(*given: P.args, **named: P.kwargs) -> R:
        with blamed(what):
            return call(*given, **named)

    return run


class BlamedBackend:
    """A text backend of a stranger, whose every fault names its plugin: a base that it cannot serve is told and skipped."""

    def __init__(self, what: str, backend: TextBackend) -> None:
        self.name = backend.name
        self._what = what
        self._backend = backend

    def apply(self, base: Base, generation: int, changes: Changes, *, fresh: bool) -> None:
        with blamed(self._what):
            self._backend.apply(base, generation, changes, fresh=fresh)

    def open(self, base: Base, generation: int) -> TextIndex:
        with blamed(self._what):
            return _BlamedIndex(self._what, self._backend.open(base, generation))

    def generation(self, base: Base) -> int | None:
        with blamed(self._what):
            return self._backend.generation(base)


class _BlamedIndex:
    def __init__(self, what: str, index: TextIndex) -> None:
        self.size = blaming(what, index.size)
        self.frequencies = blaming(what, index.frequencies)
        self.search = blaming(what, index.search)
        self.close = blaming(what, index.close)


def reason(error: BaseException) -> str:
    """The kind of an error and what it says, on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
