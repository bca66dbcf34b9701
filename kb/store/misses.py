"""The miss log: what the library could not answer, counted."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kb.core.counted import LogText, clipped
from kb.core.logrows import MISSES, LoggedMiss
from kb.store.logs import count_up, read_log


def misses_path(fleet_root: str) -> str:
    """The fleet's miss log: KB_MISSES_PATH, which names a file, else kb-misses.txt in the fleet root."""
    named = os.environ.get("KB_MISSES_PATH", "").strip()
    return os.path.realpath(os.path.expanduser(named)) if named else os.path.join(fleet_root, MISSES.file)


def record(log_path: str, question: str, looked_like: Sequence[str], today: str) -> None:
    """Count one more asking of `question`, its secrets cut out. A blank question changes nothing. Raises KbError."""
    from kb.core.scrub import scrub

    text = clipped(scrub(question))
    if text:
        count_up(log_path, MISSES, LoggedMiss(1, today, today, text, tuple(looked_like)))


def read(log_path: str) -> LogText[LoggedMiss]:
    """The log, most asked first; empty when there is none. Raises KbError when it cannot be read."""
    return read_log(log_path, MISSES)
