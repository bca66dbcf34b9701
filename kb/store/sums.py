"""`.kb/sums.json`: what the caches of a base measured when the last sync left them, so that the next one notices damage.

Only `kb index` asks. Reading 137 MB of index.db this way takes it 0.15 s; SQLite's own quick_check takes 0.3 s, does not
look into texts and postings, and since 3.44 takes as long as indexing. A question checks the rows that it reads and no more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from zlib import crc32

from kb.store.files import write_atomic

CACHES = ("index.db", "entries.db")
_PART = 1 << 20  # bytes read at once

Sums = Mapping[str, tuple[int, int]]  # file name -> (size in bytes, crc32)


def read_sums(root: str) -> Sums:
    """What was noted; empty when there is no note, or none that can be read."""
    try:
        with open(_path(root), encoding="utf-8") as file:
            return {name: (int(size), int(total)) for name, (size, total) in json.load(file).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def forget_sums(root: str) -> None:
    """Said before a cache is written to: what a crash leaves is then not compared with what was before it."""
    try:
        os.unlink(_path(root))
    except FileNotFoundError:
        return


def write_sums(root: str) -> None:
    """Note what the caches are now. A file with a log beside it is not at rest, and is left out."""
    found = {name: total for name in CACHES if is_at_rest(root, name) and (total := measure(root, name)) is not None}
    write_atomic(_path(root), json.dumps(found))


def measure(root: str, name: str) -> tuple[int, int] | None:
    """(size, crc32) of one cache, or None when it is not there or cannot be read."""
    try:
        fd = os.open(os.path.join(root, ".kb", name), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    size = total = 0
    try:
        while part := os.read(fd, _PART):
            size, total = size + len(part), crc32(part, total)
    except OSError:
        return None
    finally:
        os.close(fd)
    return size, total


def is_at_rest(root: str, name: str) -> bool:
    """Whether no log of an unfinished write, or of another process's, lies beside a cache."""
    return not any(_size(os.path.join(root, ".kb", name + suffix)) for suffix in ("-wal", "-journal"))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _path(root: str) -> str:
    return os.path.join(root, ".kb", "sums.json")
