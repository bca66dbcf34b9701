"""`answerer = <command line>`: the prompt on stdin of a program, the answer on its stdout."""

from __future__ import annotations

from kb.api import Answerer, ModelRequest, command_words, hookimpl, run_command


def answer(value: str, request: ModelRequest) -> str:
    """What the command prints. Raises KbError on a failure, with the tail of its stderr."""
    root = str(request.root)
    return run_command(command_words(value, root), name=request.role, root=root, stdin=request.prompt,
                       timeout=request.timeout)


@hookimpl
def kb_answerers() -> list[Answerer]:
    """Any value that no other answerer takes is a command line."""
    return [Answerer("command", lambda value: True, answer, fallback=True)]
