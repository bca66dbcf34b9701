"""The acts of a person: promote a candidate with evidence, or reject it with a reason. Nothing else writes `verified`."""

from __future__ import annotations

import re

from kb.api import UsageError, dead_keys
from kb_plugins.lifecycle import clock, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.exits import absent, invalid
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.records import CLASSES, ID, RecordFile, read_folder, read_record
from kb_plugins.lifecycle.text import clean, clean_block, is_conversation
from kb_plugins.lifecycle.yaml_subset import scalar

_OPEN_END = re.compile(r"(?:^|\n)---[ ]*\n")


def promote(disk: Disk, ledger: Ledger, name: str, evidence: bytes, *, klass: str | None = None, keys: str = "") -> str:
    """Move a candidate to `curated/` as verified, with the evidence under it. Gives the curated path.

    Raises KbError: 10 for a class outside the enumeration, a record that is no candidate, and evidence that is empty or a
    conversation; 12 when there is no such candidate; 13 when it cannot be written.
    """
    if klass is not None and klass not in CLASSES:
        raise invalid(f"{klass!r} is no class of record", hint=f"one of {', '.join(CLASSES)}")
    searched = _keys(keys)
    record = _candidate(disk, name)
    if not record.origin:
        raise invalid(f"{record.path} does not say where it comes from (provenance.origin)")
    try:
        proof = clean_block(evidence.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise invalid("the evidence is not UTF-8 text") from None
    if not proof.strip():
        raise invalid("a promotion needs evidence on stdin: without it, it is an assertion",
                      hint=f"write what you saw: knowledge promote {name} < evidence.md")
    if is_conversation(proof):
        raise invalid("the evidence carries a line of a conversation, and no conversation is ever recorded")
    target = f"{layout.CURATED}/{name}.md"
    with disk.lock("knowledge"):
        _refuse_curated(disk, name, "a promotion never overwrites a curated record")
        record = _candidate(disk, name)
        own = Episodes(disk).mine()
        front, body, end = _split(record)
        front = _set(front, "status", "verified")
        front = _set(front, "date", clock.day(clock.now()))
        if klass is not None:
            front = _set(front, "class", klass)
        if own is not None and f"session:{own.id}" not in record.derived_from:
            front = _with_source(front, f"session:{own.id}")
        if searched:
            body = _with_keys(body, searched)
        text = front + body.rstrip("\n") + f"\n\n# Evidence\n\n{proof}" + ("" if proof.endswith("\n") else "\n")
        disk.write_bytes(target, text.replace("\n", end).encode("utf-8"), mode=0o644)
        disk.remove(record.path)
    ledger.append("knowledge.promoted", own.id if own else None, id=name, path=target)
    return target


def reject(disk: Disk, ledger: Ledger, name: str, reason: str, *, by: str | None = None) -> str:
    """Supersede a candidate where it stands, with the reason under it. Gives its path.

    Raises KbError: 2 for a blank reason; 10 for a record that is no candidate, an id that is curated as well, an unknown
    `by`, or a reason that is a conversation; 12 when there is no such candidate; 13 when it cannot be written.
    """
    if not reason.strip():
        raise UsageError("a rejection needs a reason", hint="--reason \"why\"")
    _candidate(disk, name)
    if is_conversation(reason):
        raise invalid("the reason carries a line of a conversation, and no conversation is ever recorded")
    if by is not None and (by == name or not _is_record(disk, by)):
        raise invalid(f"--by names no other record: {by!r}", hint="the id of a candidate or of a curated record")
    said = clean_block(reason).strip("\n")
    with disk.lock("knowledge"):
        _refuse_curated(disk, name, "a rejection would leave two records with one id")
        record = _candidate(disk, name)
        front, body, end = _split(record)
        front = re.sub(r"(?m)^superseded_by:.*\n", "", front)
        front = _set(front, "status", "superseded" + (f"\nsuperseded_by: {by}" if by else ""))
        text = front + body.rstrip("\n") + f"\n\n# Rejected\n\n{said}\n"
        disk.write_bytes(record.path, text.replace("\n", end).encode("utf-8"), mode=0o644)
    own = Episodes(disk).mine()
    successor = {"superseded_by": by} if by else {}
    ledger.append("knowledge.rejected", own.id if own else None, id=name, reason=said, **successor)
    return record.path


def half_promoted(disk: Disk) -> list[str]:
    """Ids whose promotion died between writing the curated record and removing the candidate."""
    found = []
    for candidate in read_folder(disk, layout.CANDIDATES):
        curated = read_record(disk, f"{layout.CURATED}/{candidate.stem}.md")
        if (curated is not None and curated.field("status") == "verified" and candidate.field("status") == "candidate"
                and curated.field("title") == candidate.field("title")
                and set(candidate.derived_from) <= set(curated.derived_from)):
            found.append(candidate.stem)
    return found


def finish_promotion(disk: Disk, ledger: Ledger, name: str) -> None:
    """Do what a promotion that died had left to do: remove the candidate, and log the act if it is not logged."""
    with disk.lock("knowledge"):
        disk.remove(f"{layout.CANDIDATES}/{name}.md")
    if not any(row.get("id") == name for row in ledger.of("knowledge.promoted")):
        own = Episodes(disk).mine()
        ledger.append("knowledge.promoted", own.id if own else None, id=name, path=f"{layout.CURATED}/{name}.md")


def _candidate(disk: Disk, name: str) -> RecordFile:
    record = read_record(disk, f"{layout.CANDIDATES}/{name}.md") if ID.fullmatch(name) else None
    if record is None:
        raise absent(f"there is no candidate {name!r}", hint="knowledge candidates lists them")
    if record.problem:
        raise invalid(f"{record.path}: {record.problem}", hint="knowledge check says what is wrong with it")
    if record.field("status") != "candidate":
        raise invalid(f"{record.path} is {record.field('status') or 'without a status'}, not a candidate")
    return record


def _refuse_curated(disk: Disk, name: str, why: str) -> None:
    """Two records with one id are mended by a person's hand alone: neither moving nor superseding one leaves a sound pair."""
    target = f"{layout.CURATED}/{name}.md"
    if disk.exists(target):
        raise invalid(f"{target} is already there, and {why}",
                      hint=f"what the candidate adds belongs in that file; then remove {layout.CANDIDATES}/{name}.md")


def _is_record(disk: Disk, name: str) -> bool:
    return bool(ID.fullmatch(name)) and any(
        read_record(disk, f"{folder}/{name}.md") is not None for folder in (layout.CANDIDATES, layout.CURATED))


def _split(record: RecordFile) -> tuple[str, str, str]:
    """(front matter with both of its `---` lines, body, line end) of a record, with `\\n` in the first two."""
    text = record.data.decode("utf-8-sig")
    end = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n") + ("" if text.endswith("\n") else "\n")
    closing = _OPEN_END.search(text, 4)
    assert closing is not None
    return text[:closing.end()], text[closing.end():], end


def _set(front: str, key: str, value: str) -> str:
    return re.sub(rf"(?m)^{key}:.*$", lambda _: f"{key}: {value}", front, count=1)


def _with_source(front: str, source: str) -> str:
    """The front matter with one more, last item in `provenance.derived_from`; every other line stays."""
    lines = front.split("\n")
    at = next((n for n, line in enumerate(lines) if re.match(r"  derived_from:", line)), None)
    if at is None:
        at = next(n for n, line in enumerate(lines) if re.match(r"  origin:", line))
        return "\n".join([*lines[:at + 1], "  derived_from:", f"    - {scalar(source)}", *lines[at + 1:]])
    inline = re.fullmatch(r"  derived_from:\s*\[(.*)\]\s*(?:#.*)?", lines[at])
    if inline:
        lines[at] = f"  derived_from: [{', '.join(part for part in (inline[1].strip(), source) if part)}]"
        return "\n".join(lines)
    last = at
    while last + 1 < len(lines) and re.match(r"\s+-(?:\s|$)", lines[last + 1]):
        last += 1
    indent = re.match(r"\s*", lines[last])[0] if last > at else "    "  # type: ignore[index]
    return "\n".join([*lines[:last + 1], f"{indent}- {scalar(source)}", *lines[last + 1:]])


def _with_keys(body: str, keys: str) -> str:
    """The body with the line that lets the catalogue find it, directly under the title."""
    found = re.search(r"(?m)^# .*$", body)
    at = found.end() if found else 0
    lead = "\n\n" if found else ""
    return f"{body[:at]}{lead}**Search for:** {keys}{body[at:] if found else chr(10) + chr(10) + body}"


def _keys(keys: str) -> str:
    if not keys:
        return ""
    words = [clean(word) for word in keys.split(",")]
    if not all(words) or "\n" in keys:
        raise UsageError("--keys takes words or phrases on one line, separated by commas")
    dead = dead_keys(words)
    if len(dead) == len(words):
        raise UsageError(f"no question reaches any of these keys: {', '.join(dead)}",
                         hint="a key needs one word, or two, that are not stop words")
    return ", ".join(word for word in words if word not in dead)
