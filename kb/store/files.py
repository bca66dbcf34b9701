"""Reading and writing files so that nothing a user wrote is ever lost or torn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kb.errors import KbError

LOCK_SECONDS = 10.0


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole file. os.read with the size from fstat is twice as fast as a buffered read of many small files."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        size = os.fstat(fd).st_size
        first = os.read(fd, size + 1)
        if len(first) == size:  # one byte more was asked for and not given: this is the end
            return first
        parts = [first]
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def read_text(path: str | os.PathLike[str]) -> str:
    """The file as UTF-8 without a byte order mark. Line endings stay. Raises OSError or UnicodeDecodeError."""
    data = read_bytes(path)
    return (data[3:] if data.startswith(b"\xef\xbb\xbf") else data).decode()  # utf-8-sig costs a call into Python each time


def write_atomic(path: str | os.PathLike[str], data: bytes | str, *, mode: int | None = None) -> None:
    """Replace the file in one step: a crash leaves the old or the new one. Creates the folders above it.

    A symbolic link is written through, so that it stays a link. The old file's permissions are kept unless `mode` is given.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    if isinstance(data, str):
        data = data.encode("utf-8")
    temporary = os.path.join(folder, f".{os.path.basename(target)[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    if mode is None:
        try:
            mode = os.stat(target).st_mode & 0o7777
        except OSError:
            mode = None
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view):]
            os.fsync(fd)
        finally:
            os.close(fd)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


@contextmanager
def locked(path: str | os.PathLike[str], *, wait: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the inter-process lock of the file at `path` for a whole read-modify-write.

    The lock lives beside it as `.<name>.lock`; it is freed by the system when its process dies. Waits up to `wait`
    seconds, then raises KbError.
    """
    from filelock import FileLock, Timeout

    folder, name = os.path.split(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    lock = FileLock(os.path.join(folder, f".{name}.lock"))
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        raise KbError(f"{path} is in use by another process", hint="try again in a moment") from None
    try:
        yield
    finally:
        lock.release()


def cache_home() -> str:
    """kb's folder in the user's cache: XDG_CACHE_HOME, else ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "kb")


def config_home() -> str:
    """kb's folder in the user's configuration: XDG_CONFIG_HOME, else ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "kb")
