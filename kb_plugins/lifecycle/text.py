"""Free text on its way from a ledger line into a file: one line, no control characters, no secrets, no conversation."""

from __future__ import annotations

import re

from kb.api import scrub

_MARKER = re.compile(r"(?:transcript|messages|assistant|completion|response)[: ]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def one_line(text: str) -> str:
    """The text of a ledger line as ids are computed on it: line ends and tabs are one blank each."""
    return _SURROGATE.sub("\ufffd", text.replace("\r", " ").replace("\n", " ").replace("\t", " "))


def clean(text: str) -> str:
    """One line for a tracked file: control characters are blanks, secrets are cut out."""
    return scrub(_CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text))).strip()


def clean_block(text: str) -> str:
    """Several lines for a tracked file: as `clean`, but line ends and tabs stay, as LF."""
    return scrub(_CONTROL_BUT_LINES.sub(" ", _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))))


def is_conversation(text: str) -> bool:
    """Whether any line opens with the marker of a transcript."""
    return any(_MARKER.match(line) for line in text.split("\n"))
