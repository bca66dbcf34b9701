"""Which artifact a round is about, what the artifact holds, and the reviewers' constitutions on disk."""

from __future__ import annotations

import os

from kb.core.counted import field
from kb.errors import KbError, UsageError
from kb.store.files import is_inside, read_text, stay_inside, write_atomic


def artifact_key(artifact: str, root: str) -> str:
    """The artifact as its POSIX path from the fleet root, whether it was named from here or from there.

    What is no file under the root keeps the path it was given, made absolute when it exists elsewhere; an address
    (`https://...`) stays as it is. Raises UsageError for a blank one.
    """
    name = field(artifact).replace("\\", "/")
    if not name:
        raise UsageError("the artifact is blank", hint="name the file, or the address, that the round is about")
    if "://" in name:
        return name
    here = os.path.realpath(name)
    there = os.path.realpath(os.path.join(root, name))
    place = next((path for path in (here, there) if os.path.exists(path)), here if is_inside(here, root) else there)
    return os.path.relpath(place, root).replace(os.sep, "/") if is_inside(place, root) else place


def artifact_text(key: str, root: str) -> str | None:
    """What the artifact holds, or None when it is no readable text file."""
    path = os.path.join(root, key)
    try:
        return read_text(path) if os.path.isfile(path) else None
    except (OSError, UnicodeDecodeError):
        return None


def panel_folder(root: str) -> str:
    """Where the constitutions of a round lie when nobody names a folder. Raises KbError when a link leads it elsewhere."""
    folder = os.path.join(root, ".kb", "panel")
    try:
        stay_inside(folder, root)
    except OSError as error:
        raise KbError(f"cannot write {folder}: {error.strerror}") from None
    return folder


def write_constitution(folder: str, agent: str, text: str) -> str:
    """Put a reviewer's constitution where its subagent reads it, and return the path."""
    path = os.path.join(folder, f"{agent}-constitution.txt")
    try:
        stay_inside(path, folder)
        write_atomic(path, text)
    except OSError as error:
        raise KbError(f"cannot write {path}: {error.strerror or error}") from None
    return path
