"""The sources of a base as rows of index.db: read off `sources/*.txt` on every sync."""

from __future__ import annotations

import os

from kb.core.sources import BrokenRecord, parse_record
from kb.store.files import read_text

_AFTER_AUTHOR = ("year", "container", "url", "doi", "isbn", "retrieved_on", "retrieval_status", "replaces")


def source_rows(root: str) -> list[tuple[str | None, ...]]:
    """(key, type, title, author ... replaces) of every record that parses; authors joined by `; `.

    A record that does not is left to `kb check`, which names it.
    """
    folder = os.path.join(root, "sources")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    rows: list[tuple[str | None, ...]] = []
    for name in names:
        if not name.endswith(".txt"):
            continue
        try:
            record = parse_record(name, read_text(os.path.join(folder, name)))
        except (OSError, UnicodeDecodeError):
            continue
        if not isinstance(record, BrokenRecord):
            rows.append((record.key, record.get("type"), record.title, "; ".join(record.authors) or None,
                         *(record.get(field) for field in _AFTER_AUTHOR)))
    return rows
