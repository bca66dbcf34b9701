"""`kb index`: build or renew the text index and the entry cache of every base."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.errors import KbError, PluginError, UsageError
from kb.store.fleet import refuse_the_disk
from kb.store.sync import Synced, Tick, sync_base

if TYPE_CHECKING:
    from kb.app import App
    from kb.core.ports import TextBackend


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did, base by base. unreachable and unreadable are `base/path` in order; the counts are over all bases.

    failed: a sentence about each base that could not be indexed.
    """

    bases: tuple[Synced, ...]
    skipped: tuple[str, ...]
    failed: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        return sum(base.files for base in self.bases)

    @property
    def chunks(self) -> int:
        return sum(base.chunks for base in self.bases)

    @property
    def exempt(self) -> int:
        return sum(base.exempt for base in self.bases)

    @property
    def unreachable(self) -> list[str]:
        return [f"{base.base}/{path}" for base in self.bases for path in base.unreachable]

    @property
    def unreadable(self) -> list[tuple[str, str]]:
        return [(f"{base.base}/{path}", reason) for base in self.bases for path, reason in base.unreadable]


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of `kb index --json`."""

    base: str
    path: str
    name: str
    title: str
    keywords: tuple[str, ...]
    summary: str


def index(app: App, tick: Tick = lambda base, done, total: None,
          told: Callable[[Synced], None] = lambda base: None) -> IndexReport:
    """Sync every base, in order. `tick` is told (base, files looked at, files in all); `told` gets each base when done.

    A base that cannot be walked or written is in `failed`, and the others are indexed. Raises UsageError for an unknown text
    backend, KbError when it was the only base.
    """
    backends, skipped = _backends(app)
    for base in app.fleet.bases:
        refuse_the_disk(base.root, "an index")
    done: list[Synced] = []
    failed: list[str] = []
    with _no_collection():
        for base in app.fleet.bases:
            try:
                done.append(sync_base(base, app.include_private, backends, app.fleet.manifest.last("language"), tick,
                                      must=app.text_choice != "auto"))
            except KbError as error:
                if len(app.fleet.bases) == 1:
                    raise
                failed.append(str(error))
            else:
                told(done[-1])
    every = (*app.fleet.skipped, *skipped, *(sentence for base in done for sentence in base.skipped))
    return IndexReport(tuple(done), tuple(dict.fromkeys(every)), tuple(failed))


def entries(app: App) -> list[IndexEntry]:
    """The entries as today's files have them; nothing is written."""
    return [IndexEntry(entry.base, entry.path, entry.stem, entry.title, entry.keys, entry.purpose)
            for entry in app.catalogue.entries()]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the collector of cycles, of which a sync makes none: it would walk every note again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _backends(app: App) -> tuple[Sequence[TextBackend], list[str]]:
    """The backends to bring up to date: the chosen one, or under `auto` tantivy where it can be had."""
    if app.text_choice != "auto":
        return [app.text_backend(app.text_choice)], []
    if "tantivy" in app.host.disabled:  # on purpose, and `auto` takes what there is
        return [], []
    try:
        return [app.text_backend("tantivy")], []
    except UsageError:
        return [], []
    except PluginError as error:
        return [], [str(error)]
