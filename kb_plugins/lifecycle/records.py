"""The knowledge record: its file, its identity, and the record files that stand in the two folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kb_plugins.lifecycle import layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.yaml_subset import quoted, scalar

ID = re.compile(r"[a-z][a-z0-9-]*")
EPISODE_ID = re.compile(r"s-[0-9]{14}-[0-9a-f]{4}")
CLASSES = ("fact", "convention", "constraint", "memory", "lesson")
STATUSES = ("candidate", "verified", "superseded")
EPISTEMICS = ("observed", "inferred", "decided")
RELATIONS = ("relates_to", "documents", "supports", "contradicts", "supersedes", "depends_on", "derived_from")


@dataclass(frozen=True)
class Draft:
    """What the deriver makes of one ledger line, before its file is composed. Texts are clean, ids are on the raw text.

    `sources` are the episode and the task; `evidence` is every reference of an observation, `resolved` those that resolve.
    """

    id: str
    klass: str
    title: str
    description: str
    epistemics: str
    date: str
    tag: str
    sources: tuple[str, ...]
    about: str = ""
    route: str = ""
    evidence: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()

    def text(self, commits: Sequence[str], touched: Sequence[str]) -> str:
        """The bytes of the record. `commits` are full names, `touched` the paths that the episode's commits changed."""
        sources = [*self.sources, *(f"commit:{name}" for name in commits), *self.resolved]
        lines = ["---", "schema: knowledge/v1", f"id: {self.id}", "kind: knowledge", f"class: {self.klass}",
                 f"title: {quoted(self.title)}", f"description: {quoted(self.description)}", "status: candidate",
                 f"epistemics: {self.epistemics}", f"date: {self.date}", "tags:", "  - derived", f"  - {self.tag}"]
        if self.about:
            lines += [f"about: {quoted(self.about)}", f"route: {self.route}"]
        lines += ["provenance:", "  origin: extracted", "  derived_from:"]
        lines += [f"    - {scalar(source)}" for source in dict.fromkeys(sources)]
        if touched:
            lines.append("relations:")
            for path in touched:
                lines += ["  - type: relates_to", f"    target: {scalar(f'file:{path}')}"]
        lines += ["---", "", f"# {self.title}", "", self.description]
        if self.evidence:
            lines += ["", "# Evidence", "", *(f"- `{reference}`" for reference in self.evidence)]
        return "\n".join(lines) + "\n"


def record_id(episode: str, *evidence: str) -> str:
    """The id of the record of this evidence in this episode: the first 12 hex digits of SHA-256 over its fields."""
    return f"{episode}-{hashlib.sha256(chr(10).join(evidence).encode()).hexdigest()[:12]}"


class RecordFile:
    """One file of `candidates/` or `curated/`. `problem` says why its front matter does not parse, or is ""."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.stem = path.rsplit("/", 1)[1].removesuffix(".md")
        self.data = data
        self.problem = ""
        self.fields: dict[str, Any] = {}
        self.body = ""
        try:
            parts = yaml_subset.front_matter(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.problem = "the file is not UTF-8"
        except yaml_subset.SubsetError as error:
            self.problem = f"the front matter does not parse: {error}"
        else:
            if parts is None:
                self.problem = "there is no front matter"
            else:
                self.fields, self.body = parts

    def field(self, name: str) -> str:
        """A scalar field, or "" when it is absent or no scalar."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    @property
    def folder(self) -> str:
        """`candidates` or `curated`."""
        return self.path.rsplit("/", 2)[1]

    @cached_property
    def origin(self) -> str:
        provenance = self.fields.get("provenance")
        value = provenance.get("origin", "") if isinstance(provenance, dict) else ""
        return value if isinstance(value, str) else ""

    @cached_property
    def derived_from(self) -> list[str]:
        provenance = self.fields.get("provenance")
        value = provenance.get("derived_from", []) if isinstance(provenance, dict) else []
        items = value if isinstance(value, list) else [value] if value else []
        return [item for item in items if isinstance(item, str)]

    @cached_property
    def relations(self) -> list[tuple[str, str]]:
        """(type, target) of each relation."""
        value = self.fields.get("relations", [])
        items = value if isinstance(value, list) else []
        return [(str(item.get("type", "")), str(item.get("target", ""))) for item in items if isinstance(item, dict)]

    @cached_property
    def episode(self) -> str:
        """The first `session:` that it is derived from, or ""."""
        return next((item[8:] for item in self.derived_from if item.startswith("session:")), "")


def read_record(disk: Disk, path: str) -> RecordFile | None:
    """The record file at a path, or None when there is none (a folder's contract is none, nor is a link out of the checkout)."""
    data = None if disk.leads_out(path) else disk.read(path)
    if data is None or is_contract(data):
        return None
    return RecordFile(path, data)


def read_folder(disk: Disk, folder: str) -> list[RecordFile]:
    """Every record file of a folder, in byte order of the paths."""
    found = []
    for name in disk.names(folder):
        path = f"{folder}/{name}"
        data = disk.read_if_readable(path)
        if data is None:
            found.append(RecordFile(path, b""))
        elif not is_contract(data):
            found.append(RecordFile(path, data))
    return found


def read_records(disk: Disk) -> list[RecordFile]:
    """Every record file of both folders: candidates first."""
    return read_folder(disk, layout.CANDIDATES) + read_folder(disk, layout.CURATED)


def is_contract(data: bytes) -> bool:
    """Whether a document's front matter says `kind: context`: then it describes its folder."""
    if not data.startswith((b"---\n", b"---\r\n", b"\xef\xbb\xbf---")):
        return False
    for line in data.split(b"\n")[1:]:
        line = line.rstrip(b"\r")
        if line == b"---":
            return False
        if line == b"kind: context":
            return True
    return False
