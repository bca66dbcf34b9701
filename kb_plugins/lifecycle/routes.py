"""Who an observation concerns, from its subject alone: the words of the statement are never read."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

from kb_plugins.lifecycle import layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk

ROUTES = ("platform", "enforcement", "generator", "documentation", "project")


@dataclass(frozen=True)
class Generated:
    """What the repository declares to be generated: path patterns and patterns of base names."""

    paths: tuple[str, ...]
    names: tuple[str, ...]

    def holds(self, path: str) -> bool:
        return (any(_covers(pattern, path) for pattern in self.paths)
                or any(fnmatch.fnmatchcase(path.rsplit("/", 1)[-1], name) for name in self.names))


def read_generated(disk: Disk) -> Generated:
    """`out.generated` of scope.yaml, and the patterns that .gitattributes marks `merge=derived`."""
    paths: list[str] = []
    names: list[str] = []
    try:
        fields = yaml_subset.flat(yaml_subset.parse(disk.text(layout.SCOPE) or ""))
    except yaml_subset.SubsetError:
        fields = {}
    for key, into in (("out.generated.paths", paths), ("out.generated.names", names)):
        value = fields.get(key, [])
        into += [value] if isinstance(value, str) and value else list(value)
    for line in (disk.text(".gitattributes") or "").split("\n"):
        words = line.split()
        if len(words) > 1 and not words[0].startswith("#") and "merge=derived" in words[1:]:
            (paths if "/" in words[0] or "*" not in words[0] else names).append(words[0])
    return Generated(tuple(paths), tuple(names))


def route(subject: str, generated: Generated) -> str:
    """The route of a subject; the first rule that matches decides."""
    kind, colon, _ = subject.partition(":")
    if colon and (kind in ("command", "capability") or subject.startswith("rule:majordomus.")):
        return "platform"
    if colon and kind in ("rule", "gate"):
        return "enforcement"
    if subject.startswith(f"{layout.RULES}/vendor/"):
        return "platform"
    if generated.holds(subject):
        return "generator"
    return "documentation" if subject == "docs" or subject.startswith("docs/") else "project"


def _covers(pattern: str, path: str) -> bool:
    stem = pattern.removeprefix("/")
    for tail in ("/**", "/*", "/"):
        stem = stem.removesuffix(tail)
    return bool(stem) and (path == stem or path.startswith(stem + "/"))
