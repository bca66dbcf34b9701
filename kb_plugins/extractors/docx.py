"""Word documents (docx)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kb.api import Extractor, KbError, hookimpl
from kb_plugins.extractors.markup import tidy
from kb_plugins.extractors.zipped import member, open_archive

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
_NO_TEXT = frozenset((*(f"{_W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "instrText")),
                      "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"))
_DEEPEST = 8  # tables in tables
_HEADING = re.compile(r"[Hh]eading ([1-6])")


def extract(path: Path) -> str:
    """Paragraphs with their headings and lists marked, and tables a row a line. Raises KbError."""
    with open_archive(path, "docx") as archive:
        if "word/document.xml" not in archive.namelist() and "[Content_Types].xml" not in archive.namelist():
            raise KbError("its name says docx, and it is a zip archive without a Word document in it")
        notes = [member(archive, f"word/{name}.xml") for name in ("footnotes", "endnotes")]
    import docx
    from docx.opc.exceptions import OpcError

    try:
        document = docx.Document(str(path))
    except (OpcError, ValueError, KeyError, SyntaxError) as error:  # lxml's XMLSyntaxError is a SyntaxError
        raise KbError(f"the docx is damaged: {error}") from None
    return tidy("\n\n".join([*_blocks(document.element.body, document), *_notes(notes)]))


def _notes(parts: Sequence[bytes | None]) -> Iterator[str]:
    """Footnotes and endnotes, after the text that they belong to."""
    from docx.oxml.parser import parse_xml

    for part in parts:
        try:
            root = parse_xml(part) if part else ()
        except SyntaxError as error:
            raise KbError(f"the docx is damaged: {error}") from None
        for note in root:
            text = " ".join("".join(_runs(note)).split())
            if text:
                yield f"Note: {text}"


def _blocks(holder: Any, document: Any, depth: int = 0) -> Iterator[str]:
    """The blocks of a body or a cell. python-docx passes over what stands in a content control or was inserted under
    tracked changes, so the children are walked here."""
    stack = list(reversed(holder))
    while stack:
        item = stack.pop()
        if item.tag == f"{_W}p":
            yield _paragraph(item, document)
        elif item.tag == f"{_W}tbl":
            yield _table(item, document, depth)
        elif item.tag in _WRAPPERS:
            stack.extend(reversed(item))


def _paragraph(item: Any, document: Any) -> str:
    from docx.text.paragraph import Paragraph

    text = "".join(_runs(item)).strip()
    if not text:
        return ""
    paragraph = Paragraph(item, document)
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    heading = _HEADING.fullmatch(style)
    if style == "Title":
        return f"# {text}"
    if heading:
        return "#" * int(heading[1]) + f" {text}"
    numbered = item.pPr is not None and item.pPr.numPr is not None
    return f"- {text}" if numbered or style.startswith("List") else text


def _runs(paragraph: Any) -> Iterator[str]:
    """The text of a paragraph as it reads now: insertions are in it, deletions and second versions of drawings are not."""
    stack = list(reversed(paragraph))
    while stack:
        item = stack.pop()
        if item.tag == f"{_W}t":
            yield item.text or ""
        elif item.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            yield "\t" if item.tag == f"{_W}tab" else "\n"
        elif item.tag == f"{_W}p":  # of a text box
            yield " "
        if item.tag not in _NO_TEXT:
            stack.extend(reversed(item))


def _table(table: Any, document: Any, depth: int) -> str:
    rows = []
    for row in table.iter(f"{_W}tr") if depth < _DEEPEST else ():
        if next(row.iterancestors(f"{_W}tbl")) is table:
            cells = (" ".join(" ".join(_blocks(cell, document, depth + 1)).split()) for cell in row.iter(f"{_W}tc")
                     if next(cell.iterancestors(f"{_W}tr")) is row)
            rows.append(" | ".join(cells))
    return "\n".join(rows)


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`docx`."""
    return [Extractor("docx", ("docx",), extract)]
