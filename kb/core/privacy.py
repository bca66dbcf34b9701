"""The private layer of a base: what agent.txt declares, closed where the declaration cannot be taken at its word."""

from __future__ import annotations

from kb.core.values import Privacy

DEFAULT_FOLDERS = ("profile", "projects", "records")


def parse_private(card: str | None, name: str, *, readable: bool = True) -> Privacy:
    """The private layer of the base called `name`, from the text of its agent.txt (None when it has none).

    The person's base is private as a whole. So is one whose declaration is unreadable, empty or mixes `.` with
    folders: a privacy line that cannot be understood must not publish anything.
    """
    if name.casefold() == "person":
        return Privacy(whole=True)
    if not readable:
        return Privacy(whole=True, warning=f"{name}/agent.txt cannot be read, so the whole base is treated as private")
    found = _declarations(card or "")
    if not found:
        return Privacy(whole=False, folders=DEFAULT_FOLDERS)
    if None in found:
        return Privacy(whole=True, warning=f"{name}/agent.txt has a private line without =, so the whole base is treated as private")
    if len(found) > 1 and "." not in found:
        both = [_parse(value or "", name) for value in found]
        return Privacy(whole=any(one.whole for one in both), folders=tuple(folder for one in both for folder in one.folders),
                       warning=f"{name}/agent.txt has {len(found)} private lines, and all of them hold")
    return _parse("." if "." in found else found[0] or "", name)


def _parse(declared: str, name: str) -> Privacy:
    if declared == ".":
        return Privacy(whole=True)
    parts = [part.strip() for part in declared.split(",")]
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
        if segments:
            folders.append("/".join(segments))
    return Privacy(whole=False, folders=tuple(dict.fromkeys(folders)), warning=warning)


def _declarations(card: str) -> list[str | None]:
    """The value of every `private` line, possibly empty; None for one that says private and has no `=` after it."""
    found: list[str | None] = []
    for line in card.splitlines():
        key, equals, value = line.partition("#")[0].partition("=")
        if equals and key.strip().casefold() == "private":
            found.append(value.strip())
        elif key.replace(":", " ").split()[:1] in (["private"], ["Private"], ["PRIVATE"]):
            found.append(None)
    return found
