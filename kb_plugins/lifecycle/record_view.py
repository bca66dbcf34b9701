"""One record read back, every reference resolved."""

from __future__ import annotations

from kb.api import KbError
from kb_plugins.lifecycle import layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.exits import absent
from kb_plugins.lifecycle.graph import compile_graph
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.records import ID, RecordFile, read_record
from kb_plugins.lifecycle.references import References, Resolution


def view(disk: Disk, ledger: Ledger, name: str) -> dict[str, object]:
    """The record as JSON shows it. Raises KbError (12) when no record has this id."""
    record = _find(disk, name)
    if record is None:
        raise absent(f"no record has the id {name!r}", hint="knowledge candidates lists the queue")
    found = References(disk, ledger).resolve([*record.derived_from, *(target for _, target in record.relations)])
    if any(reference.startswith(("file:", "test:")) for reference in found):
        uris = _indexed(disk)
        found = {reference: _of_index(uris, reference, answer) for reference, answer in found.items()}
    said: dict[str, object] = {
        "id": record.stem, "uri": f"majordomus://knowledge/{record.stem}", "path": record.path,
        "source_class": record.folder, "class": record.field("class"), "status": record.field("status"),
        "epistemics": record.field("epistemics"), "origin": record.origin, "date": record.field("date"),
        "title": record.field("title")}
    if record.problem:
        said["problem"] = record.problem
    said["derived_from"] = [_item(ref, found[ref]) for ref in record.derived_from]
    said["relations"] = [{**_item(target, found[target]), "relation_type": kind} for kind, target in record.relations]
    if record.field("superseded_by"):
        said["superseded_by"] = record.field("superseded_by")
    said["resolved"] = not record.problem and not any(resolution.missing for resolution in found.values())
    said["content"] = record.data.decode("utf-8-sig", "replace")
    return said


def text(said: dict[str, object]) -> list[str]:
    """The same as labelled lines."""
    lines = [f"{'id':<13}{said['id']}", f"{'path':<13}{said['path']}",
             f"{'record':<13}{said['class']} {said['status']} {said['epistemics']} {said['date']}",
             f"{'title':<13}{said['title']}"]
    if "problem" in said:
        lines.append(f"{'problem':<13}{said['problem']}")
    if "superseded_by" in said:
        lines.append(f"{'superseded':<13}{said['superseded_by']}")
    for key, label in (("derived_from", "derived_from"), ("relations", "relation")):
        items = said[key]
        assert isinstance(items, list)
        for item in items:
            lead = f"{item['relation_type']} " if "relation_type" in item else ""
            tail = item.get("target") or item.get("reason", "")
            lines.append(f"{label:<13}{lead}{item['reference']}  {item['resolution']}" + (f"  {tail}" if tail else ""))
    return [*lines, f"{'resolved':<13}{'yes' if said['resolved'] else 'no'}"]


def _item(reference: str, resolution: Resolution) -> dict[str, str]:
    said = {"reference": reference, "resolution": resolution.how}
    if resolution.target:
        said["target"] = resolution.target
    if resolution.reason:
        said["reason"] = resolution.reason
    return said


def _of_index(uris: dict[str, str], reference: str, answer: Resolution) -> Resolution:
    """A file that the graph has a node for is that object; any other one is a fact outside the index."""
    if answer.how != "object" or not reference.startswith(("file:", "test:")):
        return answer
    return Resolution("object", uris[answer.target]) if answer.target in uris else Resolution("external", answer.target)


def _indexed(disk: Disk) -> dict[str, str]:
    """Path -> URI of the object that the graph makes of it."""
    uris: dict[str, str] = {}
    try:
        nodes = list(compile_graph(disk, "shared").nodes.values())
    except KbError:  # `knowledge sources` says what is wrong with the declaration
        nodes = []
    for node in nodes:
        uris.setdefault(node.source, f"majordomus://{node.kind}/{node.id.partition(':')[2]}")
    return uris


def _find(disk: Disk, name: str) -> RecordFile | None:
    if not ID.fullmatch(name):
        return None
    for folder in (layout.CURATED, layout.CANDIDATES):
        record = read_record(disk, f"{folder}/{name}.md")
        if record is not None:
            return record
    return None
