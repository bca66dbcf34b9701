"""`key = value` files: fleet.txt and agent.txt. `#` starts a comment, except inside quotes."""

from __future__ import annotations

from kb.core.values import Manifest


def parse_manifest(text: str) -> Manifest:
    """Every `key = value` line, in order; lines without `=` or without a value are ignored. A key may repeat."""
    values: dict[str, tuple[str, ...]] = {}
    for line in text.split("\n"):
        key, equals, value = uncommented(line).partition("=")
        key, value = key.strip(), value.strip()
        if equals and key and value:
            values[key] = (*values.get(key, ()), value)
    return Manifest(values)


def uncommented(line: str) -> str:
    """`line` up to the first `#` that no quote encloses. A quote that never closes encloses nothing."""
    if "#" not in line:
        return line
    quote = ""
    for at, c in enumerate(line):
        if quote:
            if c == quote:
                quote = ""
        elif c in "\"'" and line.find(c, at + 1) != -1 and (at == 0 or not line[at - 1].isalnum()):
            quote = c
        elif c == "#":
            return line[:at]
    return line
