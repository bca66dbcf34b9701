"""Keys for a note that has none: its title, its aliases and tags, its headings, and its rarest words."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kb.core.keys import is_live
from kb.core.markdown import Line, front_matter_end, lines_of, scan
from kb.core.values import stem
from kb.core.words import is_unspaced, normalise

MOST_KEYS = 30
_RARE_WORDS = 12
_HEADINGS = 10
_LINK = re.compile(r"!?\[\[([^\]|#]*)[^\]]*\]\]|!?\[([^\]]*)\]\([^)]*\)")
_TAGS = re.compile(r"<[^>]*>|\{\{.*?\}\}|\{[#/.:][^{}]*\}")
_MARKS = re.compile(r"[`*~]+|(?<![^\W_])_+|_+(?![^\W_])")  # the _ of add_one is no mark
_SEAM = "\x01"
_SEAMS = re.compile(f"{_SEAM}+")
_TAG = re.compile(r"(?:^|\s)#([^\W\d][\w/-]*)")
_PIECE = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W_][\w'-]*[^\W_]|[^\W_]")


def rare_words(texts: Iterable[str]) -> Counter[str]:
    """In how many of the texts each word stands."""
    return Counter(word for text in texts for word in set(normalise(text)))


def propose(path: str, text: str, declared: Sequence[str], frequency: Mapping[str, int], notes: int) -> list[str]:
    """At most thirty live keys for the note, in the order title, aliases and tags (`declared`), headings, rare words."""
    lines = scan(text)
    body = plain_text(lines)
    title = next((line.text for line in lines if line.kind == "heading" and line.level == 1), "")
    headings = [heading for line in lines if line.kind == "heading" and line.level > 1
                for heading in [plain(line.text)] if len(heading.split()) <= 6 and any(c.isalpha() for c in heading[:1])]
    tags = [re.sub("[/_-]", " ", tag) for tag in _TAG.findall(body)]
    stemmed = stem(path).replace("-", " ").replace("_", " ")
    candidates = [plain(title), stemmed, *declared, *tags, *headings[:_HEADINGS],
                  *_rarest(body, frequency, notes)]
    keys: dict[str, str] = {}
    for candidate in candidates:
        key = " ".join(re.sub(r"[,;`\"*\0]", " ", candidate).split()).lstrip("-*+ ").strip(".:!? ")
        folded = " ".join(normalise(key))
        if key and is_live(key) and folded not in keys and "\u2014" not in key and "\u2013" not in key:
            keys[folded] = key
    return list(keys.values())[:MOST_KEYS]


def plain(text: str) -> str:
    """A line of markdown without its markup: links give their words.

    No two words grow together where markup stood between them: a blank takes its place, except in a script without blanks.
    """
    text = _LINK.sub(lambda found: f"{_SEAM}{found[1] or found[2] or ''}{_SEAM}", text)
    text = _MARKS.sub(_SEAM, _TAGS.sub(_SEAM, text))
    return _SEAMS.sub(_joint, text).strip()


def _joint(seam: re.Match[str]) -> str:
    before, after = seam.string[max(seam.start() - 1, 0):seam.start()], seam.string[seam.end():seam.end() + 1]
    return " " if _is_letter(before) and _is_letter(after) and not (is_unspaced(before) or is_unspaced(after)) else ""


def _is_letter(c: str) -> bool:
    return c.isalnum() or unicodedata.category(c or " ")[0] == "M"


def plain_text(lines: Sequence[Line]) -> str:
    """The prose of a note: no code, no front matter, no markup."""
    return "\n".join(plain(line.text) for line in lines if line.kind in ("text", "heading"))


def _rarest(body: str, frequency: Mapping[str, int], notes: int) -> list[str]:
    """The words that set this note apart: often here, seldom elsewhere (tf-idf), as they are written."""
    counts = Counter(normalise(body))
    composed = unicodedata.normalize("NFC", body)
    found = (*_PIECE.findall(composed), *_WORD.findall(composed))
    spelled = {folded: word for word in found if len(words := normalise(word)) == 1 and (folded := words[0])}
    weight = {word: (1 + math.log(count)) * math.log((2 + notes) / (1 + frequency.get(word, 0)))
              for word, count in counts.items() if len(word) > 2 and not word.isdigit()}
    best = sorted((word for word in weight if weight[word] > 0), key=lambda word: (-weight[word], word))[:_RARE_WORDS]
    written = (spelled.get(word, word) for word in best)
    return [word.lower() if word.istitle() else word for word in written]


def with_key_line(text: str, keys: Sequence[str]) -> str:
    """The note with one `Search for:` line under its title, or at the top of its body; every other character stays."""
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"**Search for:** {', '.join(keys)}"
    raw = text.split("\n")
    lines = scan(text)
    at = front_matter_end(lines_of(text))
    number = next((n for n, item in enumerate(lines) if item.kind not in ("front", "blank")), None)
    if number is not None and lines[number].kind == "heading" and lines[number].level == 1:
        at = number + 1
        while at < len(lines) and lines[at].kind == "underline":
            at += 1
        following = raw[at] if at < len(raw) else ""
        added = ["", line] if not following.strip() else ["", line, ""]
    else:
        added = [line, ""] if at == 0 or number is None else ["", line]
        if number is not None and at and lines[at].kind != "blank":
            added = ["", line, ""]
    carriage = "\r" if end == "\r\n" else ""
    if at >= len(raw):  # the last line has no end yet
        raw[-1] += carriage
        raw.append("")
    raw[at:at] = [item + carriage for item in added]
    return "\n".join(raw)
