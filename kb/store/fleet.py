"""From path arguments to an opened fleet: which bases there are, what they are called, where fleet-level files live."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kb.core.shelves import MAPS
from kb.core.values import Base, Fleet
from kb.errors import KbError
from kb.store.declared import CARD, FLEET, SHELVES, Surroundings, open_base, read_manifest, real_path


def open_fleet(paths: Sequence[str]) -> Fleet:
    """The fleet that `paths` name: each is a base, a folder with `fleet/`, a folder of bases, or any folder of markdown.

    A folder inside a base opens that base, under its name and its card, and of its notes those in the folder. What a base
    keeps private stays so by whatever path it is opened. Raises KbError when a path is no readable folder, and when two
    bases share a name (case aside).
    """
    asked: dict[str, list[str]] = {}
    skipped: list[str] = []
    around = Surroundings()
    for path in paths:
        for root, inside in _expand(real_folder(path), around, skipped):
            asked.setdefault(root, []).append(inside)
    bases = tuple(_open_base(root, folders, around, skipped) for root, folders in asked.items())
    _refuse_twins(bases)
    home = fleet_root(paths[0])
    manifest = read_manifest(home, skipped)
    return Fleet(home, manifest, bases, tuple(real_folder(path) for path in paths), tuple(dict.fromkeys(skipped)))


def real_folder(path: str) -> str:
    """The absolute real path of a folder. Raises KbError when it is none or cannot be read."""
    if "\0" in path:
        raise KbError("cannot read a path that holds a NUL character")
    if not path.strip():  # an empty variable of a script would be the current folder, without a word
        raise KbError("a path is blank", hint="the current folder is .")
    place = _absolute(path)
    try:
        real = os.path.realpath(place)
        os.listdir(real)
    except OSError as error:
        raise KbError(f"cannot read {path}: {error.strerror}") from None
    return real


def refuse_the_disk(root: str, what: str) -> None:
    """Raise KbError when the real folder `root` is the whole disk or somebody's home, which cannot be `what` (such as "a base")."""
    shelves = {os.path.realpath(folder) for folder in ("/home", "/Users")}
    homes = {os.path.realpath(os.path.expanduser(folder)) for folder in ("~", "/root")}
    above = os.path.dirname(root)
    if root == above or root in homes | shelves or above in shelves:
        raise KbError(f"{root} is no place for {what}: it would hold the whole disk or a home directory",
                      hint="name the folder of your notes")


def _absolute(path: str) -> str:
    """`path` with the current folder before it. Where that is gone this raises the system's error, which the boundary names."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def fleet_root(path: str) -> str:
    """Where fleet-level files live: the nearest folder at or above `path` that holds fleet.txt, else `path` itself."""
    place = _absolute(path)
    real = real_path(place) or os.path.abspath(place)
    folder = real
    while True:
        if os.path.isfile(os.path.join(folder, "fleet.txt")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return real
        folder = above


def is_base(folder: str, skipped: list[str] | None = None) -> bool:
    """Whether a folder says that it is a base: a map or an agent.txt by its exact name, whether that can be read or not. One
    that cannot be listed, and so might be a base, is told to `skipped` unless its name begins with a dot."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        if skipped is not None and not os.path.basename(folder).startswith("."):
            skipped.append(f"{folder} cannot be read: {error.strerror}")
        return False
    return CARD in names or any(name in names for name in MAPS)


def _expand(path: str, around: Surroundings, skipped: list[str]) -> list[tuple[str, str]]:
    """The bases that one real path opens, each with the folder of it that was asked for, "" for all of it."""
    if is_base(path):
        return [_part(path, around, of_any=False) or (path, "")]
    inner = os.path.join(path, SHELVES)
    if os.path.isdir(inner):
        try:
            names = sorted(os.listdir(inner))
        except OSError as error:
            raise KbError(f"cannot read {inner}: {error.strerror}") from None
        found = [os.path.join(inner, name) for name in names
                 if not name.startswith(".") and os.path.isdir(os.path.join(inner, name))]
    else:
        part = _part(path, around, of_any=False)
        if part is not None and os.path.basename(path) != SHELVES:
            return [part]
        found = [child for name in sorted(os.listdir(path))
                 if os.path.isdir(child := os.path.join(path, name)) and is_base(child, skipped)]
    if not found:
        return [_part(path, around, of_any=True) or (path, "")]
    manifest = read_manifest(path, skipped)
    disabled = set(manifest.all("disable"))
    kept = [child for child in found if os.path.basename(child) not in disabled]
    for place in manifest.all("attach"):
        folder = os.path.join(path, place)
        if os.path.isdir(folder):
            kept.append(folder)
        else:
            skipped.append(f"fleet.txt attaches {place}, and there is no such folder")
    return [(os.path.realpath(folder), "") for folder in kept if _may_be_listed(folder, skipped)]


def _part(path: str, around: Surroundings, *, of_any: bool) -> tuple[str, str] | None:
    """(base, folder of it) when `path` is neither a fleet nor a base by its card or its place, and lies in a base that is one,
    or that has a map at least with `of_any`. A map inside an agent is a reading list of that agent, which owns what is asked there."""
    if os.path.lexists(os.path.join(path, FLEET)) or around.is_declared(path):
        return None
    owner = around.owner(path)
    if owner is None or not (of_any or owner[1] == "base"):
        return None
    return owner[0], os.path.relpath(path, owner[0]).replace(os.sep, "/")


def _may_be_listed(folder: str, skipped: list[str]) -> bool:
    if os.access(folder, os.R_OK | os.X_OK):
        return True
    skipped.append(f"{folder} cannot be read: Permission denied")
    return False


def _open_base(root: str, folders: Sequence[str], around: Surroundings, skipped: list[str]) -> Base:
    base, told = open_base(root, () if "" in folders else tuple(dict.fromkeys(folders)))
    skipped += told
    return around.governed(base, skipped)


def _refuse_twins(bases: Sequence[Base]) -> None:
    first: dict[str, Base] = {}
    for base in bases:
        twin = first.setdefault(base.name.casefold(), base)
        if twin is not base:
            raise KbError(f"two bases are called {base.name}: {twin.root} and {base.root}",
                          hint="rename one, or disable it in fleet.txt")
