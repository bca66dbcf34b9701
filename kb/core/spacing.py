"""Zero-width spaces between characters that are written without blanks, so that a tokeniser of words sees each one.

SQLite's unicode61 takes a run of Han, kana or Hangul for one word and glues it to the Latin letters beside it. Stored
text therefore carries a zero-width space at each such boundary; one that the author wrote is doubled, so that reading
gives back the very text.
"""

from __future__ import annotations

import re
import unicodedata

from kb.core.words import UNSPACED

ZWSP = "\u200b"
_BOUNDARY = re.compile(f"(?<=[{UNSPACED}])(?=[\\w{UNSPACED}])|(?<=\\w)(?=[{UNSPACED}])")
_ANY = re.compile(f"[{UNSPACED}{ZWSP}]")
_RUN = re.compile(f"{ZWSP}+")
_PIECES = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]+|.[\u3099\u309a]", re.DOTALL)  # jamo; kana and its mark


def spread(text: str) -> str:
    """`text` as it is stored. Hangul and kana that stand in pieces (NFD, as macOS writes them) are composed."""
    if text.isascii() or not _ANY.search(text):
        return text
    text = _PIECES.sub(lambda piece: unicodedata.normalize("NFC", piece[0]), text)
    return _BOUNDARY.sub(ZWSP, _RUN.sub(lambda run: run[0] * 2, text))


def gather(text: str) -> str:
    """The text that `spread` stored."""
    if text.isascii() or ZWSP not in text:
        return text
    return _RUN.sub(lambda run: run[0][:len(run[0]) // 2], text)
