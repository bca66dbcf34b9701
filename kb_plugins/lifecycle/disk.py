"""Files of one checkout, by their path below its root. A link that leads out of the checkout is neither read nor written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kb.api import KbError, is_inside, locked, read_bytes, write_atomic
from kb_plugins.lifecycle import layout
from kb_plugins.lifecycle.exits import unwritable
from kb_plugins.lifecycle.git import Checkout

_LEFTOVER_SECONDS = 3600


class Disk:
    """Reads and atomic writes below `checkout.root`. Every failed write is exit 13."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.root = checkout.root
        self._excluded = False

    def path(self, name: str) -> str:
        """The absolute path of `name`. Raises KbError (13) when links take it out of the checkout."""
        if self.leads_out(name):
            raise unwritable(f"{name} leads out of the repository", hint="it is a link; replace it by a real file")
        return os.path.join(self.root, name)

    def leads_out(self, name: str) -> bool:
        """Whether links take `name` out of the checkout."""
        return not is_inside(os.path.realpath(os.path.join(self.root, name)), self.root)

    # -- reading ---------------------------------------------------------------------------------------------------

    def exists(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.root, name))

    def read(self, name: str) -> bytes | None:
        """The file; None only when it is not there. Raises KbError (13) when it cannot be read or leads out of the checkout:
        who took that for "not there" would call a damaged state an empty one."""
        try:
            return read_bytes(self.path(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # no such file can be there
                return None
            raise unwritable(f"{name} cannot be read: {error.strerror or error}") from None

    def read_if_readable(self, name: str) -> bytes | None:
        """The file, or None when it is not there or cannot be read: for a caller that tells the two apart, or tells of both."""
        try:
            return self.read(name)
        except KbError:
            return None

    def text(self, name: str) -> str | None:
        """The file as UTF-8 with what is no UTF-8 replaced, or None when it is not there. Raises as `read` does."""
        data = self.read(name)
        return None if data is None else data.decode("utf-8-sig", "replace")

    def text_to_edit(self, name: str) -> str | None:
        """The file for somebody who will write it again; None only when it is not there.

        Raises KbError (13) when it cannot be read or is no UTF-8: writing it again would lose what it holds.
        """
        try:
            return read_bytes(self.path(name)).decode("utf-8-sig")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise unwritable(f"{name} is not UTF-8, and is left as it is", hint="save it as UTF-8") from None
        except OSError as error:
            raise unwritable(f"{name} cannot be read: {error.strerror or error}") from None

    def names(self, folder: str, suffix: str = ".md") -> list[str]:
        """Names of the files in a folder, in byte order; empty when it is not there. Raises KbError (13) when it cannot be listed."""
        try:
            with os.scandir(os.path.join(self.root, folder)) as entries:
                found = [entry.name for entry in entries if entry.name.endswith(suffix) and not entry.name.startswith(".")
                         and _is_file(entry)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unwritable(f"{folder} cannot be listed: {error.strerror or error}") from None
        return sorted(found, key=os.fsencode)

    # -- writing ---------------------------------------------------------------------------------------------------

    def write(self, name: str, text: str, *, mode: int = 0o644) -> None:
        """Replace a file in one step, its folder and the folder's contract included."""
        self.write_bytes(name, text.encode("utf-8", "replace"), mode=mode)

    def write_bytes(self, name: str, data: bytes, *, mode: int) -> None:
        """As `write`, for bytes that are taken over as they are."""
        try:
            self.prepare(os.path.dirname(name))
            write_atomic(self.path(name), data, mode=mode)
        except OSError as error:
            raise unwritable(f"{name} could not be written: {error.strerror or error}") from None

    def publish(self, name: str, text: str, *, mode: int) -> bool:
        """Write a file that must not be there yet, in one step. False when it is."""
        full = self.path(name)
        temporary = f"{os.path.dirname(full)}/.{os.path.basename(full)[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            self.prepare(os.path.dirname(name))
            try:
                write_atomic(temporary, text.encode("utf-8", "replace"), mode=mode)
                _link(temporary, full)
            except FileExistsError:
                return False
            finally:
                if os.path.exists(temporary):
                    os.unlink(temporary)
        except OSError as error:
            raise unwritable(f"{name} could not be written: {error.strerror or error}") from None
        return True

    def remove(self, name: str) -> None:
        try:
            os.unlink(os.path.join(self.root, name))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise unwritable(f"{name} could not be removed: {error.strerror or error}") from None

    def prepare(self, folder: str) -> None:
        """Make a folder: with its contract when it is a tracked one, out of git's sight when it is a local one."""
        full = self.path(folder)
        if folder == layout.LOCAL or folder.startswith(f"{layout.LOCAL}/"):
            self._exclude()
        os.makedirs(full, exist_ok=True)
        if folder in layout.CONTRACTS:
            readme = os.path.join(full, "README.md")
            if not os.path.lexists(readme):
                write_atomic(readme, layout.contract(folder), mode=0o644)
        _sweep(full)

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold one of the checkout's own locks. Raises KbError (13) when another process keeps it."""
        try:
            self.prepare(layout.LOCKS)
            holder = locked(self.path(f"{layout.LOCKS}/{name}"))
            holder.__enter__()
        except OSError as error:
            raise unwritable(f"{layout.LOCKS} could not be written: {error.strerror or error}") from None
        except KbError as error:
            raise unwritable(error.message, hint=error.hint) from None
        try:
            yield
        finally:
            holder.__exit__(None, None, None)

    def _exclude(self) -> None:
        """Keep `.ai/local/` out of git without touching a tracked file."""
        if self._excluded:
            return
        self._excluded = True
        place = os.path.join(self.checkout.common, "info", "exclude")
        try:
            text = read_bytes(place).decode("utf-8", "surrogateescape")
        except OSError:
            text = ""
        if f"{layout.LOCAL}/" in text or self.checkout.line("check-ignore", f"{layout.LOCAL}/x"):
            return
        if text and not text.endswith("\n"):
            text += "\n"
        write_atomic(place, (text + f"/{layout.LOCAL}/\n").encode("utf-8", "surrogateescape"))


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is one, or may be: what cannot be asked is for its reader to tell."""
    try:
        return entry.is_file()
    except OSError:
        return True


def _link(temporary: str, target: str) -> None:
    """Give a finished file its name, if nobody has it. Raises FileExistsError when somebody does."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        os.replace(temporary, target)


def _sweep(folder: str) -> None:
    """Remove what a killed writer left behind more than an hour ago."""
    import time

    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                try:
                    if entry.stat(follow_symlinks=False).st_mtime < time.time() - _LEFTOVER_SECONDS:
                        os.unlink(entry.path)
                except OSError:
                    continue
