"""The graph: nodes and typed edges compiled from the sources on every call. It is never stored, so it is never stale."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kb_plugins.lifecycle import yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.integrity import shape_faults
from kb_plugins.lifecycle.links import links, path_of_link, title_of
from kb_plugins.lifecycle.notebook import QUESTION
from kb_plugins.lifecycle.records import RecordFile, is_contract
from kb_plugins.lifecycle.sources import Source, discover

KINDS = frozenset({
    "policy", "scope", "profile", "rule", "prompt", "document", "skill", "milestone", "issue", "use_case", "use-case",
    "taxonomy", "application", "claim", "implementation", "test", "adr", "session", "context", "knowledge", "handover",
    "checkpoint", "decision", "question", "feature", "doctrine", "workflow", "release-record", "domain"})
EDGE_TYPES = frozenset({
    "part_of", "depends_on", "specified_by", "implemented_by", "tested_by", "declares", "supports", "references",
    "derived_from", "relates_to", "documents", "contradicts", "supersedes"})
_BY_ID = frozenset({"milestone", "issue", "rule", "adr", "skill", "use_case", "use-case", "application", "knowledge",
                    "feature", "domain"})
_LEVELS = {"duplicate_id": "FAIL", "edge_incomplete": "FAIL", "edge_type": "FAIL", "missing_target": "FAIL",
           "dangling_edge": "FAIL", "refused_source": "FAIL", "source_missing": "WARN"}
_OWNERS = {"unresolved_reference": "authored", "broken_link": "authored", "refused_source": "schema",
           "source_missing": "tree", "unknown_kind": "-", "empty_source": "-", "unparsed_source": "-"}


@dataclass(frozen=True)
class Node:
    """One object. The id is `<kind>:<declared id or path>`, never a hash."""

    id: str
    kind: str
    scope: str
    source: str
    hash: str
    title: str


@dataclass(frozen=True, order=True)
class Edge:
    """A relationship. `provenance` is `<file>:<field>` or `<file>:<line>`."""

    type: str
    source: str
    target: str
    provenance: str


@dataclass(frozen=True)
class Finding:
    """What the compiler found. `owner` says who stated it: `owned` breaks fail, `authored` ones are reported."""

    code: str
    subject: str
    message: str

    @property
    def level(self) -> str:
        return _LEVELS.get(self.code, "WARN")

    @property
    def owner(self) -> str:
        return _OWNERS.get(self.code, "owned")

    def shown(self) -> dict[str, str]:
        return {"level": self.level, "code": self.code, "subject": self.subject, "message": self.message}


@dataclass
class Graph:
    """What was compiled."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        """Whether something that a structured field states is broken, or two sources claim one id."""
        return any(found.level == "FAIL" and found.owner == "owned" for found in self.findings)

    @property
    def failing(self) -> bool:
        return any(found.level == "FAIL" for found in self.findings)


def compile_graph(disk: Disk, scope: str = "all") -> Graph:
    """Compile the graph of a scope. Nothing is written and nothing repaired."""
    sources, empty = discover(disk, scope)
    compiler = _Compiler(disk, sources)
    for klass in empty:
        compiler.find("empty_source", klass.id, f"the required class {klass.id} found no file ({klass.pathspec})")
    for source in sources:
        compiler.node(source)
    for source, kind, name, fields in compiler.compiled:
        compiler.edges(source, kind, name, fields)
    compiler.settle()
    return compiler.graph


class _Compiler:
    def __init__(self, disk: Disk, sources: Iterable[Source]) -> None:
        self.disk = disk
        self.graph = Graph()
        self.compiled: list[tuple[Source, str, str, dict[str, Any]]] = []
        self._by_path: dict[str, str] = {}
        self._seen: set[str] = set()
        self._judged: list[tuple[str, str, str, str]] = []  # (from, to, type, provenance) of edges that must end in a node
        self._tracked = disk.checkout.tracked
        self._folders = {path[:at] for path in self._tracked for at in range(len(path)) if path[at] == "/"}

    def find(self, code: str, subject: str, message: str) -> None:
        self.graph.findings.append(Finding(code, subject, message))

    # -- nodes -----------------------------------------------------------------------------------------------------

    def node(self, source: Source) -> None:
        if source.data is None:
            if source.path not in self._seen:
                self.find("source_missing", source.path, "git tracks it and the working tree does not hold it")
            self._seen.add(source.path)
            return
        kind = source.klass.kind.replace("use-case", "use_case")
        if is_contract(source.data):
            kind = "context"
            if source.path in self._seen:
                return
        elif kind not in KINDS:
            if not any(f.code == "unknown_kind" and f.subject == source.klass.id for f in self.graph.findings):
                self.find("unknown_kind", source.klass.id, f"nothing is known of the kind {source.klass.kind}")
            kind = "unknown"
        self._seen.add(source.path)
        text = source.data.decode("utf-8-sig", "replace")
        if kind in ("decision", "question"):
            self._many(source, kind, text)
            return
        fields = self._fields(source, kind, text)
        if fields is None:
            return
        if kind in ("claim", "doctrine"):
            self._rows(source, kind, fields)
            return
        if kind == "knowledge":
            faults = shape_faults(RecordFile(source.path, source.data))
            if faults:
                self.find("refused_source", source.path, f"{faults[0][0]}: {faults[0][1]}")
                return
        name = _declared(kind, source.path, fields)
        title = fields.get("description" if kind in ("profile", "prompt") else "title", "")
        if kind in ("document", "context") or not isinstance(title, str) or not title:
            title = title_of(text) or (title if isinstance(title, str) else "")
        self._add(source, kind, name, title)
        self.compiled.append((source, kind, f"{kind}:{name}", {**fields, "\0text": text}))

    def _fields(self, source: Source, kind: str, text: str) -> dict[str, Any] | None:
        """The structured fields of a source, {} when it has none, None when they do not parse."""
        try:
            if source.path.endswith((".yaml", ".yml")):
                return yaml_subset.parse(text)
            parts = yaml_subset.front_matter(text)
        except yaml_subset.SubsetError as error:
            if kind == "knowledge":
                self.find("refused_source", source.path, f"shape: {error}")
            elif kind in ("document", "context", "unknown", "implementation", "test"):
                return {}
            else:
                self.find("unparsed_source", source.path, str(error))
            return None
        return parts[0] if parts else {}

    def _add(self, source: Source, kind: str, name: str, title: str) -> None:
        node = Node(f"{kind}:{name}", kind, source.klass.scope, source.path, source.hash, title)
        there = self.graph.nodes.get(node.id)
        if there is not None:
            self.find("duplicate_id", node.id, f"{there.source} and {source.path} ({source.klass.id}) both claim it")
            return
        self.graph.nodes[node.id] = node
        self._by_path.setdefault(source.path, node.id)

    def _many(self, source: Source, kind: str, text: str) -> None:
        text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
        if kind == "decision":
            names = re.findall(r"(?m)^## \d{4}-\d{2}-\d{2} — (.+?)[ \r]*$", text)
        else:
            names = [found["text"] for line in text.split("\n") if (found := QUESTION.fullmatch(line.rstrip("\r")))]
        for name in dict.fromkeys(names):
            self._add(source, kind, name, name)

    def _rows(self, source: Source, kind: str, fields: dict[str, Any]) -> None:
        rows = fields.get("claims" if kind == "claim" else "doctrines", [])
        rows = [row for row in rows if isinstance(row, dict) and row.get("id")] if isinstance(rows, list) else []
        if not rows:
            self.find("empty_source", source.path, f"it lists no {kind}")
        for number, row in enumerate(rows):
            self._add(source, kind, str(row["id"]), str(row.get("claim") or row.get("title") or ""))
            self.compiled.append((source, kind, f"{kind}:{row['id']}", {**row, "\0at": f"{kind}s.{number}."}))

    # -- edges -----------------------------------------------------------------------------------------------------

    def edges(self, source: Source, kind: str, name: str, fields: dict[str, Any]) -> None:
        at = f"{source.path}:{fields.get(chr(0) + 'at', '')}"

        def to(key: str, type_: str, target: str) -> None:
            for value in _values(fields.get(key)):
                self._edge(name, f"{target}:{value.split('@')[0] if target == 'rule' else value}", type_, at + key)

        def path(key: str, type_: str) -> None:
            for value in _values(fields.get(key)):
                if value != "-":
                    self._path_edge(name, value, type_, at + key)

        if kind == "issue":
            to("milestone", "part_of", "milestone")
            to("depends_on", "depends_on", "issue")
        elif kind == "milestone":
            to("depends_on", "depends_on", "milestone")
            to("claims", "declares", "claim")
        elif kind == "claim":
            path("source", "specified_by")
            path("implementation", "implemented_by")
            path("test", "tested_by")
        elif kind == "rule":
            to("depends_on", "depends_on", "rule")
        elif kind == "doctrine":
            path("test", "tested_by")
            to("claims", "supports", "claim")
        elif kind == "adr":
            self._related(name, _values(fields.get("related")), at + "related")
        elif kind == "feature":
            to("domain", "part_of", "domain")
            for key, target in (("rules", "rule"), ("adrs", "adr"), ("claims", "claim"), ("use_cases", "use_case")):
                to(key, "references", target)
            path("docs", "references")
        elif kind == "document":
            self._links(source, name, str(fields.get("\0text", "")))
        elif kind == "knowledge" and source.data is not None:
            self._record(RecordFile(source.path, source.data), name)

    def _related(self, name: str, values: list[str], at: str) -> None:
        types = {"rule": "declares", "claim": "supports", "test": "tested_by", "file": "references"}
        for value in values:
            kind, _, target = value.partition(":")
            if kind in ("test", "file"):
                self._path_edge(name, target, types[kind], at)
            elif kind in types:
                self._edge(name, f"{kind}:{target.split('@')[0]}", types[kind], at)

    def _record(self, record: RecordFile, name: str) -> None:
        items = [("derived_from", ref, "provenance.derived_from") for ref in record.derived_from]
        items += [(kind, target, "relations") for kind, target in record.relations]
        for type_, reference, key in items:
            kind, _, value = reference.partition(":")
            at = f"{record.path}:{key}"
            if kind in ("file", "test"):
                node = self._by_path.get(value.rstrip("/"))
                self._put(Edge(type_, name, node or reference, at))  # emitted for a path that is no node, too
            else:
                external = kind in ("decision", "task", "commit", "issue", "session")
                self._edge(name, reference, type_, at, external=external)

    def _links(self, source: Source, name: str, text: str) -> None:
        for number, target in links(text):
            path = path_of_link(source.path, target)
            if path is None or path == "":
                continue
            if path in self._by_path:
                self._put(Edge("references", name, self._by_path[path], f"{source.path}:{number}"))
            elif path not in self._tracked and path not in self._folders and not self.disk.exists(path):
                self.find("broken_link", source.path, f"line {number} links {target}, which does not exist")

    def _path_edge(self, name: str, path: str, type_: str, at: str) -> None:
        path = path.partition("#")[0].rstrip("/")
        if path in self._by_path:
            self._put(Edge(type_, name, self._by_path[path], at))
        elif path not in self._tracked and path not in self._folders:
            self.find("missing_target", name, f"{at} names {path}, which the repository does not hold")

    def _edge(self, name: str, target: str, type_: str, at: str, *, external: bool = False) -> None:
        self._put(Edge(type_, name, target, at))
        if not external:
            self._judged.append((name, target, type_, at))

    def _put(self, edge: Edge) -> None:
        if not (edge.source and edge.target and edge.type and edge.provenance):
            self.find("edge_incomplete", edge.provenance or edge.source, "an edge lacks an end, a type or its provenance")
        elif edge.type not in EDGE_TYPES:
            self.find("edge_type", edge.provenance, f"{edge.type} is no type of edge")
        else:
            self.graph.edges.setdefault((edge.source, edge.target, edge.type), edge)

    def settle(self) -> None:
        """Judge the ends of the edges, once every node is known."""
        for name, target, type_, at in dict.fromkeys(self._judged):
            if target not in self.graph.nodes:
                code = "unresolved_reference" if type_ == "references" else "dangling_edge"
                self.find(code, name, f"{at} says {type_} {target}, and nothing has that id")


def _declared(kind: str, path: str, fields: dict[str, Any]) -> str:
    """The declared id of a source, or what stands for one."""
    key = ("session_id" if kind == "session" else "name" if kind in ("profile", "prompt") else
           "version" if kind == "release-record" else "id" if kind in _BY_ID else "")
    value = fields.get(key, "") if key else ""
    if isinstance(value, str) and value:
        return value
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0] if kind in ("handover", "checkpoint") else path


def _values(value: object) -> list[str]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str) and item]
    return [value] if isinstance(value, str) and value else []
