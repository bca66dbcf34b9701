"""Small to big: matched chunks become the windows that a model reads. Cut on words, never inside a character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kb.core.values import Layer, Passage

LIMIT = 1800  # code points of one window, about 450 tokens
_OVERLAP = 10


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one file as a model reads it. `path` is `base/path`; `text` is "" when only the purpose is known.

    heading_path: the headings above it joined by ` > `, or "" at the top of the file.
    """

    path: str
    heading_path: str
    text: str
    memory: Layer = "long"
    captured_from: str | None = None
    purpose: str = ""
