"""Which files a reply cites, and whether they were served to whoever wrote it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_BRACKETED = re.compile(r"<([^<>\n]+?\.md)(?:#[^<>\n]*)?>", re.IGNORECASE)
_BARE = re.compile(r"[^\s()<>\[\]{},;|\"“”«»`*]+/[^\s()<>\[\]{},;|\"“”«»`*]*?\.md(?![\w/])", re.IGNORECASE)


def cited(path: str) -> str:
    """A path as it is cited: in angle brackets when it holds a blank or a parenthesis."""
    return f"<{path}>" if any(c.isspace() or c in "()" for c in path) else path


def citations(reply: str, served: Iterable[str] = ()) -> list[str]:
    """The paths that a reply cites, once each, in order. A served path counts however it is written; a URL never does."""
    found: dict[str, None] = {}
    rest = unicodedata.normalize("NFC", reply)
    for path in sorted({unicodedata.normalize("NFC", path) for path in served}, key=len, reverse=True):
        pattern = re.compile(r"(?<![\w/.-])" + re.escape(path) + r"(?![\w/])")
        if pattern.search(rest):
            found[path] = None
            rest = pattern.sub(" ", rest)
    for pattern in (_BRACKETED, _BARE):
        for match in pattern.finditer(rest):
            path = match[1] if match.groups() else match[0]
            if "://" not in path and "/" in path:
                found[path.removeprefix("./")] = None
        rest = pattern.sub(" ", rest)
    return list(found)


def compare(reply: str, served: Sequence[str]) -> tuple[list[str], list[str]]:
    """(cited and not served, served and not cited)."""
    known = {unicodedata.normalize("NFC", path): path for path in served}
    named = citations(reply, served)
    return [path for path in named if path not in known], [path for key, path in known.items() if key not in named]
