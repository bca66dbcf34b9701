"""A model as a command line: the prompt on its stdin, the reply on its stdout. Serves answerers and promoters."""

from __future__ import annotations

from kb.api import ModelRequest, command_words, run_command


def ask(value: str, request: ModelRequest) -> str:
    """What the command `value` prints. Raises KbError on a failure, with the tail of its stderr."""
    root = str(request.root)
    return run_command(command_words(value, root), name=request.role, root=root, stdin=request.prompt, timeout=request.timeout)
