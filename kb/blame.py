"""A plugin's own code at run time: what it raises names the plugin, and is never taken for a fault of kb or for its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import ParamSpec, TypeVar

from kb.errors import KbError, PluginError
from kb.store.ending import Ended

P = ParamSpec("P")
R = TypeVar("R")
HINT = "mend it, or turn it off with KB_DISABLE_PLUGINS"
OURS = (KeyboardInterrupt, Ended)  # a person or a host ends kb: no plugin's code holds that back


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Run a plugin's code. Whatever it raises becomes a PluginError about `what`, such as "the check Z01 of plugin z".

    A KbError is what the plugin wants to say, and passes. What it prints goes to stderr: it is no output of the verb.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (KbError, *OURS):
        raise
    except BaseException as error:  # SystemExit too: a plugin does not end kb
        raise PluginError(f"{what} failed: {reason(error)}", hint=HINT) from error


def blaming(what: str, call: Callable[P, R]) -> Callable[P, R]:
    """`call`, blamed each time it is called."""
    def run(*given: P.args, **named: P.kwargs) -> R:
        with blamed(what):
            return call(*given, **named)

    return run


def reason(error: BaseException) -> str:
    """The kind of an error and what it says, on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
