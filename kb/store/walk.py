"""Which markdown files a base has today: one walk, links followed only while they stay inside, nothing read but cards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from kb.core.shelves import MAPS, SKIPPED_FOLDERS
from kb.core.values import Base
from kb.errors import KbError
from kb.store.declared import CARD, FLEET, PERSON, SHELVES, attached_folders, has_map, privacy_of, real_path
from kb.store.files import is_inside

_ENDINGS = frozenset((".md", ".MD", ".Md", ".mD"))
_SIGNS = frozenset((CARD, FLEET, *MAPS))  # files that say that the folder they stand in is a base, or a fleet
_NO_FILE = "it is not a regular file"


class FileStat(NamedTuple):
    """A markdown file of a base. `path` is POSIX and inside the base; size and mtime are 0 when they were not asked for."""

    path: str
    size: int
    mtime_ns: int
    private: bool


class LeftOut(NamedTuple):
    """What a walk met and did not take: its path inside the base, why, and whether it is of the private layer."""

    path: str
    reason: str
    private: bool = False


@dataclass(slots=True)
class Walk:
    """One walk of a base.

    files:    every markdown file in scope, sorted by path.
    skipped:  what was left out and why; of the private layer only when that is in scope.
    unlisted: folders (inside the base) that could not be listed: what they held is not known to be gone.
    unnamed:  files whose name is not valid UTF-8, which no index can hold.
    twins:    links to files that the walk has under another name, and may be seen: (path of the link, path of the file).
    remarks:  what there is to say of the cards of bases inside the base, one sentence each.
    inner:    the folders (inside the base) that are bases of their own, whose cards decide what is private as well.
    """

    files: list[FileStat] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    unnamed: list[LeftOut] = field(default_factory=list)
    twins: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    measure: bool = True

    def told(self, base: str) -> list[str]:
        """What was left out of the base called `base`, one sentence each."""
        return [*self.remarks, *(f"{base}/{one.path}: {one.reason}" for one in self.skipped)]


class _Top(NamedTuple):
    """A folder to walk from: its path inside the base, and its real one there, which differs behind a link."""

    path: str
    real: str


def walk_base(base: Base, include_private: bool, *, measure: bool = True, within: Sequence[str] = ()) -> Walk:
    """Walk `base`. Without `include_private` the private layer is not even listed; without `measure` no file is looked at;
    with `within` only those folders of the base are walked.

    Folders whose name begins with a dot and build folders are left out. A link that leaves the base is reported; a
    folder or file reached twice counts once; what a public link reaches in the private layer is private. A base that lies
    in this one keeps its own private layer. Raises KbError when the base itself cannot be listed.
    """
    walker = _Walker(base, include_private, Walk(measure=measure), within)
    if not base.privacy.whole or include_private:
        walker.run()
    return walker.walk


class _Walker:
    """State of one walk. All paths are inside the base but those that are called places."""

    def __init__(self, base: Base, include_private: bool, walk: Walk, within: Sequence[str]) -> None:
        self.base = base
        self.include_private = include_private
        self.walk = walk
        self.within = within
        self.seen: set[str] = set()                    # places, real
        self.links: list[tuple[str, str]] = []         # (path, place)
        self.signs: dict[str, set[str]] = {}           # real path of a folder -> the signs of a base in it
        self.behind: dict[str, str] = {}               # path of a file that was reached by a link -> its real path

    def run(self) -> None:
        for folder in sorted(self.within) or ("",):
            if self._may_be_seen(folder) and f"{self.base.root}/{folder}" not in self.seen:
                self._descend(_Top(folder, folder))
                self._look_above(folder)
        if self.links:
            self.seen.update(f"{self.base.root}/{stat.path}" for stat in self.walk.files)
        for path, place in _sorted_forever(self.links):
            self._follow(path, place)
        if self.signs:
            self._close()
        self.walk.files.sort(key=itemgetter(0))

    # -- folders ---------------------------------------------------------------------------------------------------

    def _descend(self, top: _Top) -> None:
        """Walk real folders below `top` and collect the links met.

        Each folder is opened once and its files are looked up relative to it: half the cost of a look-up by whole path.
        """
        base, walk, include_private, seen = self.base, self.walk, self.include_private, self.seen
        folders = set(base.privacy.folders)
        linked = top.path != top.real
        place = f"{base.root}/{top.real}" if top.real else base.root
        pending = [(place, top.path, top.real, self._covers(top.path, top.real))]
        while pending:
            folder, inside, real, private = pending.pop()
            if linked and folder in seen:
                continue
            seen.add(folder)
            prefix, real_prefix = f"{inside}/" if inside else "", f"{real}/" if real else ""
            if SHELVES in folder and os.path.basename(os.path.dirname(folder)) == SHELVES and real:
                self.signs.setdefault(real, set()).add(SHELVES)
            opened = -1
            try:
                opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                with os.scandir(opened) as entries:
                    for entry in entries:
                        name = entry.name
                        if name in _SIGNS:
                            self.signs.setdefault(real, set()).add(name)
                        try:
                            if name[-3:] in _ENDINGS and entry.is_file(follow_symlinks=False):
                                path = prefix + name
                                closed = private or path in folders or (linked and real_prefix + name in folders)
                                if include_private or not closed:
                                    stat = entry.stat(follow_symlinks=False) if walk.measure else None
                                    if linked and not self._is_new(path, real_prefix + name):
                                        continue
                                    _add(path, stat, closed, walk)
                            elif entry.is_symlink():
                                self.links.append((prefix + name, f"{folder}/{name}"))
                            elif name[0] != "." and name not in SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
                                path = prefix + name
                                closed = private or path in folders or (linked and real_prefix + name in folders)
                                if include_private or not closed:
                                    pending.append((f"{folder}/{name}", path, real_prefix + name, closed))
                            elif name[-3:] in _ENDINGS and not entry.is_dir(follow_symlinks=False):
                                self._leave_out(prefix + name, real_prefix + name, _NO_FILE)
                        except FileNotFoundError:  # it went away while its folder was listed
                            continue
            except OSError as error:
                if not inside:
                    raise KbError(f"cannot read {folder}: {error.strerror}") from None
                if not isinstance(error, FileNotFoundError):
                    self._leave_out(inside, real, f"the folder cannot be read: {error.strerror}")
                    walk.unlisted.append(inside)
            finally:
                if opened >= 0:
                    os.close(opened)

    def _is_new(self, path: str, real: str) -> bool:
        """Whether a file behind a link was not met before."""
        place = f"{self.base.root}/{real}"
        if place in self.seen:
            return False
        self.seen.add(place)
        self.behind[path] = real
        return True

    # -- links -----------------------------------------------------------------------------------------------------

    def _follow(self, path: str, place: str) -> None:
        root = self.base.root
        here = place[len(root) + 1:]  # where the link itself really is
        if not self._may_be_seen(path, here):
            return
        is_note = path[-3:].lower() == ".md"
        real = real_path(place)
        if real is None or not os.path.exists(real):
            if is_note:
                self._leave_out(path, here, "the link points nowhere")
            return
        is_folder = os.path.isdir(real)
        if not is_folder and not is_note:
            return
        if not is_inside(real, root):
            self._leave_out(path, here, "the link leaves its base, so it is not followed")
            return
        target = os.path.relpath(real, root).replace(os.sep, "/")
        if real == root or not self._may_be_seen(path, here, target):
            return
        if real in self.seen:
            if not is_folder:
                self.walk.twins.append((path, target))
            return
        if self.within and not any(target == folder or target.startswith(folder + "/") for folder in self.within):
            self._leave_out(path, here, "the link leaves the folder that was opened, so it is not followed")
            return
        self._look_above(target)
        if is_folder:
            if not any(part in SKIPPED_FOLDERS or part[0] == "." for part in path.split("/")):
                self._descend(_Top(path, target))
        elif os.path.isfile(real):
            self._add_linked(path, real, target, self._covers(path, here, target))
        else:
            self._leave_out(path, target, _NO_FILE)

    def _add_linked(self, path: str, real: str, target: str, private: bool) -> None:
        try:
            stat = os.stat(real)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self._leave_out(path, target, f"it cannot be read: {error.strerror}")
            return
        self.seen.add(real)
        self.behind[path] = target
        _add(path, stat, private, self.walk)

    # -- privacy ---------------------------------------------------------------------------------------------------

    def _covers(self, *paths: str) -> bool:
        """Whether one of the paths is private by the base's own declaration."""
        return self.base.privacy.whole or any(path and self.base.privacy.covers(path) for path in paths)

    def _may_be_seen(self, *paths: str) -> bool:
        return self.include_private or not self._covers(*paths)

    def _leave_out(self, path: str, real: str, reason: str) -> None:
        private = self._covers(path, real)
        if self.include_private or not private:
            self.walk.skipped.append(LeftOut(path, reason, private))
            if path != real:
                self.behind.setdefault(path, real)

    def _look_above(self, path: str) -> None:
        """Look for the signs of a base in the folders above one that was not reached by way of them."""
        above = path.rpartition("/")[0]
        while above and f"{self.base.root}/{above}" not in self.seen:
            place = f"{self.base.root}/{above}"
            found = {name for name in (CARD, FLEET) if os.path.lexists(f"{place}/{name}")}
            if has_map(place):
                found.add(MAPS[0])
            if os.path.basename(os.path.dirname(place)) == SHELVES:
                found.add(SHELVES)
            if found:
                self.signs.setdefault(above, set()).update(found)
            above = above.rpartition("/")[0]
        if self.within and os.path.lexists(f"{self.base.root}/{FLEET}"):
            self.signs.setdefault("", set()).add(FLEET)

    def _close(self) -> None:
        """Take out, or mark, what the bases that lie in this one keep private."""
        closed: set[str] = set()
        maps: dict[str, str] = {}  # private folder -> the folder with a map that it is private in by default
        remarks: list[tuple[str, str]] = []
        self.walk.inner = sorted(self._bases_inside())
        for folder in self.walk.inner:
            signs = self.signs.get(folder, set())
            privacy, told = privacy_of(f"{self.base.root}/{folder}", f"{self.base.name}/{folder}")
            remarks += [(folder, sentence) for sentence in told]
            if privacy.whole:
                closed.add(folder)
                continue
            for name in privacy.folders:
                closed.add(f"{folder}/{name}")
                if signs and signs.isdisjoint((CARD, SHELVES)):
                    maps[f"{folder}/{name}"] = folder
        if not closed:
            self.walk.remarks += [sentence for _, sentence in remarks]
            return
        kept = []
        for stat in self.walk.files:
            why = self._closed_by(stat.path, closed)
            if why is None:
                kept.append(stat)
            elif self.include_private:
                kept.append(stat._replace(private=True))
            elif why in maps:
                remarks.append(("", f"{self.base.name}/{maps[why]}: it has a map and so is a base of its own, whose "
                                    f"{why.rpartition('/')[2]}/ is private"))
        self.walk.files = kept
        for found in (self.walk.skipped, self.walk.unnamed):
            marked = [one._replace(private=True) if self._closed_by(one.path, closed) else one for one in found]
            found[:] = [one for one in marked if self.include_private or not one.private]
        self.walk.remarks += dict.fromkeys(sentence for folder, sentence in remarks if self.include_private
                                           or not _holder(folder.rpartition("/")[0], closed))

    def _bases_inside(self) -> set[str]:
        """The folders below the root that are bases: by a card, a map, their place under fleet/ or a fleet.txt."""
        root = self.base.root
        found = {folder for folder, signs in self.signs.items() if folder and signs != {FLEET}}
        for folder in [folder for folder, signs in self.signs.items() if FLEET in signs]:
            place = f"{root}/{folder}" if folder else root
            inside = [real for real in attached_folders(place) or () if is_inside(real, root) and real != root]
            inside += [f"{place}/{name}" for name in _folders_called(place, PERSON)]
            found.update(os.path.relpath(real, root).replace(os.sep, "/") for real in inside)
        return found

    def _closed_by(self, path: str, closed: set[str]) -> str | None:
        """The private folder, of a base inside this one, that holds the file at `path` or what it leads to."""
        real = self.behind.get(path)
        return _holder(path, closed) or (None if real is None else _holder(real, closed))


def _holder(path: str, folders: set[str]) -> str | None:
    while path:
        if path in folders:
            return path
        path = path.rpartition("/")[0]
    return None


def _folders_called(folder: str, name: str) -> list[str]:
    """The names in a folder that are `name` in any case."""
    try:
        return [one for one in os.listdir(folder) if one.casefold() == name]
    except OSError:
        return []


def _add(path: str, stat: os.stat_result | None, private: bool, walk: Walk) -> None:
    if not path.isascii():
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            walk.unnamed.append(LeftOut(path, "its name is not valid UTF-8", private))
            return
    size, mtime_ns = (0, 0) if stat is None else (stat.st_size, stat.st_mtime_ns)
    walk.files.append(FileStat(path, size, mtime_ns, private))


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
