"""`kb init --adopt`: a folder of ordinary notes becomes a base, and no note changes unless a person says so."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kb.core.markdown import front_matter_end, lines_of
from kb.core.privacy import DEFAULT_FOLDERS
from kb.core.proposing import propose, rare_words, with_key_line
from kb.core.shelves import MAPS, is_orientation, map_of
from kb.core.skeleton import adopted_files
from kb.core.values import Base
from kb.errors import KbError
from kb.store.files import locked, read_bytes, stay_inside, write_atomic
from kb.store.fleet import open_fleet, real_folder, refuse_the_disk
from kb.store.notes import Bucket, Note, content_hash, read_note
from kb.store.walk import walk_base

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Adopted:
    """The base at `root`, and the files that were created for it.

    keyless:         how many notes in reach of a question have no key line.
    private:         how many notes the private layer holds.
    private_folders: those of the default private folders that hold notes, when agent.txt leaves it at the default.
    """

    root: str
    created: tuple[str, ...]
    keyless: int
    private: int
    private_folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyProposal:
    """One note with a proposed key line. `hash` is of the bytes that were read; `diff` is a unified diff."""

    path: str
    keys: tuple[str, ...]
    hash: str
    diff: str


@dataclass(frozen=True, slots=True)
class KeyProposals:
    """What can be proposed for the public notes, and what is left; all by path.

    keyed:      how many notes have a key line already.
    empty:      keyless notes in which nothing stands.
    wordless:   keyless notes of which no word could be a key.
    unreadable: (note, reason).
    skipped:    what the walk left out and why, one sentence each.
    """

    proposals: tuple[KeyProposal, ...]
    keyed: int
    empty: tuple[str, ...]
    wordless: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeysWritten:
    """The notes that were written, those that were left alone because they changed or went away, and (note, reason)
    of those that could not be written."""

    written: tuple[str, ...]
    changed: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def adopt_folder(folder: str) -> Adopted:
    """Add agent.txt and MAP.md to a folder where they are missing: both or neither. Touches no other file.

    Raises KbError for `/`, a home directory, a folder that holds bases of its own, or one that cannot be written.
    """
    root = real_folder(folder)
    refuse_the_disk(root, "a base")
    bases = open_fleet([root]).bases
    if [base.root for base in bases] != [root] and not bases[0].within:  # a folder of a base may become one of its own
        raise KbError(f"{root} holds bases of its own: " + ", ".join(base.name for base in bases))
    created = _create(root, [name for name in adopted_files("") if not _is_there(root, name)])
    base = open_fleet([root]).bases[0]
    private = [stat.path for stat in walk_base(base, True, measure=False).files if stat.private and not is_orientation(stat.path, None)]
    at_default = not base.privacy.whole and base.privacy.folders == DEFAULT_FOLDERS
    held = [name for name in DEFAULT_FOLDERS if any(path.startswith(f"{name}/") for path in private)]
    keyless = sum(note.bucket is Bucket.UNREACHABLE for note, _ in _read(base).notes)
    return Adopted(root, created, keyless, len(private), tuple(held) if at_default else ())


def propose_keys(root: str) -> KeyProposals:
    """A key line for every public note that has none and is not exempt, each as a diff against the file. Writes nothing."""
    seen = _read(open_fleet([root]).bases[0])
    keyless = [(note, text) for note, text in seen.notes if note.bucket is Bucket.UNREACHABLE]
    frequency = rare_words(text for _, text in keyless)
    found: list[KeyProposal] = []
    empty: list[str] = []
    wordless: list[str] = []
    for note, text in keyless:
        keys = propose(note.path, text, _declared(text), frequency, len(keyless)) if text.strip() else []
        if keys:
            found.append(KeyProposal(note.path, tuple(keys), note.hash, _diff(note.path, text, with_key_line(text, keys))))
        else:
            (wordless if text.strip() else empty).append(note.path)
    buckets = [note.bucket for note, _ in seen.notes]
    unreadable = [(note.path, note.reason) for note, _ in seen.notes if note.bucket is Bucket.UNREADABLE]
    return KeyProposals(tuple(found), buckets.count(Bucket.ENTRY), tuple(empty), tuple(wordless),
                        (*unreadable, *seen.unnamed), seen.skipped)


def write_keys(root: str, proposals: Sequence[KeyProposal]) -> KeysWritten:
    """Write each proposal into its note, under the lock of the base's writers. A note that cannot be written stops no other.

    What is written is what was proposed: a note of which one byte changed since it was read, by hand or by another kb, is
    left alone, so that no note gets a second key line.
    """
    written: list[str] = []
    changed: list[str] = []
    failed: dict[str, str] = {}
    lock = os.path.join(root, ".kb", "write")
    for number, proposal in enumerate(proposals):
        try:
            stay_inside(lock, root)
            with locked(lock):
                try:
                    (written if _write(root, proposal) else changed).append(proposal.path)
                except OSError as error:
                    failed[proposal.path] = str(error.strerror or error)
        except (OSError, KbError) as error:  # what this lock says the next would say too, and each wait is long
            reason = error.message if isinstance(error, KbError) else f"{error.filename or root}: {error.strerror or error}"
            failed |= {rest.path: reason for rest in proposals[number:]}
            break
    return KeysWritten(tuple(written), tuple(changed), tuple(failed.items()))


def _write(root: str, proposal: KeyProposal) -> bool:
    """Write the key line of a note that is as it was read. False, and nothing is done, when it changed or is gone."""
    file = os.path.join(root, proposal.path)
    try:
        data = read_bytes(file)
    except FileNotFoundError:
        return False
    if content_hash(data) != proposal.hash:
        return False
    if not os.access(file, os.W_OK):  # a new file could take its place, and that is not what a write-protected note asks for
        raise PermissionError(errno.EACCES, "it is read-only", file)
    bom = _BOM if data.startswith(_BOM) else b""
    text = data[len(bom):].decode("utf-8")
    write_atomic(file, bom + with_key_line(text, proposal.keys).encode("utf-8"))
    return True


def _is_there(root: str, name: str) -> bool:
    """Whether the folder has its card or, under any of its names, its map. Raises KbError where that is no file."""
    found = map_of(frozenset(os.listdir(root))) if name in MAPS else name
    if found is None or not os.path.lexists(os.path.join(root, found)):
        return False
    if not os.path.isfile(os.path.join(root, found)):
        raise KbError(f"{os.path.join(root, found)} is no file", hint="a base has a file of that name")
    return True


def _create(root: str, names: Sequence[str]) -> tuple[str, ...]:
    """Make the files of a base that are `names`, all or none; their paths."""
    created: list[str] = []
    files = adopted_files(os.path.basename(root))
    try:
        for name in names:
            path = os.path.join(root, name)
            write_atomic(path, files[name])
            created.append(path)
    except OSError as error:
        for path in created:
            os.unlink(path)
        raise KbError(f"cannot write {error.filename or root}: {error.strerror or error}", hint="nothing was changed") from None
    return tuple(created)


class _Seen(NamedTuple):
    """The public notes of a base, with the text of those without keys, and what the walk had to leave out."""

    notes: list[tuple[Note, str]]
    unnamed: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...]


def _read(base: Base) -> _Seen:
    map_name = map_of(frozenset(os.listdir(base.root)))
    walk = walk_base(base, False)
    notes = []
    for stat in walk.files:
        note, text = read_note(base.root, stat, map_name)
        notes.append((note, text if note.bucket is Bucket.UNREACHABLE else ""))
    return _Seen(notes, tuple((one.path, one.reason) for one in walk.unnamed), tuple(walk.told(base.name)))


def _declared(text: str) -> list[str]:
    """Aliases and tags of the front matter, as Obsidian and Hugo write them, read as far as it can be."""
    lines = lines_of(text)
    end = front_matter_end(lines)
    data = _loaded(lines[:end]) if end else None
    if not isinstance(data, dict):
        return []
    return [word for name in ("aliases", "alias", "tags", "tag", "keywords") for word in _strings(data.get(name), name)]


def _loaded(lines: list[str]) -> Any:
    """What front matter of a kind that `front_matter_end` knows says; None when it cannot be read."""
    import yaml

    inner = "\n".join(lines[1:-1])
    try:
        if lines[0].startswith("+"):
            import tomllib

            return tomllib.loads(inner)
        # JSON is YAML of another style
        return yaml.safe_load(f"{{{inner}}}" if lines[0].startswith("{") else inner)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: TOML's, and PyYAML's own dates, such as 2026-13-45
        return None


def _strings(value: Any, name: str) -> list[str]:
    if isinstance(value, str):
        parts = value.replace(",", " ").split() if name.startswith("tag") else value.split(",")
        return [part.strip().lstrip("#").replace("/", " ") for part in parts if part.strip()]
    if isinstance(value, list):
        return [text for item in value[:50] if isinstance(item, str | int) for text in [str(item).lstrip("#").replace("/", " ")]]
    return []


def _diff(path: str, old: str, new: str) -> str:
    import difflib

    return "".join(line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(
        old.replace("\r\n", "\n").splitlines(keepends=True), new.replace("\r\n", "\n").splitlines(keepends=True),
        f"a/{path}", f"b/{path}", n=1))
