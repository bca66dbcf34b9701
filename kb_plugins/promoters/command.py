"""`classifier =`, `promoter =` and `reviewer =` as command lines: the prompt on stdin, the reply on stdout."""

from __future__ import annotations

from kb.api import ModelRequest, Promoter, command_words, hookimpl, run_command


def ask(value: str, request: ModelRequest) -> str:
    """What the command prints. Raises KbError on a failure, with the tail of its stderr."""
    root = str(request.root)
    return run_command(command_words(value, root), name=request.role, root=root, stdin=request.prompt,
                       timeout=request.timeout)


@hookimpl
def kb_promoters() -> list[Promoter]:
    """Any value that no other plugin takes is a command line."""
    return [Promoter("command", lambda value: True, ask, fallback=True)]
