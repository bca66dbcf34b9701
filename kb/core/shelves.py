"""What a path inside a base says about the file: its kind, its layer, and whether it may go without keys."""

from __future__ import annotations

from kb.core.values import Kind, Layer

MAPS = ("MAP.md", "INDEX.md", "MAPA.md")
KNOWLEDGE_FOLDERS = ("knowledge", "conhecimento")
SKIPPED_FOLDERS = frozenset({"target", "node_modules", "dist", "build"})

_ORIENTATION = frozenset({"readme.md", "what-goes-here.md", "moved.md", "map.md", "agents.md", "claude.md"})
_KINDS: dict[str, Kind] = {
    "tools": "tools", "ferramentas": "tools",
    "skills": "skills", "habilidades": "skills", "protocols": "skills", "protocolos": "skills",
    "templates": "skills", "modelos": "skills",
}


def kind_of(path: str) -> Kind:
    """The species of a file, read from its first folder; root files are memory."""
    first, slash, _ = path.partition("/")
    return _KINDS.get(first, "memory") if slash else "memory"


def layer_of(path: str) -> Layer:
    """`short` for the deposit (an inbox folder at any depth), else `long`."""
    return "short" if path == "inbox" or path.startswith("inbox/") or "/inbox/" in path else "long"


def is_orientation(path: str, map_name: str | None) -> bool:
    """Whether the file is there to orient a person: it never becomes an entry, whatever it carries."""
    return path.rpartition("/")[2].lower() in _ORIENTATION or (map_name is not None and path == map_name)


def is_exempt(path: str, map_name: str | None) -> bool:
    """Whether a missing key line is by design: orientation files, the deposit, records, calculation logs."""
    if is_orientation(path, map_name):
        return True
    lower = "/" + path.lower()
    return "/inbox/" in lower or "/records/" in lower or "calculation-log/" in lower


def map_of(names: set[str] | frozenset[str]) -> str | None:
    """The base's map among the names in its root, or None."""
    return next((name for name in MAPS if name in names), None)
