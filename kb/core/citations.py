"""Which files a reply cites, and whether they were served to whoever wrote it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_BRACKETED = re.compile(r"<([^<>\n]+?\.md)(?:#[^<>\n]*)?>", re.IGNORECASE)
_BARE = re.compile(r"[^\s()<>\[\]{},;|\"“”«»`*]+/[^\s()<>\[\]{},;|\"“”«»`*]*?\.md(?![\w/])", re.IGNORECASE)
_QUOTE = re.compile(r"[“”«»\"]")
_BESIDE = 4  # words on either side that tell a quoted path from a cited one


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


def compare(reply: str, served: Sequence[str], texts: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """(cited and not served, served and not cited). `texts` are what was served: a path that is quoted from them is no citation."""
    known = {unicodedata.normalize("NFC", path): path for path in served}
    named = citations(reply, served)
    unserved = [path for path in named if path not in known]
    if unserved:
        held = [_flat(text) for text in texts if any(path in unicodedata.normalize("NFC", text) for path in unserved)]
        unserved = [path for path in unserved if not held or not _is_only_quoted(path, reply, held)]
    return unserved, [path for key, path in known.items() if key not in named]


def _is_only_quoted(path: str, reply: str, held: Sequence[str]) -> bool:
    """Whether each place of the reply that names `path` is, with the words beside it, a copy of a text that was served.

    A path that stands between quotation marks has no words beside it: there it is enough that a text holds it.
    """
    at = re.compile(r"(?<![\w/.-])" + re.escape(path) + r"(?![\w/])")
    lines = [_flat(line) for line in reply.splitlines()]
    places = [(line, match.span()) for line in lines for match in at.finditer(line)]
    return bool(places) and all(_is_quoted(line, span, held) for line, span in places)


def _is_quoted(line: str, span: tuple[int, int], held: Sequence[str]) -> bool:
    start, end = span
    before = " ".join(_QUOTE.split(line[:start])[-1].split(" ")[-_BESIDE:])
    after = " ".join(_QUOTE.split(line[end:])[0].split(" ")[:_BESIDE])
    around = [before + line[start:end]] if re.search(r"\w", before) else []
    around += [line[start:end] + after] if re.search(r"\w", after) else []
    if not around and _QUOTE.match(line[start - 1:start]) and _QUOTE.match(line[end:end + 1]):
        around = [line[start:end]]
    return any(text in known for text in around for known in held)


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
