"""Text of notes on its way to a terminal: control characters shown, never obeyed."""

from __future__ import annotations

import unicodedata

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with escape sequences, other control characters and bidirectional overrides as visible `\\xNN` escapes.

    With `lines`, line ends and tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    keep = "\n\t" if lines else ""
    return "".join(c if c in keep or not _unsafe(c) else _escape(c) for c in text)


def flat(text: str) -> str:
    """`text` on one line: every run of white space is one blank."""
    return " ".join(text.split())


def _unsafe(c: str) -> bool:
    return c in _BIDI or unicodedata.category(c) in ("Cc", "Cs")


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
