"""Blocks of output on a page, compared with what was printed: whole lines, in their order, `...` for lines left out."""

from __future__ import annotations

import re
from collections.abc import Iterable


def assert_printed_in_order(blocks: Iterable[str], printed: str) -> None:
    """Each block stands in `printed` after the one before it, line by line. A line `...` stands for any number of lines."""
    at = 0
    for block in blocks:
        lines = ["(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in block.splitlines()]
        found = re.compile("^" + "".join(lines), re.MULTILINE).search(printed, at)
        assert found, f"the page says:\n{block}\nand after what it said before, this was printed:\n{printed[at:]}"
        at = found.end()
