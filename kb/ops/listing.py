"""What the shelves hold, narrowed by facet: a filter, so nothing is ranked and nothing is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.core.display import named
from kb.core.shelves import kind_of, layer_of
from kb.core.values import KINDS, PROVENANCES, STAGES
from kb.errors import UsageError

if TYPE_CHECKING:
    from kb.app import App

LEGAL = {"kind": KINDS, "stage": STAGES, "provenance": PROVENANCES}


@dataclass(frozen=True, slots=True)
class Facets:
    """What to keep; None keeps everything. They combine with AND."""

    base: str | None = None
    folder: str | None = None
    kind: str | None = None
    stage: str | None = None
    provenance: str | None = None


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file, with every facet it can be narrowed by. Fields in the order of the JSON row."""

    base: str
    folder: str
    kind: str
    layer: str
    path: str
    private: bool
    provenance: str | None
    stage: str | None
    title: str


def list_files(app: App, facets: Facets) -> list[ListedFile]:
    """Every file in scope that the facets admit, by base and path. Raises UsageError for a value outside its set."""
    kind, stage, provenance = (legal_value(name, getattr(facets, name)) for name in ("kind", "stage", "provenance"))
    folder = None if facets.folder is None else facets.folder.replace("\\", "/").strip("/")
    rows = []
    for shelf in app.catalogue.shelves:
        if facets.base is not None and shelf.base.name != facets.base:
            continue
        headers = shelf.headers()
        for stat in shelf.stats():
            header = headers.get(stat.path)
            if header is None:
                continue
            row = ListedFile(shelf.base.name, stat.path.rpartition("/")[0], kind_of(stat.path), layer_of(stat.path),
                             stat.path, stat.private, header.provenance, header.stage, header.title)
            if folder is not None and not (row.folder == folder or row.folder.startswith(folder + "/") or not folder):
                continue
            if kind in (None, row.kind) and stage in (None, row.stage) and provenance in (None, row.provenance):
                rows.append(row)
    return sorted(rows, key=lambda row: (row.base, row.path))


def legal_value(facet: str, value: str | None) -> str | None:
    """`value` as the set spells it. Raises UsageError naming the facet, the value and the legal set."""
    if value is None:
        return None
    found = value.strip().lower()
    if found not in LEGAL[facet]:
        raise UsageError(f"{named(value)} is no {facet}", hint="it is one of " + ", ".join(LEGAL[facet]))
    return found


def row_text(row: ListedFile) -> str:
    """One line: place, facets in brackets, title."""
    facets = [row.kind, row.layer]
    if row.provenance or row.stage:
        facets.append("/".join(part for part in (row.provenance, row.stage) if part))
    if row.private:
        facets.append("private")
    return f"{row.base}/{row.path}  [{', '.join(facets)}]" + (f"  {row.title}" if row.title else "")
