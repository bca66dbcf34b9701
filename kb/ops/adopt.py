"""`kb init --adopt`: a folder of ordinary notes becomes a base, and no note changes unless a person says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kb.core.markdown import front_matter_end, lines_of
from kb.core.proposing import propose, rare_words, with_key_line
from kb.core.shelves import MAPS, map_of
from kb.core.values import Base
from kb.errors import KbError
from kb.store.files import read_bytes, write_atomic
from kb.store.fleet import open_fleet, real_folder
from kb.store.notes import Bucket, content_hash, read_note
from kb.store.walk import walk_base

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Adopted:
    """The base at `root`, the files that were created for it, and how many notes have no key line."""

    root: str
    created: tuple[str, ...]
    keyless: int


@dataclass(frozen=True, slots=True)
class KeyProposal:
    """One note with a proposed key line. `hash` is of the bytes that were read; `diff` is a unified diff."""

    path: str
    keys: tuple[str, ...]
    hash: str
    diff: str


def adopt_folder(folder: str) -> Adopted:
    """Add agent.txt and MAP.md to a folder where they are missing. Touches no other file.

    Raises KbError for `/`, a home directory, or a folder that holds bases of its own.
    """
    root = real_folder(folder)
    if root in (os.sep, os.path.expanduser("~")):
        raise KbError(f"{root} is no folder of notes", hint="name the folder that holds them")
    bases = open_fleet([root]).bases
    if [base.root for base in bases] != [root]:
        raise KbError(f"{root} holds bases of its own: " + ", ".join(base.name for base in bases))
    name = os.path.basename(root)
    created = []
    if not os.path.lexists(os.path.join(root, "agent.txt")):
        title = name[:1].upper() + name[1:]
        created.append(_create(root, "agent.txt", f"name = {title}\n# what this base is for, in one line\nrole =\n"
                               "# links mean what they meant to the program that wrote them; without this line they name a file exactly\n"
                               "links = vault\n"))
    if map_of(frozenset(os.listdir(root))) is None:
        created.append(_create(root, MAPS[0], f"# {name}, map\n\nA reading list for a person. `kb write` adds to it.\n"))
    keyless = len(_keyless(open_fleet([root]).bases[0]))
    return Adopted(root, tuple(created), keyless)


def propose_keys(root: str) -> list[KeyProposal]:
    """A key line for every public note that has none and is not exempt, each as a diff against the file. Writes nothing."""
    base = open_fleet([root]).bases[0]
    notes = _keyless(base)
    texts = dict(notes)
    frequency = rare_words(texts.values())
    found = []
    for path, text in notes:
        keys = propose(path, text, _declared(text), frequency, len(texts))
        if keys and text.strip():
            found.append(KeyProposal(path, tuple(keys), content_hash(read_bytes(os.path.join(root, path))),
                                     _diff(path, text, with_key_line(text, keys))))
    return found


def write_keys(root: str, proposals: Sequence[KeyProposal]) -> int:
    """Write each proposal into its note; how many were written. A note that changed since it was read is left alone."""
    written = 0
    for proposal in proposals:
        file = os.path.join(root, proposal.path)
        data = read_bytes(file)
        if content_hash(data) != proposal.hash:
            continue
        bom = _BOM if data.startswith(_BOM) else b""
        text = data[len(bom):].decode("utf-8")
        write_atomic(file, bom + with_key_line(text, proposal.keys).encode("utf-8"))
        written += 1
    return written


def _create(root: str, name: str, text: str) -> str:
    path = os.path.join(root, name)
    write_atomic(path, text)
    return path


def _keyless(base: Base) -> list[tuple[str, str]]:
    map_name = map_of(frozenset(os.listdir(base.root)))
    found = []
    for stat in walk_base(base, False).files:
        note, text = read_note(base.root, stat, map_name)
        if note.bucket is Bucket.UNREACHABLE:
            found.append((stat.path, text))
    return found


def _declared(text: str) -> list[str]:
    """Aliases and tags of the front matter, as Obsidian writes them: YAML, read as far as it can be."""
    lines = lines_of(text)
    end = front_matter_end(lines)
    if not end:
        return []
    import yaml

    try:
        data = yaml.safe_load("\n".join(lines[1:end - 1]))
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: PyYAML's own dates, such as 2026-13-45
        return []
    if not isinstance(data, dict):
        return []
    return [word for name in ("aliases", "alias", "tags", "tag", "keywords") for word in _strings(data.get(name), name)]


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
