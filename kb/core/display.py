"""Text of notes on its way to a terminal: control characters shown, never obeyed."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# What turns the direction of whole runs, and so shows other text than stands there. The marks of right-to-left writing (U+200E,
# U+200F) turn nothing but the neutral characters beside them, belong to ordinary titles, and stay.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with escape sequences, other control characters and bidirectional overrides as visible `\\xNN` escapes.

    With `lines`, line ends and tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    keep = "\n\t" if lines else ""
    return "".join(c if c in keep or not _unsafe(c) else _escape(c) for c in text)


def harmless(text: str) -> str:
    """`text` of any length and many lines on its way to a page or a model: control characters, bidirectional overrides
    and lone surrogates as visible escapes; line ends, tabs and the marks of right-to-left text stay."""
    return _harm().sub(lambda found: _escape(found[0]), text.replace("\r\n", "\n"))


@cache
def _harm() -> re.Pattern[str]:
    return re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def uncoloured(text: str) -> str:
    """`text` without the colours and links that a program writes for a terminal."""
    return re.sub(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))", "", text) if "\x1b" in text else text


def named(value: str) -> str:
    """A value as a message repeats it: a blank one between quotes, where it can be seen."""
    return value if value.strip() else f"'{value}'"


def flat(text: str) -> str:
    """`text` on one line: every run of white space is one blank."""
    return " ".join(text.split())


def _unsafe(c: str) -> bool:
    return c in _BIDI or unicodedata.category(c) in ("Cc", "Cs")


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
