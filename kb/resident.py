"""A process that stays: one opened fleet for its surfaces, brought up to date before every use, without a restart."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence

from kb.app import App, open_app
from kb.store.clock import now

_SHARE = 10  # looking for changes may take a tenth of the time: then a burst of questions is not spent on walking folders

_LONGEST = 2.0  # seconds: the first look at a large fleet reads every note, and tells nothing about the next one


class Resident:
    """Holds the App of a server. `app()` is what the disk says now, or said a moment ago.

    A refresh that took t is not repeated within 10 x t, two seconds at most, so that a large fleet is not walked for every
    call of a burst. What fleet.txt and the cards say, and so what is private, is read for every call.
    """

    def __init__(self, paths: Sequence[str], include_private: bool) -> None:
        """Open the fleet (cheap: no note is read yet). Raises KbError when it cannot be opened, or KB_NOW is no time."""
        now()  # what the environment says wrong is told to who starts the server, not to every caller as their own mistake
        self._app = open_app(paths, include_private)
        self._lock = threading.Lock()
        self._next = 0.0
        self._seen: list[tuple[int, ...] | None] = []

    @property
    def opened(self) -> App:
        """The fleet as it was last seen, without looking again."""
        return self._app

    def app(self) -> App:
        """The fleet, refreshed when it is time. Raises KbError when it is gone."""
        with self._lock:
            start = time.monotonic()
            if start >= self._next or self._app.reopened().fleet != self._app.fleet or self._inner() != self._seen:
                self._app = self._app.refreshed()
                self._seen = self._inner()
                end = time.monotonic()
                self._next = end + min(_LONGEST, _SHARE * (end - start))
            return self._app

    def _inner(self) -> list[tuple[int, ...] | None]:
        """What tells whether the card of a base inside an opened one was written since."""
        return [_stamp(card) for card in self._app.catalogue.inner_cards()]

    def renewed(self) -> App:
        """The fleet, refreshed now."""
        with self._lock:
            self._next = 0.0
        return self.app()


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
