"""`kb source add` and `kb sources`: records of what was read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.core.display import flat, harmless
from kb.core.sources import ALPHABET, FIELDS, KEY_LENGTH, BrokenRecord, Record, field_problem, render_file
from kb.core.values import Base
from kb.errors import KbError, UsageError
from kb.store.declared import FLEET, SHELVES
from kb.store.files import locked, stay_inside, write_atomic
from kb.store.fleet import is_base, open_fleet, refuse_the_disk
from kb.store.sources import load_sources, sources_in_scope

if TYPE_CHECKING:
    from kb.app import App

_REQUIRED = ("type", "title", "retrieved_on", "retrieval_status")
_DRAWS = 8


@dataclass(frozen=True, slots=True)
class MintedSource:
    """A record that is on disk now."""

    record: Record
    file: str


def add_source(path: str, fields: Mapping[str, str | None], authors: Sequence[str] = ()) -> MintedSource:
    """Write one record into the base at `path`. `fields` are named as in the record (with underscores); blank means absent.

    Raises UsageError for a missing or bad field, or when `path` is no base, KbError for `/` and a home directory; nothing is
    created then.
    """
    values = {name: flat(value) for name, value in fields.items() if value is not None and flat(value)}
    for name in _REQUIRED:
        if name not in values:
            raise UsageError(f"--{name.replace('_', '-')} is missing, and every record needs it")
    for name, value in (*values.items(), *(("author", author) for author in authors)):
        if harmless(value) != value:
            raise UsageError(f"--{name.replace('_', '-')} holds control characters")
    for name in FIELDS:
        problem = field_problem(name, values[name]) if name in values else None
        if problem:
            raise UsageError(f"--{name.replace('_', '-')} {values[name]}: {problem}")
    base = _one_base(path)
    records, broken = load_sources(base.root)
    unread = next((item.problem for item in broken if not item.name), None)
    if unread is not None:
        raise KbError(f"cannot write {os.path.join(base.root, 'sources')}: {unread}")
    known = {record.key for record in records}
    if "replaces" in values and values["replaces"] not in known:
        raise UsageError(f"--replaces {values['replaces']}: {base.name} has no such record")
    guard, folder = os.path.join(base.root, ".kb", "sources"), os.path.join(base.root, "sources")
    try:
        for place in (guard, folder):
            stay_inside(place, base.root)
        with locked(guard):
            key = _free_key(base.root)
            record = Record(key, values, tuple(flat(author) for author in authors if flat(author)))
            file = os.path.join(folder, f"{key}.txt")
            write_atomic(file, render_file(record))
    except OSError as error:
        raise KbError(f"cannot write {error.filename or folder}: {error.strerror or error}") from None
    return MintedSource(record, file)


def _one_base(path: str) -> Base:
    bases = open_fleet([path]).bases
    if len(bases) != 1 or (not is_base(bases[0].root) and _is_fleet(bases[0].root)):
        raise UsageError(f"{path} is a fleet and no base", hint="name the base that read the source")
    refuse_the_disk(bases[0].root, "a base")
    if bases[0].within:
        raise UsageError(f"{path} is a folder inside a base, and its records would not be read", hint=f"did you mean {bases[0].root}?")
    if bases[0].root != os.path.realpath(path):
        raise UsageError(f"{path} is a fleet and no base", hint=f"did you mean {bases[0].root}?")
    around = _base_around(bases[0].root)
    if around is not None and not is_base(bases[0].root):
        raise UsageError(f"{path} is a folder inside a base, and its records would not be read", hint=f"did you mean {around}?")
    return bases[0]


def _is_fleet(folder: str) -> bool:
    """Whether a folder is the root of a fleet, or the shelf of one, also when no base is in it yet."""
    above, name = os.path.split(folder)
    return (os.path.isfile(os.path.join(folder, FLEET)) or os.path.isdir(os.path.join(folder, SHELVES))
            or (name == SHELVES and os.path.isfile(os.path.join(above, FLEET))))


def _base_around(folder: str) -> str | None:
    """The nearest base above `folder`, or None."""
    above = os.path.dirname(folder)
    while above != folder:
        if is_base(above):
            return above
        folder, above = above, os.path.dirname(above)
    return None


def _free_key(root: str) -> str:
    """A key that no record of the base has: drawn evenly from the operating system, never made from a field."""
    import secrets

    for _ in range(_DRAWS):
        key = "".join(secrets.choice(ALPHABET) for _ in range(KEY_LENGTH))
        if not os.path.lexists(os.path.join(root, "sources", f"{key}.txt")):
            return key
    raise KbError(f"no free key was found in {_DRAWS} draws")


@dataclass(frozen=True, slots=True)
class SourcesListing:
    """The records of every opened base in scope, and what is broken: (base root, record)."""

    records: tuple[Record, ...]
    broken: tuple[tuple[str, BrokenRecord], ...]
    bases: int


def list_sources(app: App) -> SourcesListing:
    """Every record, by base and file. What a base declares private of sources/ is left out unless the scope includes it."""
    records: list[Record] = []
    broken: list[tuple[str, BrokenRecord]] = []
    for base in app.fleet.bases:
        found = sources_in_scope(base, app.include_private) if base.holds("sources") else None
        if found is not None:
            records += found.records
            broken += [(base.root, item) for item in found.broken]
    return SourcesListing(tuple(records), tuple(broken), len(app.fleet.bases))
