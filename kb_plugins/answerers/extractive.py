"""`answerer = extractive`: no model. It quotes the sentences of the served passages that share most with the question.

A sentence's weight is the sum over the question's words in it of ln(1 + n / df), df of n sentences holding the word,
divided by the root of its length in words; plus a share for its passage's place in the ranking, so that the best passage
is quoted even where it answers in other words. Every quote carries its file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from kb.api import ABSTENTION, Answerer, KbError, ModelRequest, Window, cited, hookimpl, normalise

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PURPOSE = re.compile(r"\W*(?:exists to|existe para)\W", re.IGNORECASE)
_QUOTES = 4
_LONGEST = 400
_PLACE = 0.5
_LEAST_LETTERS = 12


def answer(value: str, request: ModelRequest) -> str:
    """Up to four quotes in the order they were served, each followed by its path; raises KbError without a passage."""
    if not any(window.text.strip() or window.purpose for window in request.windows):
        raise KbError("no passage was served, and this answerer quotes nothing else",
                      hint="kb index makes the passages, and --complete needs a model")
    lines = ["The closest match is weak; read the sources yourself.", ""] if request.guess else []
    for window, sentence in _best(_sentences(request.windows), set(normalise(request.question))):
        memory = " [from short memory]" if window.memory == "short" else ""
        lines.append(f"“{sentence}” ({cited(window.path)}){memory}")
    return "\n".join(lines) if any(line.startswith("“") for line in lines) else ABSTENTION


def _sentences(windows: Sequence[Window]) -> list[tuple[int, Window, str]]:
    """(rank of the window, window, sentence), each sentence of a file once; purposes and scraps are no sentences."""
    found: dict[tuple[str, str], tuple[int, Window]] = {}
    for rank, window in enumerate(windows):
        if not window.text and window.purpose:  # it ranked on its keys alone: all that is known is what it is for
            found.setdefault((window.path, f"This file exists to {window.purpose}"), (rank, window))
        for piece in _SENTENCE.split(window.text):
            sentence = " ".join(piece.split()).lstrip("#>-*+| ").strip()
            if len(sentence) >= _LEAST_LETTERS and not _PURPOSE.match(sentence):
                found.setdefault((window.path, sentence), (rank, window))
    return [(rank, window, sentence) for (_, sentence), (rank, window) in found.items()]


def _best(sentences: list[tuple[int, Window, str]], asked: set[str]) -> list[tuple[Window, str]]:
    words = [set(normalise(sentence)) for _, _, sentence in sentences]
    frequency = {word: sum(word in some for some in words) for word in asked}
    weight = {word: math.log(1 + len(sentences) / df) for word, df in frequency.items() if df}
    scored = [(sum(weight.get(word, 0.0) for word in words[number]) / math.sqrt(len(words[number]) or 1)
               + _PLACE / (1 + rank), -number) for number, (rank, _, _) in enumerate(sentences)]
    chosen = sorted(-number for _, number in sorted(scored, reverse=True)[:_QUOTES])
    return [(sentences[number][1], _short(sentences[number][2])) for number in chosen]


def _short(sentence: str) -> str:
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[:_LONGEST].rsplit(" ", 1)[0] + " …"


@hookimpl
def kb_answerers() -> list[Answerer]:
    """Takes the one value `extractive`; it starts no program, so it needs no approval."""
    return [Answerer("extractive", lambda value: value.casefold() == "extractive", answer, needs_approval=False,
                     windows_only=True)]
