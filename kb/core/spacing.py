"""Zero-width spaces between characters that are written without blanks, so that a tokeniser of words sees each one.

SQLite's unicode61 takes a run of Han, kana or Hangul for one word and glues it to the Latin letters beside it. Stored
text therefore carries a zero-width space at each such boundary; one that the author wrote is doubled, so that reading
gives back the very text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from kb.core.words import UNSPACED

ZWSP = "\u200b"
_RUN = re.compile(f"{ZWSP}+")


class _Patterns(NamedTuple):
    any: re.Pattern[str]
    boundary: re.Pattern[str]
    pieces: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled on first use: English notes never need them."""
    return _Patterns(re.compile(f"[{UNSPACED}{ZWSP}]"),
                     re.compile(f"(?<=[{UNSPACED}])(?=[\\w{UNSPACED}])|(?<=\\w)(?=[{UNSPACED}])"),
                     re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|.[\u3099\u309a]", re.DOTALL))


def spread(text: str) -> str:
    """`text` as it is stored. Hangul and kana that stand in pieces (NFD, as macOS writes them) are composed."""
    if text.isascii() or not _patterns().any.search(text):
        return text
    patterns = _patterns()
    text = patterns.pieces.sub(lambda piece: unicodedata.normalize("NFC", piece[0]), text)
    return patterns.boundary.sub(ZWSP, _RUN.sub(lambda run: run[0] * 2, text))


def gather(text: str) -> str:
    """The text that `spread` stored."""
    if text.isascii() or ZWSP not in text:
        return text
    return _RUN.sub(lambda run: run[0][:len(run[0]) // 2], text)
