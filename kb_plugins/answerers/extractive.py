"""`answerer = extractive`: no model. It quotes the sentences of the served passages that share most with the question.

A sentence's weight is the sum of the weights of the question's words in it, each ln(1 + n / df) over the n sentences
of the served passages, divided by the root of the sentence's length in words. Every quote carries its file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from kb.api import Answerer, KbError, ModelRequest, Window, hookimpl, normalise

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_QUOTES = 4
_LONGEST = 400


def answer(value: str, request: ModelRequest) -> str:
    """Up to four quotes in the order they were served, each followed by its path; raises KbError without a passage."""
    if not any(window.text.strip() for window in request.windows):
        raise KbError("no passage was served, and this answerer has nothing else to quote",
                      hint="kb index makes the passages")
    chosen = _best(_sentences(request.windows), set(normalise(request.question)))
    if not chosen:
        return "The library does not hold this."
    lines = ["The closest match is weak; read the sources yourself.", ""] if request.guess else []
    for window, sentence in chosen:
        memory = " [from short memory]" if window.memory == "short" else ""
        lines.append(f"“{sentence}” ({_cited(window.path)}){memory}")
    return "\n".join(lines)


def _sentences(windows: Sequence[Window]) -> list[tuple[Window, str]]:
    found: dict[tuple[str, str], Window] = {}
    for window in windows:
        for piece in _SENTENCE.split(window.text):
            sentence = " ".join(piece.split()).lstrip("#>-*+| ").strip()
            if sentence:
                found.setdefault((window.path, sentence), window)
    return [(window, sentence) for (_, sentence), window in found.items()]


def _best(sentences: list[tuple[Window, str]], asked: set[str]) -> list[tuple[Window, str]]:
    words = [normalise(sentence) for _, sentence in sentences]
    frequency = {word: sum(word in set(some) for some in words) for word in asked}
    weight = {word: math.log(1 + len(sentences) / df) for word, df in frequency.items() if df}
    scored = [(sum(weight.get(word, 0.0) for word in set(some)) / math.sqrt(len(some) or 1), -number)
              for number, some in enumerate(words)]
    best = sorted((pair for pair in scored if pair[0] > 0), reverse=True)[:_QUOTES]
    return [(sentences[number][0], _short(sentences[number][1])) for number in sorted(-pair[1] for pair in best)]


def _short(sentence: str) -> str:
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _cited(path: str) -> str:
    return f"<{path}>" if any(c in path for c in " ()") else path


@hookimpl
def kb_answerers() -> list[Answerer]:
    """Takes the one value `extractive`; it starts no program, so it needs no approval."""
    return [Answerer("extractive", lambda value: value.casefold() == "extractive", answer, needs_approval=False)]
