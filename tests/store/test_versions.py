"""What is kept of notes is tied to the code that found it: whoever changes that code raises the version, or old finds live on."""

from __future__ import annotations

import ast
from hashlib import blake2b
from pathlib import Path

import kb
from kb.store.entries import FORMAT
from kb.store.index_db import VERSION

CORE = Path(kb.__file__).parent / "core"
# version -> digest of the code behind it. A change of meaning raises the version; one of spelling only writes the digest anew.
ENTRIES = {6: "b463260f1c5430b2"}
CHUNKS = {1002: "eb30f7d1cf872a5a"}


def digest(*names: str) -> str:
    """Of the lines of some modules of kb.core, less docstrings, lines of comment and empty lines."""
    total = blake2b(digest_size=8)
    for name in names:
        text = (CORE / f"{name}.py").read_text(encoding="utf-8")
        left_out = {number for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                    for number in range(node.lineno, (node.end_lineno or 0) + 1)}
        for number, line in enumerate(text.splitlines(), start=1):
            if number not in left_out and line.strip() and not line.lstrip().startswith("#"):
                total.update(line.rstrip().encode())
    return total.hexdigest()


def test_the_entry_cache_has_another_format_when_what_it_keeps_is_found_in_another_way() -> None:
    assert {FORMAT: digest("content", "inline", "markdown", "header", "keys", "words", "bags", "suggest")} == ENTRIES, \
        "raise FORMAT in kb/store/entries.py if anything is found in another way, and write the digest here"


def test_the_index_has_another_version_when_notes_are_cut_in_another_way() -> None:
    assert {VERSION: digest("chunks", "markdown", "header", "spacing")} == CHUNKS, \
        "raise CHUNKER_VERSION in kb/store/index_db.py if notes are cut in another way, and write the digest here"
