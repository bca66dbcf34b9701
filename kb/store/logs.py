"""Counted logs on disk: one reader and one writer for all of them.

A log that cannot be read is never overwritten. A change holds the log's lock from the read to the rename.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import TypeVar

from kb.core.counted import LogFormat, LogText, parse, render
from kb.errors import KbError
from kb.store.files import cannot_read, locked, read_text, stay_inside, write_atomic

R = TypeVar("R")


def log_path(root: str, form: LogFormat[R]) -> str:
    """Where the log of that format is for a fleet whose files lie in `root`."""
    return os.path.join(root, form.file)


def read_log(path: str, form: LogFormat[R]) -> LogText[R]:
    """The log at `path`; an absent one is empty. Raises KbError when it is there and cannot be read. Writes nothing."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise KbError(f"{path} is not a file")
        text = read_text(path)
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise cannot_read(path, error) from None
    return parse(form, text)


def change_log(path: str, form: LogFormat[R], change: Callable[[tuple[R, ...]], Sequence[R]]) -> LogText[R]:
    """Replace the rows of the log by what `change` makes of them, in one locked step, and return the log as written.

    Lines that are no rows, and comments, are kept. What `change` raises leaves the file as it was. Raises KbError when
    the log cannot be read, locked or written.
    """
    try:
        stay_inside(path, os.path.dirname(path))
        with locked(path):
            log = read_log(path, form)
            log = log._replace(rows=tuple(change(log.rows)))
            write_atomic(path, render(form, log))
            return log
    except OSError as error:
        raise KbError(f"cannot write {path}: {error.strerror or error}") from None


def count_up(path: str, form: LogFormat[R], row: R) -> LogText[R]:
    """Count one more occurrence of `row`: merged into the row with its key, or added."""
    return change_log(path, form, lambda rows: (*rows, row))


def stray_lines(path: str, log: LogText[R]) -> list[str]:
    """One sentence for each line of a log that is no row; the line itself stays in the file."""
    return [f"{path}:{line.number}: this line is no row of the log; it is kept and not counted" for line in log.strays]
