"""The sources of a base as rows of index.db: read off `sources/*.txt` on every sync."""

from __future__ import annotations

import os

from kb.store.files import read_text

_REQUIRED = ("type", "title", "retrieved_on", "retrieval_status")
_COLUMNS = ("type", "title", "author", "year", "container", "url", "doi", "isbn", "retrieved_on", "retrieval_status",
            "replaces")


def source_rows(root: str) -> list[tuple[str | None, ...]]:
    """(key, type, title, author ... replaces) of every record that has what a record must have; authors joined by `; `."""
    folder = os.path.join(root, "sources")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    rows = []
    for name in names:
        if not name.endswith(".txt") or name.startswith("."):
            continue
        try:
            fields = _fields(read_text(os.path.join(folder, name)))
        except (OSError, UnicodeDecodeError):
            continue
        if all(fields.get(key) for key in _REQUIRED):
            rows.append((name[:-4], *("; ".join(fields[column]) if column in fields else None for column in _COLUMNS)))
    return rows


def _fields(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals and key.strip() and value.strip():
            found.setdefault(key.strip(), []).append(value.strip())
    return {key: values if key == "author" else values[:1] for key, values in found.items()}
