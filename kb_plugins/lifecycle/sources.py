"""Source classes: which files of the repository the graph is compiled from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256

from kb.api import UsageError
from kb_plugins.lifecycle import layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.exits import invalid, unwritable

SCOPES = ("shared", "operational", "all")


@dataclass(frozen=True)
class SourceClass:
    """A declared class. `discovery` is `vcs` (a git pathspec) or `state` (a file or folder of the local state)."""

    id: str
    scope: str
    kind: str
    discovery: str
    pathspec: str
    required: bool = False


@dataclass(frozen=True)
class Source:
    """One file of a class. `data` is None when git tracks it and the tree does not hold it."""

    klass: SourceClass
    path: str
    data: bytes | None

    @property
    def hash(self) -> str:
        """SHA-256 of the file, in hex."""
        return sha256(self.data or b"").hexdigest()


def _vcs(name: str, kind: str, pathspec: str) -> SourceClass:
    return SourceClass(name, "shared", kind, "vcs", pathspec)


BUILT_IN = (
    _vcs("policy", "policy", layout.POLICY), _vcs("scope", "scope", layout.SCOPE),
    _vcs("rule", "rule", f":(glob){layout.RULES}/**/*.md"), _vcs("adr", "adr", f":(glob){layout.DECISION_RECORDS}/*.md"),
    _vcs("milestone", "milestone", f":(glob){layout.PROJECT}/milestones/*.yaml"),
    _vcs("issue", "issue", f":(glob){layout.PROJECT}/issues/*.yaml"),
    _vcs("claims", "claim", "docs/CLAIMS.yaml"), _vcs("document", "document", ":(glob)docs/**/*.md"),
    _vcs("readme", "document", ":(glob)*.md"), _vcs("sessions", "session", f":(glob){layout.SESSIONS}/*.md"),
    _vcs("curated", "knowledge", f":(glob){layout.CURATED}/*.md"),
    _vcs("candidates", "knowledge", f":(glob){layout.CANDIDATES}/*.md"),
)
OPERATIONAL = tuple(SourceClass(name, "operational", kind, "state", place) for name, kind, place in (
    ("session", "session", "sessions"), ("handover", "handover", "handovers"), ("checkpoint", "checkpoint", "checkpoints"),
    ("decisions", "decision", "decisions.md"), ("questions", "question", "open-questions.md")))


def read_classes(disk: Disk) -> tuple[SourceClass, ...]:
    """The repository's own declaration, or the built-in one. Raises KbError: 10 when it does not parse, 13 for discovery."""
    text = disk.text(layout.SOURCES)
    if text is None:
        return BUILT_IN
    try:
        fields = yaml_subset.parse(text)
    except yaml_subset.SubsetError as error:
        raise invalid(f"{layout.SOURCES} does not parse: {error}") from None
    rows = fields.get("sources", [])
    if fields.get("version") != "1" or not isinstance(rows, list):
        raise invalid(f"{layout.SOURCES} must say `version: 1` and list `sources`")
    classes = []
    for row in rows:
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) and row[key]
                                                for key in ("id", "kind", "discovery", "pathspec")):
            raise invalid(f"{layout.SOURCES}: each source has id, kind, discovery and pathspec")
        if row["discovery"] not in ("vcs", "state"):
            raise unwritable(f"{layout.SOURCES}: nothing is discovered by {row['discovery']}", hint="vcs or state")
        classes.append(SourceClass(row["id"], "shared", row["kind"], row["discovery"], row["pathspec"],
                                   row.get("required") == "true"))
    return tuple(classes)


def discover(disk: Disk, scope: str) -> tuple[list[Source], list[SourceClass]]:
    """(files of the classes in scope, required classes that found none). Raises UsageError for an unknown scope."""
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}", hint=f"one of {', '.join(SCOPES)}")
    classes = [*(read_classes(disk) if scope != "operational" else ()), *(OPERATIONAL if scope != "shared" else ())]
    found: list[Source] = []
    empty: list[SourceClass] = []
    for klass in classes:
        paths = disk.checkout.listed(klass.pathspec) if klass.discovery == "vcs" else _state(disk, klass.pathspec)
        found += [Source(klass, path, disk.read_if_readable(path)) for path in paths]
        if klass.required and not paths:
            empty.append(klass)
    return found, empty


def _state(disk: Disk, place: str) -> list[str]:
    path = f"{layout.STATE}/{place.strip('/')}"
    if disk.exists(path) and not os.path.isdir(disk.path(path)):
        return [path]
    return [f"{path}/{name}" for name in disk.names(path)]
