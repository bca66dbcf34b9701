"""The private layer of a base: what agent.txt declares, closed where the declaration cannot be taken at its word."""

from __future__ import annotations

from collections.abc import Callable

from kb.core.manifest import uncommented
from kb.core.values import Privacy

DEFAULT_FOLDERS = ("profile", "projects", "records")

_QUOTES = "\"'`"
# In a folder's name these are rare, and in a list that was written otherwise than with commas they are not.
_SIGNS = frozenset(_QUOTES + ";|:=<>[]{}!&$~%^\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\uff0c\uff1b\uff1a\u3001\u060c\u061b")
_SENTENCES = frozenset({"true", "yes", "on", "1", "all", "everything", "whole"})  # what other programs would read as "all of it"


def parse_private(card: str | None, name: str, *, readable: bool = True, shown: str = "",
                  exists: Callable[[str], bool] = lambda folder: False) -> Privacy:
    """The private layer of the base called `name`, from the text of its agent.txt (None when it has none).

    The person's base is private as a whole. So is one whose declaration is unreadable, empty or mixes `.` with
    folders: a privacy line that cannot be understood must not publish anything. A name that reads like a list in another
    form (`a; b`, `"a`, `a b`) is taken at its word only where `exists` finds it in the base. Warnings call the base `shown`.
    """
    shown = shown or name
    if name.casefold() == "person":
        return Privacy(whole=True)
    if not readable:
        return Privacy(whole=True, warning=f"{shown}/agent.txt cannot be read, so the whole base is treated as private")
    found = _declarations(card or "")
    if not found:
        return Privacy(whole=False, folders=DEFAULT_FOLDERS)
    if None in found:
        return Privacy(whole=True, warning=f"{shown}/agent.txt has a private line without =, so the whole base is treated as private")
    if len(found) > 1 and "." not in found:
        both = [_parse(value or "", shown, exists) for value in found]
        return Privacy(whole=any(one.whole for one in both), folders=tuple(folder for one in both for folder in one.folders),
                       warning=f"{shown}/agent.txt has {len(found)} private lines, and all of them hold")
    return _parse("." if "." in found else found[0] or "", shown, exists)


def declares_private(card: str | None) -> bool:
    """Whether agent.txt says anything of a private layer, so that its folders are not the default."""
    return bool(_declarations(card or ""))


def _parse(declared: str, name: str, exists: Callable[[str], bool]) -> Privacy:
    parts = [_unquoted(part.strip()) for part in declared.split(",")]
    if parts == ["."]:
        return Privacy(whole=True)
    if not any(parts):
        return Privacy(whole=True, warning=f"{name}/agent.txt declares an empty private line, so the whole base is "
                                           "treated as private")
    if any(part.rstrip("/") in (".", "..") or (not part.strip("/") and part) for part in parts):
        return Privacy(whole=True, warning=f"{name}/agent.txt mixes `.` with folders on its private line, so the whole "
                                           "base is treated as private")
    warning = None
    folders = []
    for part in parts:
        folder = part.replace("\\", "/")
        if folder.startswith(("./", "/")):
            warning = f"{name}/agent.txt: private folders are written from the base's root, without ./ or /: {part}"
        segments = [segment for segment in folder.split("/") if segment not in ("", ".")]
        if any(c in part for c in "*?\0"):
            return Privacy(whole=True, warning=f"{name}/agent.txt names private folders by a pattern ({part}), and only plain names "
                                               "are understood, so the whole base is treated as private")
        if ".." in segments:
            return Privacy(whole=True, warning=f"{name}/agent.txt names a private folder outside the base ({part}), so the "
                                               "whole base is treated as private")
        folder = "/".join(segments)
        if _is_doubtful(folder) and not exists(folder):
            return Privacy(whole=True, warning=f"{name}/agent.txt: the private line is no list of folders with commas between them "
                                               f"({part}), so the whole base is treated as private")
        if segments:
            folders.append(folder)
    return Privacy(whole=False, folders=tuple(dict.fromkeys(folders)), warning=warning)


def _unquoted(part: str) -> str:
    """A name without the quotes that enclose it; one quote alone stays."""
    return part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in _QUOTES else part


def _is_doubtful(folder: str) -> bool:
    return (any(c.isspace() or not c.isprintable() or c in _SIGNS for c in folder)
            or folder.casefold() in _SENTENCES)


def _declarations(card: str) -> list[str | None]:
    """The value of every `private` line, possibly empty; None for one that says private and has no `=` after it."""
    found: list[str | None] = []
    for line in card.replace("\r", "\n").split("\n"):
        key, equals, value = uncommented(line).partition("=")
        if equals and key.strip().casefold() == "private":
            found.append(value.strip())
        elif [word.casefold() for word in key.replace(":", " ").split()[:1]] == ["private"]:
            found.append(None)
    return found
