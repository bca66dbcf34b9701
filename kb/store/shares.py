"""Work over many files in shares: a forked process for each further processor, its results back through a pipe.

The pools of the standard library take longer to import than ten thousand notes take to read.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LEAST = 1_000   # a fork and its pipe cost as much as some hundred notes: a process with fewer items is not worth one
_PIECES = 4     # shares for each process, so that a slow one takes fewer of them


def in_shares(items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], pack: Callable[[Result], Any],
              unpack: Callable[[Any], Result]) -> list[Result]:
    """`work(items)`, a result for each item, done in shares by several processes where that is safe and worth it.

    What `pack` makes of a result consists of None, bool, int, str, list, tuple and dict; `unpack` undoes it. `work` changes
    nothing outside of itself: the shares of a process that died are done again here.
    """
    processes = min(_processors(), len(items) // LEAST, 256 // _PIECES)
    if processes < 2:
        return work(items)
    shares = _cut(items, processes * _PIECES)
    numbers = _queue(bytes(range(len(shares))))
    children = [child for _ in range(processes - 1) if (child := _start(shares, numbers, work, pack)) is not None]
    done = {number: work(shares[number]) for number in _taken(numbers)}
    os.close(numbers)
    for child in children:
        done |= {number: list(map(unpack, packed)) for number, packed in _finish(*child)}
    return [result for number, share in enumerate(shares) for result in (done[number] if number in done else work(share))]


def _cut(items: Sequence[Item], count: int) -> list[Sequence[Item]]:
    size = -(-len(items) // count)
    return [items[start:start + size] for start in range(0, len(items), size)]


def _queue(numbers: bytes) -> int:
    """A pipe that holds the numbers of the shares and has no writer: each of them is read by one process only."""
    reading, writing = os.pipe()
    os.write(writing, numbers)
    os.close(writing)
    return reading


def _taken(numbers: int) -> Iterator[int]:
    while number := os.read(numbers, 1):
        yield number[0]


def _processors() -> int:
    """How many processes may work at once: one outside Linux, and where other threads may hold locks that a fork would copy."""
    threading = sys.modules.get("threading")
    if sys.platform != "linux" or (threading is not None and threading.active_count() > 1):
        return 1
    return len(os.sched_getaffinity(0))


def _start(shares: Sequence[Sequence[Item]], numbers: int, work: Callable[[Sequence[Item]], list[Result]],
           pack: Callable[[Result], Any]) -> tuple[int, int] | None:
    """(process id, the pipe to read from), or None when there can be no more processes."""
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return child, reading
    try:  # the child: whatever happens it ends here, and flushes nothing that its parent will write too
        os.close(reading)
        done = [(number, list(map(pack, work(shares[number])))) for number in _taken(numbers)]
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(marshal.dumps(done))
        os._exit(0)
    finally:
        os._exit(1)


def _finish(child: int, reading: int) -> list[tuple[int, list[Any]]]:
    """The shares that a child took and what it packed of them; none when it died before it had written all."""
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    with suppress(ChildProcessError):  # where SIGCHLD is ignored the system has taken it away
        os.waitpid(child, 0)
    try:
        found: list[tuple[int, list[Any]]] = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return []
    return found
