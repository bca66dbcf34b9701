"""Web pages saved to disk."""

from __future__ import annotations

from pathlib import Path

from kb.api import Extractor, hookimpl, read_bytes
from kb_plugins.extractors.markup import html_text
from kb_plugins.extractors.sniff import refuse_other_kinds


def extract(path: Path) -> str:
    """What a reader of the page would see. Raises KbError."""
    data = read_bytes(path)
    refuse_other_kinds(data, "HTML")
    title, text = html_text(data)
    return f"# {title}\n\n{text}" if title and text and not text.startswith("# ") else text


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`html`, `htm` and `xhtml`."""
    return [Extractor("html", ("html", "htm", "xhtml"), extract)]
