"""The source records of a base, read off `sources/*.txt` every time: an export is never an export of a stale cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.sources import BrokenRecord, Record, parse_record
from kb.core.values import Base
from kb.store.declared import Surroundings, is_private
from kb.store.files import NOT_UTF8, is_inside, read_text

_COLUMNS = ("type", "title", "author", "year", "container", "url", "doi", "isbn", "retrieved_on", "retrieval_status",
            "replaces")


class Sources(NamedTuple):
    """The records of a base in one scope. `withheld` are the keys of those that are out of it."""

    records: Sequence[Record]
    broken: Sequence[BrokenRecord]
    withheld: frozenset[str] = frozenset()


def sources_in_scope(base: Base, include_private: bool) -> Sources | None:
    """The records that may be shown; None where the whole of sources/ is out of scope."""
    around = Surroundings()
    if not include_private and is_private(base, "sources", around):
        return None
    records, broken = load_sources(base.root)
    if include_private:
        return Sources(records, broken)
    closed = {name for name in (*(f"{record.key}.txt" for record in records), *(item.name for item in broken))
              if name and is_private(base, f"sources/{name}", around)}
    return Sources([record for record in records if f"{record.key}.txt" not in closed],
                   [item for item in broken if item.name not in closed], frozenset(name.removesuffix(".txt") for name in closed))


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
            found = BrokenRecord(name, NOT_UTF8)
        except OSError as error:
            found = BrokenRecord(name, f"it cannot be read: {error.strerror}")
        if isinstance(found, Record):
            records.append(found)
        else:
            broken.append(found)
    return records, broken


def source_rows(records: Sequence[Record]) -> list[tuple[str | None, ...]]:
    """Records as rows of index.db: (key, type, title, author ... replaces), authors joined by `; `."""
    return [(record.key, *("; ".join(record.authors) or None if column == "author" else record.get(column)
                           for column in _COLUMNS)) for record in records]
