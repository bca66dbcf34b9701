"""The gold file: questions with the files that answer them, and questions that must be declined."""

from __future__ import annotations

from typing import NamedTuple

from kb.core.values import Place


class GoldRow(NamedTuple):
    """One question. `answers` are places as written; empty: the library must decline it. `line` counts from 1."""

    line: int
    question: str
    answers: tuple[str, ...]

    @property
    def declines(self) -> bool:
        return not self.answers


class GoldError(NamedTuple):
    """Why a file is no gold file: the line (0: the whole file) and one sentence."""

    line: int
    message: str


def parse_gold(text: str) -> tuple[list[GoldRow], GoldError | None]:
    """The rows of a gold file, or the first thing that is wrong with it.

    A row is the question, a tab, and answers as `<base>/<path>` with `|` between, or a lone `-`. Blank lines and lines
    that begin with `#` are passed over.
    """
    rows: list[GoldRow] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r")
        if not line.strip() or line.startswith("#"):
            continue
        question, tab, answers = line.partition("\t")
        if not tab:
            return [], GoldError(number, "has no tab between the question and its answers")
        if not question.strip():
            return [], GoldError(number, "has no question before its tab")
        places = tuple(place for part in answers.split("|") if (place := part.strip()))
        if not places:
            return [], GoldError(number, "names no answer; a question to decline has - after the tab")
        if "-" in places and len(places) > 1:
            return [], GoldError(number, "both declines (-) and names an answer")
        rows.append(GoldRow(number, question.strip(), () if places == ("-",) else places))
    return (rows, None) if rows else ([], GoldError(0, "holds no question"))


def place_of(answer: str) -> Place | None:
    """`<base>/<path>` as a place, `.` and `..` resolved; None when it has no slash or leaves its base."""
    from posixpath import normpath

    base, slash, path = answer.strip().removeprefix("./").partition("/")
    path = normpath(path) if path.strip("/") else ""
    if not slash or not base or not path or path.split("/")[0] in ("", ".."):
        return None
    return Place(base, path)
