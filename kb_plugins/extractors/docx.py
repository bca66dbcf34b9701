"""Word documents (docx)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.api import Extractor, KbError, hookimpl
from kb_plugins.extractors.markup import tidy
from kb_plugins.extractors.zipped import open_archive

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_HEADING = re.compile(r"[Hh]eading ([1-6])")


def extract(path: Path) -> str:
    """Paragraphs with their headings and lists marked, and tables a row a line. Raises KbError."""
    with open_archive(path, "docx") as archive:
        if "word/document.xml" not in archive.namelist() and "[Content_Types].xml" not in archive.namelist():
            raise KbError("its name says docx, and it is a zip archive without a Word document in it")
    import docx
    from docx.opc.exceptions import OpcError

    try:
        document = docx.Document(str(path))
    except (OpcError, ValueError, KeyError, SyntaxError) as error:  # lxml's XMLSyntaxError is a SyntaxError
        raise KbError(f"the docx is damaged: {error}") from None
    return tidy("\n\n".join(_blocks(document)))


def _blocks(holder: Any, depth: int = 0) -> Iterator[str]:
    from docx.table import Table

    for item in holder.iter_inner_content():
        yield _table(item, depth) if isinstance(item, Table) else _paragraph(item)


def _paragraph(item: Paragraph) -> str:
    text = item.text.strip()
    style = (item.style.name or "") if item.style is not None else ""
    heading = _HEADING.fullmatch(style)
    if not text:
        return ""
    if style == "Title":
        return f"# {text}"
    if heading:
        return "#" * int(heading[1]) + f" {text}"
    return f"- {text}" if style.startswith("List") else text


def _table(table: Table, depth: int) -> str:
    rows = []
    for row in table.rows:
        cells: dict[int, str] = {}  # a cell that spans columns comes once for each of them
        for cell in row.cells:
            if id(cell._tc) not in cells and depth < 8:
                cells[id(cell._tc)] = " ".join(" ".join(_blocks(cell, depth + 1)).split())
        rows.append(" | ".join(cells.values()))
    return "\n".join(rows)


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`docx`."""
    return [Extractor("docx", ("docx",), extract)]
