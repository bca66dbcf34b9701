"""The public door: the only module of kb that a plugin imports. What stands here stays."""

from __future__ import annotations

from kb.core.display import flat, printable
from kb.core.jsontext import dumps
from kb.core.ports import (
    KEY,
    PHRASE,
    PURPOSE,
    STEM,
    TITLE,
    BaseUnderCheck,
    Changes,
    Chunk,
    Library,
    Postings,
    TextBackend,
    TextIndex,
)
from kb.core.scrub import scrub
from kb.core.values import Base, Entry, Fleet, Hit, Passage, Place, Ranking
from kb.errors import ExitCode, KbError, PluginError, UsageError
from kb.hookspecs import hookimpl
from kb.specs import (
    Answerer,
    Check,
    Command,
    Extractor,
    Page,
    Problem,
    Promoter,
    Scorer,
    SessionEvent,
    Tool,
)
from kb.store.clock import now, today
from kb.store.files import locked, read_bytes, read_text, write_atomic

__all__ = [
    "KEY",
    "PHRASE",
    "PURPOSE",
    "STEM",
    "TITLE",
    "Answerer",
    "Base",
    "BaseUnderCheck",
    "Changes",
    "Check",
    "Chunk",
    "Command",
    "Entry",
    "ExitCode",
    "Extractor",
    "Fleet",
    "Hit",
    "KbError",
    "Library",
    "Page",
    "Passage",
    "Place",
    "PluginError",
    "Postings",
    "Problem",
    "Promoter",
    "Ranking",
    "Scorer",
    "SessionEvent",
    "TextBackend",
    "TextIndex",
    "Tool",
    "UsageError",
    "dumps",
    "flat",
    "hookimpl",
    "locked",
    "now",
    "printable",
    "read_bytes",
    "read_text",
    "scrub",
    "today",
    "write_atomic",
]
