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
    declared = _declaration(card or "")
    if declared is None:
        return Privacy(whole=False, folders=DEFAULT_FOLDERS)
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
        if ".." in segments:
            return Privacy(whole=True, warning=f"{name}/agent.txt names a private folder outside the base ({part}), so the "
                                               "whole base is treated as private")
        if segments:
            folders.append("/".join(segments))
    return Privacy(whole=False, folders=tuple(dict.fromkeys(folders)), warning=warning)


def _declaration(card: str) -> str | None:
    """The value of the first `private` line, possibly empty; None when there is no such line."""
    for line in card.split("\n"):
        key, equals, value = line.partition("#")[0].partition("=")
        if equals and key.strip() == "private":
            return value.strip()
    return None
