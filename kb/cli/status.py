"""One line on a terminal that says what a long run waits for. Nothing at all where stderr is no terminal."""

from __future__ import annotations

import shutil
import sys
import time

from kb.core.display import printable


class Status:
    """Replaces its line with each `show`; `clear` before anything else is printed, and at the end."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._shown = False
        self._begun = time.monotonic()

    def show(self, done: int, total: int, what: str) -> None:
        if not self._on:
            return
        width = shutil.get_terminal_size().columns - 1
        minutes, seconds = divmod(int(time.monotonic() - self._begun), 60)
        sys.stderr.write("\r" + f"  [{done + 1}/{total}] {minutes}:{seconds:02d} {printable(what)}"[:width].ljust(width))
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            sys.stderr.flush()
            self._shown = False
