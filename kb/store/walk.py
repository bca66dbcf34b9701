"""Which markdown files a base has today: one walk, links followed only while they stay inside, nothing read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from kb.core.shelves import SKIPPED_FOLDERS
from kb.core.values import Base
from kb.errors import KbError
from kb.store.files import is_inside

_ENDINGS = frozenset((".md", ".MD", ".Md", ".mD"))
_NO_FILE = "it is not a regular file"


class FileStat(NamedTuple):
    """A markdown file of a base. `path` is POSIX and inside the base; size and mtime are 0 when they were not asked for."""

    path: str
    size: int
    mtime_ns: int
    private: bool


@dataclass(slots=True)
class Walk:
    """One walk of a base.

    files:    every markdown file in scope, sorted by path.
    skipped:  what was left out and why, one sentence each.
    unlisted: folders (inside the base) that could not be listed: what they held is not known to be gone.
    unnamed:  files whose name is not valid UTF-8, which no index can hold: (path, reason).
    """

    files: list[FileStat] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    unnamed: list[tuple[str, str]] = field(default_factory=list)
    measure: bool = True


def walk_base(base: Base, include_private: bool, *, measure: bool = True) -> Walk:
    """Walk `base`. Without `include_private` the private layer is not even listed; without `measure` no file is looked at.

    Folders whose name begins with a dot and build folders are left out. A link that leaves the base is reported; a
    folder or file reached twice counts once; what a public link reaches in the private layer is private. Raises KbError
    when the base itself cannot be listed.
    """
    walk = Walk(measure=measure)
    if base.privacy.whole and not include_private:
        return walk
    seen: set[str] = set()
    links: list[tuple[str, str]] = []  # (path inside the base, where it was found on disk)
    _descend(base, base.root, "", include_private, walk, seen, links)
    if links:
        seen.update(f"{base.root}/{stat.path}" for stat in walk.files)
    for path, place in _sorted_forever(links):
        _follow(base, path, place, include_private, walk, seen, links)
    walk.files.sort(key=itemgetter(0))
    return walk


def _descend(base: Base, top: str, top_path: str, include_private: bool, walk: Walk, seen: set[str],
             links: list[tuple[str, str]]) -> None:
    """Walk real folders below `top`, whose path inside the base is `top_path`, and collect the links met.

    Each folder is opened once and its files are looked up relative to it: half the cost of a look-up by whole path.
    """
    folders = set(base.privacy.folders)
    pending = [(top, top_path, base.privacy.whole or (bool(top_path) and base.privacy.covers(top_path)))]
    while pending:
        folder, inside, private = pending.pop()
        seen.add(folder)
        prefix = f"{inside}/" if inside else ""
        opened = -1
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with os.scandir(opened) as entries:
                for entry in entries:
                    name = entry.name
                    if name[-3:] in _ENDINGS and entry.is_file(follow_symlinks=False):
                        path = prefix + name
                        closed = private or path in folders
                        if include_private or not closed:
                            _add(path, entry.stat(follow_symlinks=False) if walk.measure else None, closed, walk)
                    elif entry.is_symlink():
                        links.append((prefix + name, f"{folder}/{name}"))
                    elif name[0] != "." and name not in SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
                        path = prefix + name
                        closed = private or path in folders
                        if include_private or not closed:
                            pending.append((f"{folder}/{name}", path, closed))
                    elif name[-3:] in _ENDINGS and not entry.is_dir(follow_symlinks=False):
                        path = prefix + name
                        if include_private or not (private or path in folders):
                            walk.skipped.append(f"{base.name}/{path}: {_NO_FILE}")
        except OSError as error:
            if not inside:
                raise KbError(f"cannot read {folder}: {error.strerror}") from None
            walk.skipped.append(f"{base.name}/{inside}: the folder cannot be read: {error.strerror}")
            walk.unlisted.append(inside)
        finally:
            if opened >= 0:
                os.close(opened)


def _add(path: str, stat: os.stat_result | None, private: bool, walk: Walk) -> None:
    if not path.isascii():
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            walk.unnamed.append((path, "its name is not valid UTF-8"))
            return
    size, mtime_ns = (0, 0) if stat is None else (stat.st_size, stat.st_mtime_ns)
    walk.files.append(FileStat(path, size, mtime_ns, private))


def _follow(base: Base, path: str, place: str, include_private: bool, walk: Walk, seen: set[str],
            links: list[tuple[str, str]]) -> None:
    real = os.path.realpath(place)
    if not os.path.exists(real):
        if path[-3:].lower() == ".md":
            walk.skipped.append(f"{base.name}/{path}: the link points nowhere")
        return
    is_folder = os.path.isdir(real)
    if not is_folder and path[-3:].lower() != ".md":
        return
    if not is_inside(real, base.root):
        walk.skipped.append(f"{base.name}/{path}: the link leaves its base, so it is not followed")
        return
    if real in seen or real == base.root:
        return
    target = os.path.relpath(real, base.root).replace(os.sep, "/")
    private = base.privacy.covers(path) or base.privacy.covers(target)
    if private and not include_private:
        return
    if is_folder:
        if not any(part in SKIPPED_FOLDERS or part[0] == "." for part in path.split("/")):
            _descend(base, real, path, include_private, walk, seen, links)
    elif os.path.isfile(real):
        seen.add(real)
        _add(path, os.stat(real), private, walk)
    else:
        walk.skipped.append(f"{base.name}/{path}: {_NO_FILE}")


def _sorted_forever(links: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The links in order of their paths, those too that following one brings to light."""
    done: set[str] = set()
    while True:
        fresh = sorted(link for link in links if link[0] not in done)
        if not fresh:
            return
        for link in fresh:
            done.add(link[0])
            yield link
