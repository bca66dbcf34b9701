"""Bringing one base's index.db and entry cache to what its files are today."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from kb.core.chunks import chunk
from kb.core.content import content_of
from kb.core.language import declared_languages, language_of
from kb.core.ports import Changes, Chunk, TextBackend
from kb.core.shelves import map_of
from kb.core.values import Base, Header
from kb.errors import KbError
from kb.store.entries import CacheDamaged, EntryCache
from kb.store.entry_writer import discard_entries, write_entries
from kb.store.files import NOT_UTF8, is_inside, locked
from kb.store.index_db import FileRow, IndexDamaged, IndexReader, index_path, primary_code, rows_of
from kb.store.index_writer import KEPT, IndexWriter, discard, is_sound
from kb.store.notes import Bucket, Note, read_note
from kb.store.sources import source_rows, sources_in_scope
from kb.store.sums import CACHES, forget_sums, is_at_rest, measure, read_sums, write_sums
from kb.store.walk import FileStat, Walk, walk_base

LOCK_SECONDS = 900.0       # a second `kb index` waits for the first one's whole run
_BATCH_CHUNKS = 2_000
_UNREAD = Header(title="\0 not read")

Tick = Callable[[str, int, int], None]


def _silent(base: str, done: int, total: int) -> None:
    return


@dataclass(slots=True)
class Synced:
    """What one sync of one base found and did.

    files counts everything on disk: entries, unreachable, exempt and unreadable files. chunks counts what was written.
    """

    base: str
    reindexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    sources: int = 0
    files: int = 0
    exempt: int = 0
    rebuilt: bool = False
    unreachable: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def sync_base(base: Base, include_private: bool, backends: Sequence[TextBackend], languages: str | None = None,
              tick: Tick = _silent, *, must: bool = True) -> Synced:
    """Index one base: index.db, then each backend's own index, then the entry cache, under the base's lock.

    `languages` is `language =` of the fleet. `tick` is told (base, files looked at, files in all). A crash at any
    point leaves what was there, and the next run completes. A damaged cache is made anew. Raises KbError when nothing can
    be written; a backend that cannot be brought up to date raises when it `must`, and is told in `skipped` otherwise.
    """
    base = base._replace(language=base.language or languages)
    walk = walk_base(base, include_private)
    folder = os.path.join(base.root, ".kb")
    if not is_inside(os.path.realpath(folder), base.root):
        raise KbError(f"indexing {base.name} failed: .kb is a link that leaves the base")
    if not base.name.isprintable():
        try:
            base.name.encode()
        except UnicodeEncodeError:
            raise KbError(f"indexing {base.name} failed: its name is not valid UTF-8", hint="rename the folder") from None
    with _named(base), locked(os.path.join(folder, "index"), wait=LOCK_SECONDS):
        damaged = _drop_damaged(base.root)
        try:
            done = _sync(base, include_private, walk, backends, tick, must)
        except (sqlite3.DatabaseError, UnicodeDecodeError, IndexDamaged) as error:
            if primary_code(error) in KEPT:
                raise
            damaged = True
            discard(base.root)  # it holds nothing that the files do not
            done = _sync(base, include_private, walk, backends, tick, must)
        done.rebuilt = done.rebuilt or damaged
        if not set(CACHES) <= set(read_sums(base.root)):
            write_sums(base.root)
        return done


def _drop_damaged(root: str) -> bool:
    """Remove the caches that are not as the last sync left them: whether index.db was one of them.

    An entry cache without a checksum is not believed; an index without one, or with a log that a crash left, is looked
    through by SQLite.
    """
    known = read_sums(root)
    if known.get("entries.db") != measure(root, "entries.db") or not is_at_rest(root, "entries.db"):
        discard_entries(root)
    if not os.path.isfile(index_path(root)):
        return False
    if "index.db" in known and is_at_rest(root, "index.db"):
        sound = known["index.db"] == measure(root, "index.db")
    else:
        forget_sums(root)
        sound = is_sound(root)
    if not sound:
        discard(root)
    return not sound


@contextmanager
def _named(base: Base, name: str = "index.db") -> Iterator[None]:
    """Say which file of the base could not be written; `name` is the one that SQLite was at."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = str(error)
        if isinstance(error, OSError):
            reason, name = error.strerror or reason, os.path.basename(os.fspath(error.filename or name))
        raise KbError(f"indexing {base.name} failed: {'.kb' if name == '.kb' else f'.kb/{name}'} cannot be written ({reason})") from None


def _sync(base: Base, include_private: bool, walk: Walk, backends: Sequence[TextBackend], tick: Tick,
          must: bool) -> Synced:
    done = Synced(base.name, files=len(walk.files) + len(walk.unnamed), unreadable=[(one.path, one.reason) for one in walk.unnamed],
                  skipped=walk.told(base.name))
    with IndexWriter(base.root, base.name) as index:
        before = index.generation
        seen = _Seen(base.root, index.files())
        notes, touched = _write_files(base, index, walk, seen, done, tick)
        removed = _drop_gone(base, include_private, index, walk, notes, seen, done)
        sources = sources_in_scope(base, include_private)
        records = source_rows(sources.records if sources else ())
        index.replace_sources(records)
        done.sources, done.rebuilt = len(records), index.rebuilt
        if index.changed:
            forget_sums(base.root)
        after = index.commit()
    for backend in backends:
        try:
            _apply(base, backend, before, after, touched, removed, done)
        except IndexDamaged:
            raise
        except KbError as error:
            if must:
                raise KbError(f"indexing {base.name} failed: {error.message}", hint=error.hint) from None
            done.skipped.append(f"{base.name}: {error}")
    if not seen.covers(notes, after):
        forget_sums(base.root)
        with _named(base, "entries.db"):
            write_entries(base.root, after, [seen.with_header(note) for note in notes])
    return done


class _Seen:
    """What the last run knew: the rows of index.db, and the entry cache where there is one."""

    def __init__(self, root: str, rows: Mapping[str, FileRow]) -> None:
        self.rows = rows
        cache = EntryCache.open(root)
        self.manifest = None if cache is None else cache.manifest
        self._headers: Mapping[str, Header] | None = None
        self._root = root
        self._at = {} if self.manifest is None else {path: i for i, path in enumerate(self.manifest.paths)}
        if cache is not None:
            cache.close()

    def unchanged(self, stat: FileStat) -> Note | None:
        """The note as it was read before, without its header, when size and time say that it is still the same."""
        at = self._at.get(stat.path)
        if at is None or self.manifest is None:
            return None
        manifest = self.manifest
        if not manifest.unchanged(at, stat):
            return None
        row = self.rows.get(stat.path)
        hash_ = manifest.hash_at(at)
        bucket = Bucket(manifest.buckets[at])
        if (row is not None and row.hash != hash_) or bucket is Bucket.UNREADABLE:
            return None
        return Note(stat.path, stat.size, stat.mtime_ns, manifest.reads[at], hash_, row.number if row else 0, bucket, _UNREAD)

    def with_header(self, note: Note) -> Note:
        if note.header is not _UNREAD:
            return note
        if self._headers is None:
            self._headers = self._read_headers()
        return note._replace(header=self._headers[note.path])

    def _read_headers(self) -> Mapping[str, Header]:
        cache = EntryCache.open(self._root)
        if cache is None:
            raise _moved()
        try:
            return cache.all_headers()
        except CacheDamaged:
            raise _moved() from None
        finally:
            cache.close()

    def covers(self, notes: Sequence[Note], generation: int) -> bool:
        """Whether the entry cache already says exactly this."""
        manifest = self.manifest
        kept = [note for note in notes if note.bucket is not Bucket.UNREADABLE]
        return (manifest is not None and manifest.generation == generation and len(kept) == len(manifest.paths)
                and all(note.header is _UNREAD and note.number == manifest.numbers[self._at[note.path]] for note in kept))


def _moved() -> KbError:
    return KbError(".kb/entries.db changed while it was read", hint="run kb index again")


def _write_files(base: Base, index: IndexWriter, walk: Walk, seen: _Seen, done: Synced,
                 tick: Tick) -> tuple[list[Note], list[int]]:
    """Write what changed. Returns every note of the walk, and the numbers of the files that were written."""
    map_name = map_of(frozenset(stat.path for stat in walk.files if "/" not in stat.path))
    notes: list[Note] = []
    touched: list[int] = []
    for stat in walk.files:
        note = seen.unchanged(stat)
        indexed = stat.path != map_name
        row = seen.rows.get(stat.path) if indexed else None
        text = ""
        if note is None or (indexed and row is None):
            note, text = read_note(base.root, stat, map_name)
            note = note._replace(content=content_of(text, note.header))
        if note.bucket is Bucket.UNREADABLE:
            done.unreadable.append((stat.path, note.reason))
        elif not indexed:
            note = note._replace(number=0)
        elif row is not None and row.hash == note.hash:
            done.unchanged += 1
            if row.private != stat.private:
                index.mark(row.number, stat.private)
            note = note._replace(number=row.number)
        else:
            header = note.header
            declared = (header.provenance, header.stage, header.front.get("captured_from") or None)
            number, written = index.put(stat.path, note.hash, declared, stat.private, chunk(text), row)
            touched.append(number)
            done.reindexed += 1
            done.chunks += written
            note = note._replace(number=number)
        _count(note, done)
        notes.append(note)
        tick(base.name, len(notes), len(walk.files))
    return notes, touched


def _count(note: Note, done: Synced) -> None:
    if note.bucket is Bucket.UNREACHABLE:
        done.unreachable.append(note.path)
    elif note.bucket is Bucket.EXEMPT:
        done.exempt += 1


def _drop_gone(base: Base, include_private: bool, index: IndexWriter, walk: Walk, notes: Sequence[Note], seen: _Seen,
               done: Synced) -> list[int]:
    """Forget the files that are not there any more: the numbers of those dropped.

    What stands in a folder that could not be listed, or in a file that could not be opened, is not known to be gone.
    """
    held = {note.path for note in notes if note.number or (note.bucket is Bucket.UNREADABLE and note.reason != NOT_UTF8)}
    unlisted = tuple(folder + "/" for folder in walk.unlisted)
    dropped = []
    for path, row in seen.rows.items():
        hidden = not include_private and base.privacy.covers(path)
        if path in held or (path.startswith(unlisted) and not hidden):
            continue
        index.drop(row.number)
        dropped.append(row.number)
    done.removed = len(dropped)
    return dropped


def _apply(base: Base, backend: TextBackend, before: int, after: int, touched: Sequence[int],
           removed: Sequence[int], done: Synced) -> None:
    """Bring one backend from generation `before` to `after`: by what changed, or from scratch where that cannot be done."""
    declared = declared_languages(base.language)
    stands_at = backend.generation(base)
    if stands_at == after and _opens(backend, base, after):
        return
    if stands_at is not None and stands_at == before and not done.rebuilt:
        gone = [rows_of(number) for number in sorted({*touched, *removed})]
        with suppress(KbError), IndexReader(base.root) as reader:  # what cannot be mended is made anew
            backend.apply(base, after, Changes(gone, _batches(reader, sorted(touched), declared)), fresh=False)
            return
    with IndexReader(base.root) as reader:
        backend.apply(base, after, Changes((), _batches(reader, None, declared)), fresh=True)


def _opens(backend: TextBackend, base: Base, generation: int) -> bool:
    try:
        backend.open(base, generation).close()
    except KbError:
        return False
    return True


def _batches(reader: IndexReader, numbers: Sequence[int] | None, declared: Sequence[str]) -> Iterator[list[Chunk]]:
    """The chunks of some files (None: of all) with the language of each note, in batches of bounded size."""
    batch: list[Chunk] = []
    for file in _by_file(reader.chunks_of(numbers)):
        language = language_of("\n".join(text for _, _, text in file[:3]), declared)
        batch += [Chunk(row, heading, text, language) for row, heading, text in file]
        if len(batch) >= _BATCH_CHUNKS:
            yield batch
            batch = []
    if batch:
        yield batch


def _by_file(chunks: Iterator[tuple[int, str, str]]) -> Iterator[list[tuple[int, str, str]]]:
    """Runs of chunks of one file; a very long file comes in several runs."""
    run: list[tuple[int, str, str]] = []
    number = -1
    for chunk_ in chunks:
        own = chunk_[0] // rows_of(1)[0]
        if run and (own != number or len(run) >= _BATCH_CHUNKS):
            yield run
            run = []
        number = own
        run.append(chunk_)
    if run:
        yield run
