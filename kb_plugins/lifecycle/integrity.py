"""What a record must be: one finding per fault, each under the code of its family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from kb.api import KbError
from kb_plugins.lifecycle import yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.observe import subject_is_legal
from kb_plugins.lifecycle.records import CLASSES, EPISTEMICS, ID, RELATIONS, STATUSES, RecordFile, read_records
from kb_plugins.lifecycle.references import References, Resolution
from kb_plugins.lifecycle.routes import ROUTES
from kb_plugins.lifecycle.text import is_conversation

# Family -> the number of its K code in `kb check`. Two families of one table row share a number.
FAMILIES = {
    "shape": 1, "unknown_key": 2, "schema": 3, "kind": 4, "id": 5, "duplicate_id": 6, "title": 7, "description": 8,
    "class": 9, "epistemics": 9, "status": 10, "date": 11, "tags": 12, "provenance": 13, "superseded_by": 14,
    "superseded": 15, "reference": 16, "relation": 17, "transcript": 18, "validator": 19,
}
_KEYS = frozenset({"schema", "id", "kind", "class", "title", "description", "status", "superseded_by", "epistemics", "date",
                   "tags", "about", "route", "provenance.origin", "provenance.derived_from", "relations"})
_NUMBERED = re.compile(r"tags\.\d+|provenance\.derived_from\.\d+|relations\.\d+\.(?:type|target)")
_TAG = re.compile(r"[a-z][a-z0-9-]*")
_KINDS_OF_TARGETS = ("session", "task", "decision", "commit", "file", "test", "knowledge", "rule", "adr", "issue")


@dataclass(frozen=True)
class Fault:
    """One fault of one record file."""

    path: str
    code: str
    message: str


@dataclass(frozen=True)
class Historical:
    """A reference to a file that the tree no longer holds, and the blob that answers for it."""

    path: str
    reference: str
    target: str


@dataclass(frozen=True)
class Verdict:
    """The records that were read, their faults in order of path, and the references that only history answers."""

    records: tuple[RecordFile, ...]
    faults: tuple[Fault, ...]
    historical: tuple[Historical, ...]

    @property
    def failing(self) -> int:
        """How many records have a fault."""
        return len({fault.path for fault in self.faults})

    def shown(self) -> dict[str, object]:
        """As JSON."""
        return {"schema": 1, "records": len(self.records), "failing": self.failing,
                "findings": [{"path": f.path, "code": f.code, "message": f.message} for f in self.faults],
                "historical": [{"path": h.path, "reference": h.reference, "target": h.target} for h in self.historical]}

    def text(self) -> Iterator[str]:
        """As lines: OK or FAIL per record or fault, what history answered, the summary."""
        for record in self.records:
            mine = [fault for fault in self.faults if fault.path == record.path]
            for fault in mine:
                yield (f"FAIL knowledge   {fault.path} — {fault.code}: {fault.message}"
                       "  [reproduce: majordomus knowledge check]")
            if not mine:
                yield f"OK   knowledge   {record.path} — the record is sound"
            for item in self.historical:
                if item.path == record.path:
                    yield f"INFO knowledge   {item.path} — {item.reference} is historical: {item.target}"
        yield f"knowledge check: {len(self.records)} record(s), {self.failing} failing"


def check(disk: Disk, ledger: Ledger, records: Sequence[RecordFile] | None = None) -> Verdict:
    """Judge every record of both folders. When judging itself failed, each has a `validator` fault: never a clean pass."""
    read = sorted(read_records(disk) if records is None else records, key=lambda r: r.path.encode("utf-8", "replace"))
    if not read:
        return Verdict((), (), ())
    cited = [ref for record in read if not record.problem
             for ref in [*record.derived_from, *(target for _, target in record.relations)]]
    try:
        resolved = References(disk, ledger).resolve(cited)
    except KbError as error:
        return Verdict(tuple(read), tuple(Fault(r.path, "validator", f"references could not be resolved: {error}")
                                          for r in read), ())
    ids = Counter(record.field("id") for record in read if record.field("id"))
    faults: list[Fault] = []
    historical: list[Historical] = []
    for record in read:
        faults += [Fault(record.path, code, message) for code, message in faults_of(record, ids, resolved)]
        for reference in dict.fromkeys([*record.derived_from, *(target for _, target in record.relations)]):
            if reference in resolved and resolved[reference].how == "historical":
                historical.append(Historical(record.path, reference, resolved[reference].target))
    return Verdict(tuple(read), tuple(faults), tuple(historical))


def shape_faults(record: RecordFile) -> list[tuple[str, str]]:
    """The faults of the file alone: nothing outside it is asked."""
    return [fault for fault in faults_of(record, Counter(), {}) if fault[0] not in ("reference", "duplicate_id")]


def faults_of(record: RecordFile, ids: Counter[str], resolved: dict[str, Resolution]) -> Iterator[tuple[str, str]]:
    """(code, message) of each fault of one record."""
    if record.problem:
        yield "shape", record.problem
        return
    for judge in _JUDGES:
        yield from judge(record)
    if ids[record.field("id")] > 1:
        yield "duplicate_id", f"another record has the id {record.field('id')} too"
    for reference in dict.fromkeys(record.derived_from):
        yield from _reference(reference, resolved)
    for kind, target in record.relations:
        if kind not in RELATIONS:
            yield "relation", f"{kind or 'a relation without a type'} is no type of relation"
        if target and target.partition(":")[0] not in _KINDS_OF_TARGETS:
            yield "reference", f"{target} is of a kind that nothing can be related to"
        else:
            yield from _reference(target, resolved)


def _reference(reference: str, resolved: dict[str, Resolution]) -> Iterator[tuple[str, str]]:
    answer = resolved.get(reference)
    if not reference:
        yield "reference", "a reference is empty"
    elif answer is not None and answer.missing:
        yield "reference", f"{reference} resolves to nothing: {answer.reason}"


def _constants(record: RecordFile) -> Iterator[tuple[str, str]]:
    for key in yaml_subset.flat(record.fields):
        if key not in _KEYS and not _NUMBERED.fullmatch(key):
            yield "unknown_key", f"{key} is no field of a record"
    if record.field("schema") != "knowledge/v1":
        yield "schema", "it must say `schema: knowledge/v1`"
    if record.field("kind") != "knowledge":
        yield "kind", "it must say `kind: knowledge`"


def _identity(record: RecordFile) -> Iterator[tuple[str, str]]:
    name = record.field("id")
    if not name:
        yield "id", "there is no id"
        return
    if not ID.fullmatch(name):
        yield "id", f"{name} is no id: small letters, digits and hyphens, a letter first"
    if name != record.stem:
        yield "id", f"the id {name} is not the name of the file"


def _prose(record: RecordFile) -> Iterator[tuple[str, str]]:
    for key in ("title", "description"):
        value = record.field(key)
        if not value.strip():
            yield key, f"there is no {key}"
        elif is_conversation(value):
            yield "transcript", f"the {key} opens like a line of a conversation"
    if is_conversation(record.body.replace("\r\n", "\n")):
        yield "transcript", "the body carries a line of a conversation"


def _enumerations(record: RecordFile) -> Iterator[tuple[str, str]]:
    for key, allowed in (("class", CLASSES), ("epistemics", EPISTEMICS), ("status", STATUSES)):
        if record.field(key) not in allowed:
            yield key, f"{record.field(key) or 'nothing'} is not one of {', '.join(allowed)}"
    status = record.field("status")
    if status == "verified" and record.folder == "candidates":
        yield "status", "a candidate does not verify itself: only promotion writes `verified`"
    if status == "candidate" and record.folder == "curated":
        yield "status", "a curated record is verified or superseded"
    if record.field("route") and (record.field("route") not in ROUTES or not record.field("about")):
        yield "unknown_key", f"route stands only beside about, and is one of {', '.join(ROUTES)}"
    if record.field("about") and not subject_is_legal(record.field("about")):
        yield "unknown_key", f"about names no subject: {record.field('about')}"


def _dated(record: RecordFile) -> Iterator[tuple[str, str]]:
    text = record.field("date")
    try:
        good = bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", text)) and bool(date.fromisoformat(text))
    except ValueError:
        good = False
    if not good:
        yield "date", f"{text or 'nothing'} is no day (YYYY-MM-DD)"
    tags = record.fields.get("tags", [])
    for tag in tags if isinstance(tags, list) else [tags] if tags else []:
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            yield "tags", f"{tag} is no tag: small letters, digits and hyphens"


def _provenance(record: RecordFile) -> Iterator[tuple[str, str]]:
    origin, status = record.origin, record.field("status")
    if origin and origin not in ("authored", "extracted"):
        yield "provenance", f"the origin {origin} is neither authored nor extracted"
    if status == "verified" and not origin:
        yield "provenance", "a verified record says where it comes from (provenance.origin)"
    if origin == "extracted" and not record.derived_from:
        yield "provenance", "an extracted record names what it is derived from"
    successor = record.field("superseded_by")
    if "superseded_by" in record.fields:
        if not ID.fullmatch(successor):
            yield "superseded_by", f"{successor or 'nothing'} is no id"
        if status != "superseded":
            yield "superseded_by", f"a record that is {status} has no successor"
    if status == "superseded" and not successor and not re.search(r"(?m)^# Rejected[ \r]*$", record.body):
        yield "superseded", "it neither names what superseded it nor says under `# Rejected` why"


_JUDGES: tuple[Callable[[RecordFile], Iterator[tuple[str, str]]], ...] = (
    _constants, _identity, _prose, _enumerations, _dated, _provenance)
