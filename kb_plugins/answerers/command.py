"""`answerer = <command line>`: the prompt on stdin of a program, the answer on its stdout."""

from __future__ import annotations

from kb.api import Answerer, hookimpl
from kb_plugins.command_line import ask


@hookimpl
def kb_answerers() -> list[Answerer]:
    """Any value that no other answerer takes is a command line."""
    return [Answerer("command", lambda value: True, ask, fallback=True)]
