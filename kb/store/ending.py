"""What happens when kb itself is told to end while it has something to put away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Ended(SystemExit):
    """kb itself was told to end (SIGTERM, SIGHUP); unlike the SystemExit of a plugin it is never held back."""


@contextmanager
def ending_unwinds() -> Iterator[None]:
    """A host that ends kb, or a terminal that is closed, ends the block as Ctrl-C does: what it began is put away.

    By default SIGTERM and SIGHUP would end the process on the spot. One that the caller has ignored (nohup) stays ignored.
    """
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
            and signal.getsignal(number) == signal.SIG_DFL]

    def leave(number: int, frame: object) -> None:
        raise Ended(128 + number)

    for number in ends:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
