"""`key = value` files: fleet.txt and agent.txt. `#` starts a comment, except inside quotes."""

from __future__ import annotations

from kb.core.privacy import parse_private
from kb.core.values import Base, Manifest


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


def describe_base(root: str, name: str, card: str | None, *, readable: bool = True) -> Base:
    """The base at `root` from the text of its agent.txt (None: it has none; not `readable`: it has one that no one can read)."""
    manifest = parse_manifest(card or "")
    return Base(
        name=name,
        root=root,
        title=manifest.last("name") or name[:1].upper() + name[1:],
        routable=card is not None and name.casefold() != "person",
        privacy=parse_private(card, name, readable=readable),
        role=manifest.last("role"),
        ends=manifest.last("ends"),
        language=manifest.last("language"),
    )
