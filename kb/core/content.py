"""What stands in a note, as the linter asks of it: dead keys, links, citations, bibliography and dashes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.inline import BibliographyLine, Citation, WikiLink, bibliography, citations, prose_of, wikilinks
from kb.core.keys import dead_keys
from kb.core.markdown import front_matter_end, lines_of
from kb.core.values import Header

_SOURCES = re.compile(r"^[^\S\n]*+(?ai:sources|fontes)(?:, |:)", re.MULTILINE)
_DASH = re.compile("[\u2013\u2014]")
_BIBLIOGRAPHY = re.compile(r"\s*[-*] +\[src:[^\]]*\]")


class Dash(NamedTuple):
    """The first em or en dash of a 1-based line."""

    line: int
    character: str


class Content(NamedTuple):
    """Everything found in one note. `kb index` keeps it, so that an unchanged note is not read again to be checked.

    dead_keys:     keys of the header that no question reaches.
    names_sources: whether a line opens with `Sources` or `Fontes`; only looked for below front matter.
    """

    dead_keys: Sequence[str] = ()
    front_matter: bool = False
    names_sources: bool = False
    links: Sequence[WikiLink] = ()
    citations: Sequence[Citation] = ()
    bibliography: Sequence[BibliographyLine] = ()
    dashes: Sequence[Dash] = ()


_NOTHING = Content()


def content_of(text: str, header: Header) -> Content:
    """What stands in the text of a note, and in its header."""
    dead = dead_keys(header.keys) if header.keys else ()
    prose = prose_of(text)
    dashed = not text.isascii() and ("\u2014" in text or "\u2013" in text)
    opens = text.startswith("---")
    if not (dead or prose or dashed or opens):
        return _NOTHING
    cited = citations(prose)
    lines = lines_of(text) if opens or cited or dashed else []
    front_matter = opens and front_matter_end(lines) > 0
    return Content(dead, front_matter, front_matter and _SOURCES.search(text) is not None,
                   wikilinks(prose), cited, bibliography(prose, lines) if cited else (), dashes(lines) if dashed else ())


def dashes(lines: Sequence[str]) -> list[Dash]:
    """The lines with an em or en dash. A bibliography line is left out, because it repeats a record."""
    dashed = [(number, line) for number, line in enumerate(lines, start=1) if "\u2014" in line or "\u2013" in line]
    return [Dash(number, found[0]) for number, line in dashed if (found := _DASH.search(line)) and not _BIBLIOGRAPHY.match(line)]


def encode_content(content: Content) -> str:
    """One line of JSON; empty for a note in which nothing stands."""
    return "" if content == _NOTHING else json.dumps(content, ensure_ascii=False)


def decode_content(text: str) -> Content:
    """What `encode_content` wrote."""
    if not text:
        return _NOTHING
    dead, front_matter, names_sources, links, cited, carried, dashed = json.loads(text)
    return Content(dead, front_matter, names_sources, [WikiLink(*item) for item in links], [Citation(*item) for item in cited],
                   [BibliographyLine(*item) for item in carried], [Dash(*item) for item in dashed])
