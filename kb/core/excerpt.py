"""A short cut of a text around the first word that matched, for a line on a screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from kb.core.words import UNSPACED, analyse, is_unspaced

WORDS = 14
CUT = " ... "

_ASCII_PIECE = re.compile(r"\S{1,60}")
_MOST_LOOKED_AT = 4000


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]|[^\\s{UNSPACED}]{{1,60}}")


def excerpt(text: str, words: Sequence[str], length: int = WORDS) -> str:
    """About `length` words of `text`, with ` ... ` where something was cut.

    `words` are the analyser's. A word of the text matches when it is one of them, or else when it begins like one (a
    plural, a stem); without any match the cut starts at the beginning. White space inside is kept as it stands.
    """
    pieces = [(piece.start(), piece.end()) for piece in (_ASCII_PIECE if text.isascii() else _piece()).finditer(text)]
    if len(pieces) <= length:
        return text.strip()
    first = max(0, _matching(text, pieces, words) - length // 3)
    first = min(first, len(pieces) - length)
    last = first + length - 1
    before = CUT if first > 0 else ""
    after = CUT if last < len(pieces) - 1 else ""
    return before + text[pieces[first][0]:pieces[last][1]] + after


def _matching(text: str, pieces: Sequence[tuple[int, int]], words: Sequence[str]) -> int:
    wanted = frozenset(words)
    singles = frozenset(word[0] for word in words if is_unspaced(word))
    begins = tuple({word[:max(4, len(word) - 2)] for word in words if len(word) > 3 and not is_unspaced(word)})
    alike = -1
    for number, (start, end) in enumerate(pieces[:_MOST_LOOKED_AT]):
        piece = text[start:end]
        if end - start == 1 and piece in singles:
            pair = analyse(text[start:start + 2])
            if wanted.intersection(pair):
                return number
        for word in analyse(piece):
            if word in wanted:
                return number
            if alike < 0 and begins and word.startswith(begins):
                alike = number
    return max(alike, 0)
