"""kb-aliases.txt of a base: reading its left sides and appending a measured line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kb.core.query import parse_aliases
from kb.core.words import normalise
from kb.errors import KbError
from kb.store.files import locked, read_text, stay_inside, write_atomic

ALIASES = "kb-aliases.txt"


class AliasTaken(KbError):
    """The left side is in the file already."""


def append_alias(base_root: str, alias: str, canonical: str, comment: Sequence[str]) -> str:
    """Add `alias = canonical` under the comment lines (without `# `) and return the path of the file.

    Raises AliasTaken when an alias of the same words is there, KbError when the file cannot be read or written.
    """
    path = os.path.join(base_root, ALIASES)
    try:
        stay_inside(path, base_root)
        with locked(path):
            try:
                text = read_text(path)
            except FileNotFoundError:
                text = ""
            wanted = normalise(alias)
            if any(normalise(known.alias) == wanted for known in parse_aliases(text)):
                raise AliasTaken(f"{alias} is an alias in {path} already")
            end = "\r\n" if "\r\n" in text else "\n"
            lines = [*(f"# {line}" for line in comment), f"{alias} = {canonical}", ""]
            before = text if not text or text.endswith("\n") else text + end
            write_atomic(path, before + (end if before else "") + end.join(lines))
    except UnicodeDecodeError:
        raise KbError(f"{path} is not UTF-8 text", hint="it was left as it is") from None
    except OSError as error:
        raise KbError(f"cannot write {path}: {error.strerror or error}") from None
    return path
