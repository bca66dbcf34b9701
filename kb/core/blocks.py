"""A constitution as labelled blocks: which files, in which order, and what they cost in tokens.

A prompt is reused up to the first token that differs, so blocks stand in order of stability. Tokens are estimated from
bytes: 3.99 a token for prose and 2.96 for code (measured once; other languages than English are denser).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.header import key_span, split_label
from kb.core.markdown import lines_of, scan

PROSE_BYTES, CODE_BYTES = 3.99, 2.96
_MARKUP = frozenset({"html", "htm", "xml", "svg", "xhtml"})
_LABEL = re.compile(r"\[([^\]]*)\](.*)")


class Block(NamedTuple):
    """One block: its label, whether it is always sent, and its files as written."""

    name: str
    resident: bool
    files: tuple[str, ...]


def parse_blocks(text: str) -> list[Block]:
    """The blocks of a blocks.txt. A block is resident unless its label line ends in `on-demand`; `#` starts a comment."""
    blocks: list[Block] = []
    for line in lines_of(text):
        line = line.partition("#")[0].strip()
        label = _LABEL.fullmatch(line)
        if label:
            blocks.append(Block(label[1].strip(), label[2].strip().lower() != "on-demand", ()))
        elif line and not line.startswith("[") and blocks:
            blocks[-1] = blocks[-1]._replace(files=(*blocks[-1].files, line))
    return blocks


def without_keys(text: str) -> str:
    """The text as it is sent: key lines and their wrapped continuations removed, every other byte kept.

    A continuation here is a line that follows a comma; prose right under a key line stays.
    """
    if "earch for" not in text.lower() and "uscar por" not in text.lower():
        return text
    raw = text.split("\n")
    lines = scan(text)
    drop: set[int] = set()
    for number, line in enumerate(lines):
        if line.kind == "text" and number not in drop and split_label(line.text)[0] == "keys":
            end = key_span(lines, number)
            last = number
            while last + 1 < end and (raw[last].rstrip().endswith((",", ";", ":"))
                                      or raw[last + 1].lstrip().startswith(("- ", "* ", "+ "))):
                last += 1
            drop.update(range(number, last + 1))
    return "\n".join(line for number, line in enumerate(raw) if number not in drop)


def tokens(text: str) -> int:
    """The estimated tokens of a markdown text: fenced lines are code, everything else is prose."""
    return _rounded(*split_bytes([text]))


def tokens_of(texts: Sequence[str]) -> int:
    """The estimated tokens of several texts together, rounded once."""
    return _rounded(*split_bytes(texts))


def split_bytes(texts: Sequence[str]) -> tuple[int, int]:
    """(bytes of prose, bytes of fenced code) in UTF-8."""
    whole = code = 0
    for text in texts:
        whole += len(text.encode("utf-8", "surrogatepass"))
        if "```" in text or "~~~" in text:
            raw = text.split("\n")
            code += sum(len(raw[number].encode("utf-8", "surrogatepass")) + (number < len(raw) - 1)
                        for number, line in enumerate(scan(text)) if line.kind == "fence")
    return whole - code, code


def artifact_tokens(name: str, text: str) -> int:
    """The estimated tokens of a whole file: markup counts as code from end to end."""
    if name.rpartition(".")[2].lower() in _MARKUP:
        return _rounded(0, len(text.encode("utf-8", "surrogatepass")))
    return tokens(text)


def _rounded(prose: int, code: int) -> int:
    return int(prose / PROSE_BYTES + code / CODE_BYTES + 0.5)
