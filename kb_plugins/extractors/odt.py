"""OpenDocument texts (odt), as LibreOffice writes them.

Their content is one plain XML file, which the standard library reads; odfpy was tried, and loses a document whose styles
it does not like.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kb.api import Extractor, KbError, hookimpl
from kb_plugins.extractors.markup import tidy
from kb_plugins.extractors.zipped import member, open_archive

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_KIND = b"application/vnd.oasis.opendocument.text"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_NO_TEXT = frozenset((f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}forms", f"{_TEXT}note-citation",
                      f"{_TEXT}sequence-decls"))
_MOST_BLANKS = 100  # of one <text:s text:c="...">


def extract(path: Path) -> str:
    """Headings, paragraphs and list items in order, tables a row a line. Raises KbError."""
    with open_archive(path, "odt") as archive:
        if not (member(archive, "mimetype") or b"").strip().startswith(_KIND):
            raise KbError("its name says odt, and it is another kind of zip archive")
        if b"encryption-data" in (member(archive, "META-INF/manifest.xml") or b""):
            raise KbError("the document is encrypted", hint="save a copy without a password")
        content = member(archive, "content.xml")
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        body = fromstring(content or b"").find(f"{_OFFICE}body")
    except ParseError as error:
        raise KbError(f"the odt is damaged: {error}") from None
    return tidy("\n".join(_lines(body))) if body is not None else ""


def _lines(body: Element) -> list[str]:
    """One entry per block. What tracked changes deleted, and comments, are no part of it."""
    lines: list[str] = []
    stack = [(body, "")]
    while stack:
        node, mark = stack.pop()
        if node.tag == f"{_TEXT}h":
            level = node.get(f"{_TEXT}outline-level", "1")
            lines += ["", "#" * max(1, min(int(level) if level.isdecimal() else 1, 6)) + f" {_text(node)}", ""]
        elif node.tag == f"{_TEXT}p":
            lines += [mark + _text(node)] if mark else [_text(node), ""]
        elif node.tag == f"{_TABLE}table-row":
            cells = [cell for cell in node if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")]
            lines.append(" | ".join(" ".join(_text(cell).split()) for cell in cells))
        elif node.tag not in _NO_TEXT:
            inner = "- " if node.tag == f"{_TEXT}list-item" else mark
            stack.extend((child, inner) for child in reversed(node))
    return lines


def _text(root: Element) -> str:
    """The text of one block, without recursion: frames and spans may nest as deep as the author likes."""
    parts: list[str] = []
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        if item.tag in _NO_TEXT:
            continue
        if item.tag == f"{_TEXT}s":
            count = item.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdecimal() else 1, _MOST_BLANKS))
        elif item.tag == f"{_TEXT}tab":
            parts.append("\t")
        elif item.tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif item.tag == f"{_TEXT}p" and item is not root:
            parts.append(" ")
        parts.append(item.text or "")
        for child in reversed(item):
            stack += [child.tail or "", child]
    return "".join(parts).strip()


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`odt`."""
    return [Extractor("odt", ("odt",), extract)]
