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


@contextmanager
def undisturbed() -> Iterator[None]:
    """A signal that would end the block is heard when the block has ended, by the handler that was there before it.

    For what must not be cut in two, such as starting a process and knowing that it was started.
    """
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    before = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    heard: list[int] = []
    for number in before:
        signal.signal(number, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in heard[:1]:
            signal.raise_signal(number)
