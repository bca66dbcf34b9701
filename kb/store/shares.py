"""Work over many files in shares: a forked process for each further processor, its results back through a pipe.

The pools of the standard library take longer to import than ten thousand notes take to read.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LEAST = 1_000  # a fork and its pipe cost as much as some hundred notes: a smaller share is not worth one


def in_shares(items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], pack: Callable[[Result], Any],
              unpack: Callable[[Any], Result]) -> list[Result]:
    """`work(items)`, a result for each item, done in shares by several processes where that is safe and worth it.

    What `pack` makes of a result consists of None, bool, int, str, list, tuple and dict; `unpack` undoes it. `work` changes
    nothing outside of itself: the share of a process that died is done again here.
    """
    shares = _cut(items, min(_processors(), len(items) // LEAST))
    started = [_start(share, work, pack) for share in shares[1:]]
    results = work(shares[0])
    for share, child in zip(shares[1:], started, strict=True):
        packed = _finish(*child) if child is not None else None
        results += work(share) if packed is None else map(unpack, packed)
    return results


def _cut(items: Sequence[Item], count: int) -> list[Sequence[Item]]:
    size = -(-len(items) // max(count, 1)) or 1
    return [items[start:start + size] for start in range(0, len(items), size)] or [items]


def _processors() -> int:
    """How many processes may work at once: one outside Linux, and where other threads may hold locks that a fork would copy."""
    threading = sys.modules.get("threading")
    if sys.platform != "linux" or (threading is not None and threading.active_count() > 1):
        return 1
    return len(os.sched_getaffinity(0))


def _start(share: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]],
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
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(marshal.dumps(list(map(pack, work(share)))))
        os._exit(0)
    finally:
        os._exit(1)


def _finish(child: int, reading: int) -> list[Any] | None:
    """What a child packed, or None when it died before it had written all."""
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    with suppress(ChildProcessError):  # where SIGCHLD is ignored the system has taken it away
        os.waitpid(child, 0)
    try:
        found: list[Any] = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None
    return found
