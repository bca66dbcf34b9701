"""The source records of a base, read off `sources/*.txt` every time: an export is never an export of a stale cache."""

from __future__ import annotations

import os

from kb.core.sources import BrokenRecord, Record, parse_record
from kb.store.files import is_inside, read_text

_COLUMNS = ("type", "title", "author", "year", "container", "url", "doi", "isbn", "retrieved_on", "retrieval_status",
            "replaces")


def load_sources(root: str) -> tuple[list[Record], list[BrokenRecord]]:
    """The records of the base at `root` by file name, and the files that are none.

    A missing folder is an empty one. One that leads out of the base or cannot be listed is a broken record without a name: what
    it holds is not known.
    """
    folder = os.path.join(root, "sources")
    if not is_inside(os.path.realpath(folder), os.path.realpath(root)):
        return [], [BrokenRecord("", "the folder is a link that leaves its base, so it is not followed")]
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".txt") and not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    except OSError as error:
        return [], [BrokenRecord("", f"the folder cannot be read: {error.strerror}")]
    records: list[Record] = []
    broken: list[BrokenRecord] = []
    for name in names:
        path = os.path.join(folder, name)
        if os.path.realpath(path) != os.path.join(os.path.realpath(folder), name):
            broken.append(BrokenRecord(name, "it is a link, and a record is a file"))
            continue
        try:
            found = parse_record(name, read_text(path))
        except UnicodeDecodeError:
            found = BrokenRecord(name, "it is not UTF-8")
        except OSError as error:
            found = BrokenRecord(name, f"it cannot be read: {error.strerror}")
        if isinstance(found, Record):
            records.append(found)
        else:
            broken.append(found)
    return records, broken


def source_rows(root: str) -> list[tuple[str | None, ...]]:
    """The records as rows of index.db: (key, type, title, author ... replaces), authors joined by `; `."""
    records, _ = load_sources(root)
    return [(record.key, *("; ".join(record.authors) or None if column == "author" else record.get(column)
                           for column in _COLUMNS)) for record in records]
