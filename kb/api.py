"""The public API: the only module of kb that a plugin imports. What stands here stays.

Names are imported from their homes when they are asked for, so that a scorer does not pay for what an extractor needs.
To add one: a line in the TYPE_CHECKING block, and the same name in `_HOMES` (a test compares the two).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb import __version__ as __version__
    from kb.core.bags import bag_of as bag_of
    from kb.core.bags import key_phrase as key_phrase
    from kb.core.citations import cited as cited
    from kb.core.content import Dash as Dash
    from kb.core.display import flat as flat
    from kb.core.display import printable as printable
    from kb.core.inline import BibliographyLine as BibliographyLine
    from kb.core.inline import Citation as Citation
    from kb.core.inline import WikiLink as WikiLink
    from kb.core.jsontext import dumps as dumps
    from kb.core.keys import dead_keys as dead_keys
    from kb.core.language import declared_languages as declared_languages
    from kb.core.ports import KEY as KEY
    from kb.core.ports import PHRASE as PHRASE
    from kb.core.ports import PURPOSE as PURPOSE
    from kb.core.ports import STEM as STEM
    from kb.core.ports import TITLE as TITLE
    from kb.core.ports import BaseUnderCheck as BaseUnderCheck
    from kb.core.ports import Changes as Changes
    from kb.core.ports import Chunk as Chunk
    from kb.core.ports import ChunkHit as ChunkHit
    from kb.core.ports import Library as Library
    from kb.core.ports import NoteUnderCheck as NoteUnderCheck
    from kb.core.ports import Postings as Postings
    from kb.core.ports import TextBackend as TextBackend
    from kb.core.ports import TextHits as TextHits
    from kb.core.ports import TextIndex as TextIndex
    from kb.core.query import Query as Query
    from kb.core.scrub import scrub as scrub
    from kb.core.sources import BrokenRecord as BrokenRecord
    from kb.core.sources import Record as Record
    from kb.core.sources import is_key as is_key
    from kb.core.sources import key_rule as key_rule
    from kb.core.sources import render_record as render_record
    from kb.core.spacing import gather as gather
    from kb.core.spacing import spread as spread
    from kb.core.triad import ABSTENTION as ABSTENTION
    from kb.core.values import PROVENANCES as PROVENANCES
    from kb.core.values import STAGES as STAGES
    from kb.core.values import Base as Base
    from kb.core.values import Entry as Entry
    from kb.core.values import Fleet as Fleet
    from kb.core.values import Header as Header
    from kb.core.values import Hit as Hit
    from kb.core.values import Passage as Passage
    from kb.core.values import Place as Place
    from kb.core.values import Ranking as Ranking
    from kb.core.windows import Window as Window
    from kb.core.words import analyse as analyse
    from kb.core.words import fold as fold
    from kb.core.words import is_unspaced as is_unspaced
    from kb.core.words import normalise as normalise
    from kb.errors import ExitCode as ExitCode
    from kb.errors import KbError as KbError
    from kb.errors import PluginError as PluginError
    from kb.errors import UsageError as UsageError
    from kb.hookspecs import hookimpl as hookimpl
    from kb.specs import Answerer as Answerer
    from kb.specs import Check as Check
    from kb.specs import Command as Command
    from kb.specs import Extractor as Extractor
    from kb.specs import ModelRequest as ModelRequest
    from kb.specs import Page as Page
    from kb.specs import Problem as Problem
    from kb.specs import Promoter as Promoter
    from kb.specs import Scorer as Scorer
    from kb.specs import SessionEvent as SessionEvent
    from kb.specs import Tool as Tool
    from kb.store.clock import instant as instant
    from kb.store.clock import moment_of as moment_of
    from kb.store.clock import now as now
    from kb.store.clock import today as today
    from kb.store.commands import CommandFailed as CommandFailed
    from kb.store.commands import command_words as command_words
    from kb.store.commands import run_command as run_command
    from kb.store.files import is_inside as is_inside
    from kb.store.files import locked as locked
    from kb.store.files import read_bytes as read_bytes
    from kb.store.files import read_text as read_text
    from kb.store.files import write_atomic as write_atomic
    from kb.store.git import git_environment as git_environment
    from kb.store.index_db import IndexMoved as IndexMoved
    from kb.store.index_db import IndexOutOfStep as IndexOutOfStep
    from kb.store.index_db import IndexReader as IndexReader
    from kb.store.index_db import index_faults as index_faults
    from kb.store.index_db import read_generation as read_generation
    from kb.store.trust import Untrusted as Untrusted
    from kb.store.trust import require_adapter as require_adapter

_HOMES = {
    "kb": "__version__",
    "kb.core.bags": "bag_of key_phrase",
    "kb.core.citations": "cited",
    "kb.core.content": "Dash",
    "kb.core.display": "flat printable",
    "kb.core.inline": "BibliographyLine Citation WikiLink",
    "kb.core.jsontext": "dumps",
    "kb.core.keys": "dead_keys",
    "kb.core.language": "declared_languages",
    "kb.core.ports": (
        "BaseUnderCheck Changes Chunk ChunkHit KEY Library NoteUnderCheck PHRASE PURPOSE Postings "
        "STEM TITLE TextBackend TextHits TextIndex"
    ),
    "kb.core.query": "Query",
    "kb.core.scrub": "scrub",
    "kb.core.sources": "BrokenRecord Record is_key key_rule render_record",
    "kb.core.spacing": "gather spread",
    "kb.core.triad": "ABSTENTION",
    "kb.core.values": "Base Entry Fleet Header Hit PROVENANCES Passage Place Ranking STAGES",
    "kb.core.windows": "Window",
    "kb.core.words": "analyse fold is_unspaced normalise",
    "kb.errors": "ExitCode KbError PluginError UsageError",
    "kb.hookspecs": "hookimpl",
    "kb.specs": (
        "Answerer Check Command Extractor ModelRequest Page Problem Promoter Scorer SessionEvent "
        "Tool"
    ),
    "kb.store.clock": "instant moment_of now today",
    "kb.store.commands": "CommandFailed command_words run_command",
    "kb.store.files": "is_inside locked read_bytes read_text write_atomic",
    "kb.store.git": "git_environment",
    "kb.store.index_db": "IndexMoved IndexOutOfStep IndexReader index_faults read_generation",
    "kb.store.trust": "Untrusted require_adapter",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"kb.api has no {name}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
