"""Reading and writing files so that nothing a user wrote is ever lost or torn."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kb.errors import KbError

LOCK_SECONDS = 10.0
NOT_UTF8 = "it is not UTF-8"  # why a file of notes is left out
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
_READ_AT_ONCE = _READ | getattr(os, "O_NONBLOCK", 0)
_KIND, _REGULAR, _FOLDER = 0o170000, 0o100000, 0o040000  # stat.S_IFMT, S_IFREG, S_IFDIR without their module


def read_bytes(path: str | os.PathLike[str], *, any_kind: bool = False) -> bytes:
    """The whole file. os.read with the size from fstat is twice as fast as a buffered read of many small files.

    A pipe or a device is an OSError, not a wait without end: a clone may bring one under any name. `any_kind` takes
    them too, for a path that a person gave.
    """
    fd = os.open(path, _READ if any_kind else _READ_AT_ONCE)
    try:
        found = os.fstat(fd)
        size = found.st_size
        if not any_kind and found.st_mode & _KIND not in (_REGULAR, _FOLDER):  # reading a folder says so itself
            raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
        first = os.read(fd, size + 1)
        if len(first) == size:  # one byte more was asked for and not given: this is the end
            return first
        parts = [first]
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def read_measured(path: str, size: int) -> bytes:
    """`read_bytes` for a regular file that measured `size` bytes a moment ago: one look less, which is a fifth of a small file."""
    fd = os.open(path, _READ_AT_ONCE)
    try:
        data = os.read(fd, size + 1)
    finally:
        os.close(fd)
    return data if len(data) == size else read_bytes(path)


def read_text(path: str | os.PathLike[str], *, any_kind: bool = False) -> str:
    """The file as UTF-8 without a byte order mark. Line endings stay. Raises OSError or UnicodeDecodeError."""
    return decoded(read_bytes(path, any_kind=any_kind))


def decoded(data: bytes) -> str:
    """UTF-8 without a byte order mark; the codec utf-8-sig costs a call into Python each time. Raises UnicodeDecodeError."""
    return (data[3:] if data.startswith(b"\xef\xbb\xbf") else data).decode()


def cannot_read(path: str, error: OSError | UnicodeDecodeError) -> KbError:
    """How every reader says that a file is there and it cannot make sense of it."""
    if isinstance(error, UnicodeDecodeError):
        return KbError(f"{path} is not UTF-8 text", hint="it was left as it is; mend it or move it away")
    return KbError(f"cannot read {path}: {error.strerror or error}")


def write_atomic(path: str | os.PathLike[str], data: bytes | str, *, mode: int | None = None) -> None:
    """Replace the file in one step: a crash leaves the old or the new one. Creates the folders above it.

    A symbolic link is written through, so that it stays a link. The old file's permissions are kept unless `mode` is given.
    Raises OSError with a file name: the target's, or that of a folder which cannot be made.
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
    except BaseException as error:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        if isinstance(error, OSError):  # nobody knows the temporary file, and a full disk names none at all
            error.filename, error.filename2 = target, None
        raise


def is_inside(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies below it. Both are absolute, and links are resolved by the caller where they matter."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def stay_inside(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> None:
    """Refuse to write where links lead out of `root`: a clone can bring a log that is a link to a file of its reader.

    Raises PermissionError, before anything is created.
    """
    top, real = os.path.realpath(root), os.path.realpath(path)
    if real == top or not is_inside(real, top):
        raise PermissionError(errno.EPERM, f"a link leads out of {root}", os.fspath(path))


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
    return _user_folder("XDG_CACHE_HOME", ".cache")


def config_home() -> str:
    """kb's folder in the user's configuration: XDG_CONFIG_HOME, else ~/.config."""
    return _user_folder("XDG_CONFIG_HOME", ".config")


def _user_folder(variable: str, usual: str) -> str:
    """Relative settings are ignored, as the XDG specification asks: they would name a place in whatever folder kb stands.

    With no home at all it is a path below os.devnull, where nothing can be read or written.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return os.path.join(named, "kb")
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        home = _home_of_the_account()
    return os.path.join(home, usual, "kb")


def _home_of_the_account() -> str:
    try:
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        home = os.path.expanduser("~")
    return home if os.path.isabs(home) else os.devnull
