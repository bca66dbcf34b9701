"""What a folder says of itself: whether it is a base, its card, its private layer; and which bases lie around a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from kb.core.manifest import parse_manifest
from kb.core.privacy import DEFAULT_FOLDERS, declares_private, parse_private
from kb.core.shelves import MAPS
from kb.core.values import Base, Manifest, Privacy
from kb.store.files import NOT_UTF8, is_inside, read_text

CARD, FLEET = "agent.txt", "fleet.txt"
SHELVES = "fleet"  # the folder of a fleet whose children are bases, whatever they hold
PERSON = "person"

Kind = Literal["base", "map", ""]
_Found = Literal["missing", "there", "by a link"]


class Around(NamedTuple):
    """A base around a folder. `beyond` says that a fleet.txt stands between the two, so that they are of different fleets."""

    root: str
    kind: Kind
    beyond: bool


def open_base(root: str, within: tuple[str, ...] = ()) -> tuple[Base, list[str]]:
    """The base at `root` (absolute, real), its private layer as the disk spells it, and what there is to say of its card."""
    card, readable = read_card(root)
    name = base_name(root)
    privacy, told = _privacy(root, name, name, card, readable)
    manifest = parse_manifest(card or "")
    base = Base(name=name, root=root, title=manifest.last("name") or name[:1].upper() + name[1:],
                routable=card is not None and name.casefold() != PERSON, privacy=privacy, role=manifest.last("role"),
                ends=manifest.last("ends"), language=manifest.last("language"), within=within)
    return base, told


def privacy_of(root: str, shown: str) -> tuple[Privacy, list[str]]:
    """The private layer of the base at `root`, which sentences call `shown`, and what there is to say of its card."""
    card, readable = read_card(root)
    return _privacy(root, base_name(root), shown, card, readable)


def base_name(root: str) -> str:
    """The last component of a path. Line ends and other control characters are shown as escapes, so that the name of a
    folder is one line in every prompt, list and sentence; a surrogate stays: it says that the name is not UTF-8."""
    name = os.path.basename(root) or root
    if name.isprintable():
        return name
    from kb.core.display import printable

    return "".join(f"\\u{ord(c):04x}" if c in "\u2028\u2029" else c if "\ud800" <= c <= "\udfff" else printable(c) for c in name)


def read_card(root: str) -> tuple[str | None, bool]:
    """(text of agent.txt, whether it can be read). The text is None when there is no file, link or folder of that name."""
    path = os.path.join(root, CARD)
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, True
    except OSError:
        return "", False
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError):
        return "", False
    return ("", False) if "\0" in text else (text, True)  # UTF-16 without its mark


def read_manifest(root: str, skipped: list[str] | None = None) -> Manifest:
    """fleet.txt of the folder `root`; empty when there is none. One that cannot be read is told to `skipped`."""
    path = os.path.join(root, FLEET)
    try:
        return parse_manifest(read_text(path))
    except FileNotFoundError:
        return Manifest()
    except (OSError, UnicodeDecodeError) as error:
        if skipped is not None:
            why = NOT_UTF8 if isinstance(error, UnicodeDecodeError) else error.strerror
            skipped.append(f"{path} cannot be read: {why}")
        return Manifest()


def attached_folders(root: str) -> list[str] | None:
    """The real paths of the folders that fleet.txt of `root` attaches; None when there is no fleet.txt."""
    if not os.path.lexists(os.path.join(root, FLEET)):
        return None
    return [real for place in read_manifest(root).all("attach") if (real := real_path(os.path.join(root, place))) is not None]


def real_path(path: str) -> str | None:
    """The real path, or None where a link on the way may not be read."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


class Surroundings:
    """What lies around folders. Every folder is looked at once, so that forty bases of a fleet cost little more than one."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._fleets: dict[str, list[str] | None] = {}
        self._privacy: dict[str, Privacy] = {}
        self._top = os.path.realpath(os.path.expanduser("~"))

    def kind(self, folder: str) -> Kind:
        """`base` for a folder that is one by its card or its place in a fleet, `map` for one that only has a map, else ""."""
        found = self._kinds.get(folder)
        if found is None:
            found = self._kinds[folder] = self._look(folder)
        return found

    def above(self, folder: str) -> Iterator[Around]:
        """The bases that hold the real path `folder`, which is none of them, nearest first.

        Nothing is looked for above a home directory, which speaks for what lies in it only by a card of its own.
        """
        found: list[Around] = []
        beyond = False
        here = folder
        while True:
            attached = self._attached(here)
            beyond = beyond or attached is not None
            found += [Around(root, "base", False) for root in attached or () if root != folder and is_inside(folder, root)]
            if here in (self._top, os.path.dirname(here)):
                break
            here = os.path.dirname(here)
            kind = self.kind(here)
            if kind:
                found.append(Around(here, kind, beyond))
        yield from sorted(found, key=lambda around: -len(around.root))

    def owner(self, folder: str) -> tuple[str, Kind] | None:
        """The base that the real path `folder` is a part of, and its kind: the nearest that says what it is, else the nearest."""
        near = [around for around in self.above(folder) if not around.beyond and around.root != self._top]
        best = next((around for around in near if around.kind == "base"), near[0] if near else None)
        return None if best is None else (best.root, best.kind)

    def is_declared(self, folder: str) -> bool:
        """Whether `folder` is a base by its card, its place in a fleet, or an `attach` of the fleet around it."""
        if self.kind(folder) == "base":
            return True
        here = folder
        while True:
            if folder in (self._attached(here) or ()):
                return True
            if here in (self._top, os.path.dirname(here)):
                return False
            here = os.path.dirname(here)

    def governed(self, base: Base, told: list[str]) -> Base:
        """`base` with what the bases around it keep private: a folder of theirs stays so, by whatever path it is opened.

        A folder that only has a map does not speak for a base that says what it is, nor for another fleet.
        """
        privacy = base.privacy
        declared: bool | None = None
        for around in self.above(base.root):
            if privacy.whole:
                break
            if around.kind == "map":
                declared = self.is_declared(base.root) if declared is None else declared
                if declared or around.beyond:
                    continue
            outer = self._privacy.get(around.root)
            if outer is None:
                outer = self._privacy[around.root] = privacy_of(around.root, base_name(around.root))[0]
            inside = os.path.relpath(base.root, around.root).replace(os.sep, "/")
            if outer.covers(inside):
                privacy = Privacy(whole=True, warning=privacy.warning)
                told.append(f"{base.name} lies in the private layer of {base_name(around.root)}, so the whole of it is private")
            else:
                more = tuple(folder[len(inside) + 1:] for folder in outer.folders if folder.startswith(inside + "/"))
                privacy = privacy._replace(folders=tuple(dict.fromkeys((*privacy.folders, *more))))
        return base._replace(privacy=privacy)

    def _attached(self, folder: str) -> list[str] | None:
        """What the fleet.txt of a folder attaches; None when it has none."""
        if folder not in self._fleets:
            self._fleets[folder] = attached_folders(folder)
        return self._fleets[folder]

    def _look(self, folder: str) -> Kind:
        above, name = os.path.split(folder)
        if not name:
            return ""
        if os.path.lexists(os.path.join(folder, CARD)):
            return "base"
        if folder == self._top:
            return ""
        if os.path.basename(above) == SHELVES and not name.startswith("."):
            return "base"
        if name.casefold() == PERSON and os.path.lexists(os.path.join(above, FLEET)):
            return "base"
        return "map" if has_map(folder) else ""


def has_map(folder: str) -> bool:
    """Whether a folder holds a map by its exact name, also where the file system does not tell cases apart."""
    if not any(os.path.lexists(os.path.join(folder, name)) for name in MAPS):
        return False
    try:
        names = os.listdir(folder)
    except OSError:
        return True
    return any(name in names for name in MAPS)


# -- the private layer, as the disk has it ----------------------------------------------------------------------------

def is_private(base: Base, path: str, around: Surroundings | None = None) -> bool:
    """Whether the file or folder at `path` (POSIX, inside the base) is private: by the base's card, by that of a base that lies in
    it around the file, or because the path leads to a private one by a link. `around` saves looking twice when many are asked."""
    around = around or Surroundings()
    paths = {path}
    real = real_path(os.path.join(base.root, path))
    if real is not None and is_inside(real, base.root):
        paths.add(os.path.relpath(real, base.root).replace(os.sep, "/"))
    return any(base.privacy.covers(one) or _is_closed_below(base.root, one, around) for one in paths)


def _is_closed_below(root: str, path: str, around: Surroundings) -> bool:
    folder, _, inner = path.rpartition("/")
    while folder:
        place = os.path.join(root, folder)
        if around.kind(place) and privacy_of(place, "")[0].covers(inner):
            return True
        folder, _, name = folder.rpartition("/")
        inner = f"{name}/{inner}"
    return False


def _privacy(root: str, name: str, shown: str, card: str | None, readable: bool) -> tuple[Privacy, list[str]]:
    privacy = parse_private(card, name, readable=readable, shown=shown, exists=lambda folder: bool(_places(root, folder, True)))
    told = [privacy.warning] if privacy.warning else []
    if privacy.whole:
        return privacy, told
    declared = declares_private(card)
    folders = list(privacy.folders)
    for folder in privacy.folders:
        places = _places(root, folder, declared)
        for meant in places:
            if meant not in folders:
                folders.append(meant)
        if declared and not places and folder not in DEFAULT_FOLDERS:
            told.append(f"{shown}/agent.txt: there is no folder {folder}, which its private line names")
        elif declared and folder not in places:
            told += [f"{shown}/agent.txt: the private folder {folder} is spelt {meant} on disk, and is private" for meant in places]
    return privacy._replace(folders=tuple(folders)), told


def _places(root: str, folder: str, declared: bool) -> list[str]:
    """The paths below `root` that `folder` means, what it leads to by a link included; none when there is none.

    A declared folder means one that is spelt otherwise too, where its own spelling is not there: `Drafts` means `drafts`.
    """
    found = _find(root, folder)
    if found == "missing":
        return _spellings(root, folder.split("/")) if declared else []
    if found == "there":
        return [folder]
    real = real_path(os.path.join(root, folder))
    if real is None or real == root or not is_inside(real, root):
        return [folder]
    return [folder, os.path.relpath(real, root).replace(os.sep, "/")]


def _find(root: str, folder: str) -> _Found:
    place, linked = root, False
    for segment in folder.split("/"):
        place = f"{place}/{segment}"
        try:
            linked = stat.S_ISLNK(os.lstat(place).st_mode) or linked
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except (OSError, ValueError):  # what may not be looked at may be there
            return "there"
    return "by a link" if linked else "there"


def _spellings(root: str, segments: Sequence[str]) -> list[str]:
    """The paths below `root` that read as `segments` when case and the composition of accents are left out."""
    from unicodedata import normalize

    found = [""]
    for segment in segments:
        wanted = normalize("NFC", segment).casefold()
        found = [f"{above}/{name}".lstrip("/") for above in found for name in _names(os.path.join(root, above))
                 if normalize("NFC", name).casefold() == wanted]
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []
