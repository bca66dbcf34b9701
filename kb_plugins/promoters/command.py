"""`classifier =`, `promoter =` and `reviewer =` as command lines: the prompt on stdin, the reply on stdout."""

from __future__ import annotations

from kb.api import Promoter, hookimpl
from kb_plugins.command_line import ask


@hookimpl
def kb_promoters() -> list[Promoter]:
    """Any value that no other plugin takes is a command line."""
    return [Promoter("command", lambda value: True, ask, fallback=True)]
