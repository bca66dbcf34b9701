"""What was typed or piped into a verb."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from kb.errors import KbError


def standard_input(what: str) -> BinaryIO:
    """stdin as bytes. Raises KbError when the caller closed it, or opened it for writing alone; `what` says what should have come
    by it, such as "the note"."""
    if sys.stdin is None:  # what Python makes of a descriptor that is closed
        raise KbError(f"stdin is closed, and {what} is read from it")
    try:
        os.read(sys.stdin.fileno(), 0)
    except OSError as error:
        raise KbError(f"{what} cannot be read from stdin: {error.strerror}") from None
    return sys.stdin.buffer
