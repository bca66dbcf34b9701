"""The public door: the only module of kb that a plugin imports. What stands here stays.

Names are imported from their homes when they are asked for, so that a scorer does not pay for what an extractor needs.
To add one: a line in the TYPE_CHECKING block, and the same name in `_HOMES` (a test compares the two).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.core.bags import bag_of, key_phrase
    from kb.core.display import flat, printable
    from kb.core.jsontext import dumps
    from kb.core.language import declared_languages
    from kb.core.ports import (
        BaseUnderCheck,
        Changes,
        Chunk,
        ChunkHit,
        KEY,
        Library,
        PHRASE,
        PURPOSE,
        Postings,
        STEM,
        TITLE,
        TextBackend,
        TextHits,
        TextIndex,
    )
    from kb.core.query import Query
    from kb.core.scrub import scrub
    from kb.core.spacing import gather, spread
    from kb.core.values import Base, Entry, Fleet, Hit, Passage, Place, Ranking
    from kb.core.windows import Window
    from kb.core.words import analyse, fold, is_unspaced, normalise
    from kb.errors import ExitCode, KbError, PluginError, UsageError
    from kb.hookspecs import hookimpl
    from kb.specs import (
        Answerer,
        Check,
        Command,
        Extractor,
        ModelRequest,
        Page,
        Problem,
        Promoter,
        Scorer,
        SessionEvent,
        Tool,
    )
    from kb.store.clock import now, today
    from kb.store.commands import CommandFailed, command_words, run_command
    from kb.store.files import locked, read_bytes, read_text, write_atomic
    from kb.store.index_db import IndexReader, read_generation, told
    from kb.store.trust import Untrusted, require_adapter

_HOMES = {
    "kb.core.bags": "bag_of key_phrase",
    "kb.core.display": "flat printable",
    "kb.core.jsontext": "dumps",
    "kb.core.language": "declared_languages",
    "kb.core.ports": (
        "BaseUnderCheck Changes Chunk ChunkHit KEY Library PHRASE PURPOSE Postings STEM TITLE "
        "TextBackend TextHits TextIndex"
    ),
    "kb.core.query": "Query",
    "kb.core.scrub": "scrub",
    "kb.core.spacing": "gather spread",
    "kb.core.values": "Base Entry Fleet Hit Passage Place Ranking",
    "kb.core.windows": "Window",
    "kb.core.words": "analyse fold is_unspaced normalise",
    "kb.errors": "ExitCode KbError PluginError UsageError",
    "kb.hookspecs": "hookimpl",
    "kb.specs": (
        "Answerer Check Command Extractor ModelRequest Page Problem Promoter Scorer SessionEvent "
        "Tool"
    ),
    "kb.store.clock": "now today",
    "kb.store.commands": "CommandFailed command_words run_command",
    "kb.store.files": "locked read_bytes read_text write_atomic",
    "kb.store.index_db": "IndexReader read_generation told",
    "kb.store.trust": "Untrusted require_adapter",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [  # noqa: PLE0604, RUF022
    *_HOME_OF,
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"kb.api has no {name}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
