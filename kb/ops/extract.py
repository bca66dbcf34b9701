"""The text of a document: by an adapter of the fleet, else by an extractor plugin in a process of its own.

The order: an executable file `tools/extract/<ending>.cmd`, `.sh` or `.py` of the fleet (approved with kb trust), then
the plugin for the ending. Both are held to the same limits.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from kb.errors import KbError
from kb.store import trust
from kb.store.commands import TooMuchOutput, run_command

MOST_BYTES = 200 * 1024 * 1024
MOST_TEXT = 8 * 1024 * 1024
SECONDS = 120.0
ADAPTERS = ("cmd", "sh", "py")


def ending_of(path: str) -> str:
    """The last extension of a file name, lower case, without the dot; "" when there is none."""
    return os.path.splitext(path)[1][1:].lower()


def adapter_for(root: str, path: str) -> str | None:
    """The fleet's own adapter for the document, as a POSIX path inside the fleet at `root`; None when it has none.

    A file that is not executable is none.
    """
    ending = ending_of(path)
    for kind in ADAPTERS if ending else ():
        place = f"{trust.ADAPTERS}/{ending}.{kind}"
        full = os.path.join(root, place)
        if os.path.isfile(full) and os.access(full, os.X_OK):
            return place
    return None


def extract(root: str, path: str) -> str:
    """The text of the document at the absolute `path`, for the fleet at `root`: not blank, line ends as `\\n`.

    Raises Untrusted for an adapter that nobody approved, KbError for a document that no one can read: too large, of an
    unknown kind, encrypted, scanned, mislabelled, or longer as text than a model could be given.
    """
    size = os.stat(path).st_size
    if size > MOST_BYTES:
        raise KbError(f"{path} has {size // 1024 // 1024} MB, and {MOST_BYTES // 1024 // 1024} MB is the most",
                      hint="split it, or save its text as a .txt")
    place = adapter_for(root, path)
    text = _by_adapter(root, place, path) if place is not None else _by_plugin(root, path)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n").replace("\0", "").strip("\n")
    if len(text.encode("utf-8", "replace")) > MOST_TEXT:
        raise _too_long(path)
    if not text.strip():
        raise KbError(f"{path} holds no text")
    return text


def _by_adapter(root: str, place: str, path: str) -> str:
    full = os.path.join(root, place)
    trust.require_adapter(root, full)
    return _run([full, path], f"{place}, on {path},", root, path)


def _by_plugin(root: str, path: str) -> str:
    ending = ending_of(path)
    own = [sys.executable, "-P", "-X", "pycache_prefix="]  # what is installed was compiled where it lies
    reply = _run([*own, "-m", "kb.extracting", ending, path], f"reading {path}", root, path)
    try:
        found = json.loads(reply)
        refused, hint = found.get("refused"), found.get("hint")
        text, unread = found.get("text"), found.get("unread")
    except (ValueError, AttributeError):
        raise KbError(f"reading {path} gave no answer") from None
    if isinstance(text, str):
        return text
    if unread:
        if not ending:
            raise KbError(f"{path} has no extension, so nothing says how to read it", hint="give it one, such as .txt or .pdf")
        script = os.path.join(root, trust.ADAPTERS, f"{ending}.cmd")
        raise KbError(f"nothing here reads .{ending}",
                      hint=f"write the executable {script}: the document is its one argument, text goes to stdout. For a PDF "
                      'it is two lines: #!/bin/sh and exec pdftotext -layout -enc UTF-8 "$1" -')
    raise KbError(f"cannot read {path}: {refused}", hint=hint)


def _run(words: Sequence[str], name: str, root: str, path: str) -> str:
    try:  # twice the text, because a reply is JSON and escapes line ends
        return run_command(words, name=name, root=root, timeout=SECONDS, limit=2 * MOST_TEXT)
    except TooMuchOutput:
        raise _too_long(path) from None


def _too_long(path: str) -> KbError:
    return KbError(f"{path} has more than {MOST_TEXT // 1024 // 1024} MB of text", hint="split the document")
