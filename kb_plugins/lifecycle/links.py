"""Inline links and the title of a markdown document, fenced code left out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(\s*(<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)"
                   r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*\)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """(line number from 1, line) of every line outside fenced code and front matter, inline code blanked."""
    fence = ""
    front = text.startswith("---\n")
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if front:
            front = number == 1 or line != "---"
            continue
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif found:
            fence = found[1]
        else:
            yield number, re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda m: " " * len(m[0]), line)


def links(text: str) -> list[tuple[int, str]]:
    """(line, target) of every inline link."""
    return [(number, found[1].strip("<>")) for number, line in prose(text) for found in _LINK.finditer(line)]


def path_of_link(document: str, target: str) -> str | None:
    """The repository path that a link of a document means; None for a URL, an absolute path or one that climbs out."""
    target = unquote(target.partition("#")[0])
    if not target or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|/", target):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document), target))
    return None if path.startswith("../") or path == ".." else "" if path == "." else path


def title_of(text: str) -> str:
    """The first heading of level 1, or ""."""
    return next((line[2:].strip().rstrip("#").strip() for _, line in prose(text) if line.startswith("# ")), "")
