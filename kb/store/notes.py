"""One note as read from disk: its hash, its header, and which of the buckets of a walk it falls into."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from kb.core.shelves import is_exempt, is_orientation
from kb.core.values import Header
from kb.store.files import NOT_UTF8, decoded, read_measured
from kb.store.walk import FileStat

if TYPE_CHECKING:
    from kb.core.content import Content


RACY_NS = 2_000_000_000  # a file written within two seconds of being read may have changed again at the same mtime


class Bucket(IntEnum):
    """Where a file of the walk counts. The four sum to the files on disk."""

    ENTRY = 0
    UNREACHABLE = 1
    EXEMPT = 2
    UNREADABLE = 3


class Note(NamedTuple):
    """A file of a base as it was when it was read.

    read_ns: when it was read; number: its file number in index.db, 0 when it has none; reason: why it is unreadable;
    content: what stands inside its lines, None when nobody looked.
    """

    path: str
    size: int
    mtime_ns: int
    read_ns: int
    hash: str
    number: int
    bucket: Bucket
    header: Header
    reason: str = ""
    content: Content | None = None


def read_note(root: str, stat: FileStat, map_name: str | None) -> tuple[Note, str]:
    """The note at `stat.path` and its text. One that cannot be read or decoded is UNREADABLE, with an empty text."""
    import time

    from kb.core.header import parse_header

    read_ns = time.time_ns()
    try:
        data = read_measured(os.path.join(root, stat.path), stat.size)
        text = decoded(data)
    except UnicodeDecodeError:
        return _unreadable(stat, read_ns, NOT_UTF8), ""
    except OSError as error:
        return _unreadable(stat, read_ns, str(error.strerror)), ""
    header = parse_header(text)
    return Note(stat.path, stat.size, stat.mtime_ns, read_ns, content_hash(data), 0,
                bucket_of(stat.path, header, map_name), header), text


def is_settled(mtime_ns: int, read_ns: int) -> bool:
    """Whether a file was last written long enough before it was read that a later write has another mtime."""
    return mtime_ns < read_ns - RACY_NS


def bucket_of(path: str, header: Header, map_name: str | None) -> Bucket:
    """The bucket of a readable file: an orientation file is never an entry, whatever it carries."""
    if is_orientation(path, map_name):
        return Bucket.EXEMPT
    if header.keys:
        return Bucket.ENTRY
    return Bucket.EXEMPT if is_exempt(path, map_name) else Bucket.UNREACHABLE


def content_hash(data: bytes) -> str:
    """blake2b of the bytes on disk, 16 bytes as hexadecimal."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def _unreadable(stat: FileStat, read_ns: int, reason: str) -> Note:
    return Note(stat.path, stat.size, stat.mtime_ns, read_ns, "", 0, Bucket.UNREADABLE, Header(), reason)
