"""The geometry of the drawings: pages hold shapes with numbers in them, and no style of their own."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

from kb.ops.stacks import Book

WIDTH = 600


class Gauge(NamedTuple):
    """Where a score and a floor stand on a line of WIDTH units."""

    score: int
    floor: int


def gauge(score: float, floor: float) -> Gauge:
    """The larger of the two stands at four fifths of the line."""
    top = max(score, floor, 1e-9) * 1.25
    return Gauge(round(WIDTH * score / top), round(WIDTH * floor / top))


def bars(values: Sequence[float]) -> list[int]:
    """Lengths in hundredths of the longest; what is not nothing is at least 1."""
    top = max(values, default=0.0)
    return [max(1, round(100 * value / top)) if value > 0 and top > 0 else 0 for value in values]


class Spine(NamedTuple):
    """One book seen from its back: place and size in units, and which of the six cloths it is bound in."""

    x: int
    width: int
    height: int
    cloth: int
    ribbon: bool


SHELF_HEIGHT = 44
_MOST_SPINES = 90


def spines(books: Sequence[Book]) -> tuple[list[Spine], int]:
    """The first books of a shelf as spines, and how wide they stand. Thickness is the logarithm of the size; a folder is
    one cloth; height only tells neighbours apart."""
    folders = {folder: number for number, folder in enumerate(sorted({book.folder.partition("/")[0] for book in books}))}
    found, x = [], 0
    for book in books[:_MOST_SPINES]:
        width = 5 + min(14, round(2.2 * math.log2(1 + book.size / 300)))
        height = 26 + hashlib.blake2b(book.path.encode("utf-8", "replace"), digest_size=1).digest()[0] % 15
        found.append(Spine(x, width, height, folders[book.folder.partition("/")[0]] % 6, bool(book.ribbons)))
        x += width + 2
    return found, x
