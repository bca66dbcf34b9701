"""From path arguments to an opened fleet: which bases there are, what they are called, where fleet-level files live."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kb.core.manifest import describe_base, parse_manifest
from kb.core.privacy import DEFAULT_FOLDERS
from kb.core.shelves import MAPS
from kb.core.values import Base, Fleet, Manifest, Privacy
from kb.errors import KbError
from kb.store.files import read_text


def open_fleet(paths: Sequence[str]) -> Fleet:
    """The fleet that `paths` name: each is a base, a folder with `fleet/`, a folder of bases, or any folder of markdown.

    Raises KbError when a path is no readable folder, and when two bases share a name (case aside).
    """
    roots: list[str] = []
    skipped: list[str] = []
    for path in paths:
        real = real_folder(path)
        roots += _expand(real, skipped)
    unique = list(dict.fromkeys(roots))
    bases = tuple(_open_base(root, skipped) for root in unique)
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
    real = os.path.realpath(path)
    try:
        os.listdir(real)
    except OSError as error:
        raise KbError(f"cannot read {path}: {error.strerror}") from None
    return real


def fleet_root(path: str) -> str:
    """Where fleet-level files live: the nearest folder at or above `path` that holds fleet.txt, else `path` itself."""
    real = os.path.realpath(path)
    folder = real
    while True:
        if os.path.isfile(os.path.join(folder, "fleet.txt")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return real
        folder = above


def read_manifest(root: str, skipped: list[str] | None = None) -> Manifest:
    """fleet.txt of the folder `root`; empty when there is none. One that cannot be read is told to `skipped`."""
    path = os.path.join(root, "fleet.txt")
    try:
        return parse_manifest(read_text(path))
    except FileNotFoundError:
        return Manifest()
    except (OSError, UnicodeDecodeError) as error:
        if skipped is not None:
            skipped.append(f"{path} cannot be read: {_why(error)}")
        return Manifest()


def is_base(folder: str, skipped: list[str] | None = None) -> bool:
    """Whether a folder says that it is a base: a map by its exact name, or an agent.txt. One that cannot be listed, and
    so might be a base, is told to `skipped` unless its name begins with a dot."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        if skipped is not None and not os.path.basename(folder).startswith("."):
            skipped.append(f"{folder} cannot be read: {error.strerror}")
        return False
    return any(name in names for name in MAPS) or os.path.isfile(os.path.join(folder, "agent.txt"))


def _expand(path: str, skipped: list[str]) -> list[str]:
    if is_base(path):
        return [path]
    inner = os.path.join(path, "fleet")
    if os.path.isdir(inner):
        try:
            names = sorted(os.listdir(inner))
        except OSError as error:
            raise KbError(f"cannot read {inner}: {error.strerror}") from None
        found = [os.path.join(inner, name) for name in names
                 if not name.startswith(".") and os.path.isdir(os.path.join(inner, name))]
    else:
        found = [child for name in sorted(os.listdir(path))
                 if os.path.isdir(child := os.path.join(path, name)) and is_base(child, skipped)]
    if not found:
        return [path]
    manifest = read_manifest(path, skipped)
    disabled = set(manifest.all("disable"))
    kept = [child for child in found if os.path.basename(child) not in disabled]
    for place in manifest.all("attach"):
        folder = os.path.join(path, place)
        if os.path.isdir(folder):
            kept.append(folder)
        else:
            skipped.append(f"fleet.txt attaches {place}, and there is no such folder")
    return [os.path.realpath(folder) for folder in kept if _may_be_listed(folder, skipped)]


def _may_be_listed(folder: str, skipped: list[str]) -> bool:
    if os.access(folder, os.R_OK | os.X_OK):
        return True
    skipped.append(f"{folder} cannot be read: Permission denied")
    return False


def _open_base(root: str, skipped: list[str]) -> Base:
    name = os.path.basename(root) or root
    card = os.path.join(root, "agent.txt")
    text: str | None = None
    readable = True
    if os.path.isfile(card):
        try:
            text = read_text(card)
        except (OSError, UnicodeDecodeError):
            text, readable = "", False
    base = describe_base(root, name, text, readable=readable)
    if base.privacy.warning:
        skipped.append(base.privacy.warning)
    return base._replace(privacy=_as_spelt(base, skipped)) if text else base


def _as_spelt(base: Base, skipped: list[str]) -> Privacy:
    """The declared folders as the disk spells them: `Drafts` means `drafts` too, whatever its case or accents are made of."""
    folders = list(base.privacy.folders)
    for folder in base.privacy.folders:
        if folder in DEFAULT_FOLDERS or os.path.lexists(os.path.join(base.root, folder)):
            continue
        for meant in _spellings(base.root, folder.split("/")):
            folders.append(meant)
            skipped.append(f"{base.name}/agent.txt: the private folder {folder} is spelt {meant} on disk, and is private")
    return base.privacy._replace(folders=tuple(folders))


def _spellings(root: str, segments: Sequence[str]) -> list[str]:
    """The paths below `root` that read as `segments` when case and the composition of accents are left out."""
    from unicodedata import normalize

    found = [""]
    for segment in segments:
        wanted = normalize("NFC", segment).casefold()
        try:
            found = [f"{above}/{name}".lstrip("/") for above in found for name in os.listdir(os.path.join(root, above))
                     if normalize("NFC", name).casefold() == wanted]
        except OSError:
            return []
    return found


def _refuse_twins(bases: Sequence[Base]) -> None:
    first: dict[str, Base] = {}
    for base in bases:
        twin = first.setdefault(base.name.casefold(), base)
        if twin is not base:
            raise KbError(f"two bases are called {base.name}: {twin.root} and {base.root}",
                          hint="rename one, or disable it in fleet.txt")


def _why(error: OSError | UnicodeDecodeError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.strerror)
