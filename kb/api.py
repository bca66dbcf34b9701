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
from kb.core.windows import Window
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
from kb.store.trust import Untrusted, require_adapter

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
    "CommandFailed",
    "Entry",
    "ExitCode",
    "Extractor",
    "Fleet",
    "Hit",
    "KbError",
    "Library",
    "ModelRequest",
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
    "Untrusted",
    "UsageError",
    "Window",
    "command_words",
    "dumps",
    "flat",
    "hookimpl",
    "locked",
    "now",
    "printable",
    "read_bytes",
    "read_text",
    "require_adapter",
    "run_command",
    "scrub",
    "today",
    "write_atomic",
]
