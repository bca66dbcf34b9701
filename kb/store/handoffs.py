"""Handoff records on disk: `.kb/sessions/<session>.handoff.md` beside fleet.txt, and which one was saved last.

Whoever changes a record holds one lock from the reading to the rename, so a baton has one holder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kb.core.counted import field
from kb.core.handoff import Handoff, parse, render
from kb.core.session import safe_id
from kb.errors import KbError
from kb.store.files import cannot_read, locked, read_text, stay_inside, write_atomic
from kb.store.sessions import sessions_folder

_SUFFIX = ".handoff.md"
_POINTER = "latest-handoff.txt"


def load(root: str, session: str) -> Handoff | None:
    """The record of a session, or None. Raises KbError when it is there and cannot be read."""
    found = _find(root, session)
    return None if found is None else found[1]


def latest(root: str) -> Handoff | None:
    """The record saved last: the one the pointer names, else the newest file. None when there is none."""
    try:
        session = read_text(os.path.join(sessions_folder(root), _POINTER)).strip()
    except (OSError, UnicodeDecodeError):
        session = ""
    named = load(root, session) if session else None
    return named if named is not None else next(records(root), None)


def records(root: str) -> Iterator[Handoff]:
    """Every readable record, the file changed last first."""
    folder = sessions_folder(root)
    try:
        with os.scandir(folder) as entries:
            files = sorted(((entry.stat().st_mtime_ns, entry.path) for entry in entries
                            if entry.name.endswith(_SUFFIX) and not entry.name.startswith(".")), reverse=True)
    except OSError:
        return
    for _, path in files:
        try:
            record = parse(read_text(path))
        except (OSError, UnicodeDecodeError):
            continue
        if record is not None:
            yield record


def save(root: str, session: str, change: Callable[[Handoff | None], Handoff]) -> tuple[Handoff, str]:
    """Write what `change` makes of the session's record (None: there is none), point at it, and return it with its path.

    Raises KbError when it cannot be written; what `change` raises leaves everything as it was.
    """
    with _held(root):
        found = _find(root, session)
        path = found[0] if found else _free_path(root, session)
        record = change(found[1] if found else None)
        stay_inside(path, root)
        write_atomic(path, render(record))
        write_atomic(os.path.join(sessions_folder(root), _POINTER), session + "\n")
    return record, path


def change(root: str, session: str | None, change: Callable[[Handoff | None], Handoff]) -> tuple[Handoff, str]:
    """Replace the record of a session (None: the latest) by what `change` makes of it; the record and its path.

    `change` refuses None, which it gets when there is no record. Raises KbError like `save`.
    """
    if not os.path.isdir(sessions_folder(root)):
        change(None)  # which refuses; nothing is created, not even a lock
    with _held(root):
        record = load(root, session) if session is not None else latest(root)
        changed = change(record)
        found = _find(root, changed.session)
        path = found[0] if found else _free_path(root, changed.session)
        stay_inside(path, root)
        write_atomic(path, render(changed))
    return changed, path


@contextmanager
def _held(root: str) -> Iterator[None]:
    pointer = os.path.join(sessions_folder(root), _POINTER)
    try:
        stay_inside(pointer, root)
        with locked(pointer):
            yield
    except OSError as error:
        raise KbError(f"cannot write {error.filename or sessions_folder(root)}: {error.strerror or error}") from None


def _find(root: str, session: str) -> tuple[str, Handoff] | None:
    """The file of a session and its record. The plain name may belong to another session with the same safe form."""
    session = field(session)  # as a record keeps it, so that what was saved under an id is found by the same one
    for path in _paths(root, session):
        try:
            record = parse(read_text(path))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise cannot_read(path, error) from None
        if record is not None and record.session == session:
            return path, record
    return None


def _free_path(root: str, session: str) -> str:
    for path in _paths(root, session):
        if not os.path.lexists(path):
            return path
    raise KbError(f"{path} is there and is no handoff record", hint="mend it or move it away")


def _paths(root: str, session: str) -> tuple[str, str]:
    """Where a session's record may be: under its safe form, or, when that is another's, with a digest of the id as well."""
    folder, session = sessions_folder(root), field(session)
    digest = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    safe = safe_id(session)
    return os.path.join(folder, safe + _SUFFIX), os.path.join(folder, f"{safe}--{digest}{_SUFFIX}")
