"""`kb write`: a note, and its entry in the agent's map, as one act."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kb.core.content import dashes
from kb.core.display import flat, harmless
from kb.core.draft import SLUG_RULE, NoteDraft, is_slug, render_note
from kb.core.header import split_keys
from kb.core.keys import dead_keys
from kb.core.mapfile import add_entry, lists
from kb.core.markdown import lines_of
from kb.core.shelves import SKIPPED_FOLDERS, is_orientation, map_of
from kb.core.values import PROVENANCES, STAGES, Base, stem
from kb.errors import KbError
from kb.ops.named_base import base_called
from kb.store.declared import is_private
from kb.store.files import is_inside, locked, read_bytes, stay_inside, write_atomic
from kb.store.walk import walk_base

if TYPE_CHECKING:
    from kb.app import App

_BOM = b"\xef\xbb\xbf"


class Refused(KbError):
    """A note that may not be written as it is: a reviewer's word on its content, not a failure of the machine."""


class DeadKeys(Refused):
    """No key that was given can be reached by a question."""


class Dashes(Refused):
    """The rendered note holds an em or en dash."""


class BadDraft(KbError):
    """The slug, the keys, the body, the summary, the folder, the provenance or the stage is not legal."""


class NoMap(KbError):
    """The base has no MAP.md, INDEX.md or MAPA.md to list the note in."""


class NoteExists(KbError):
    """A note of that name is there already."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written. `path` is inside the base.

    dropped:  the dead keys that were left out.
    withheld: whether the map has the name of the note alone, because the map is public and the note is not.
    """

    base: str
    path: str
    note_file: str
    map_file: str
    heading: str
    section_created: bool
    dropped: tuple[str, ...]
    withheld: bool = False


def write_note(app: App, draft: NoteDraft) -> Written:
    """Write the note of `draft` into its agent's base and list it in the map, with its summary and keys unless these are private.

    Raises BadDraft, DeadKeys, Dashes, NoAgent, NoMap, NoteExists, all KbErrors; nothing is left behind then. A process that is
    killed between the two writes is finished by the next `write_note` in that base.
    """
    keys, dropped, text = compose(draft)
    base = base_called(app, draft.agent)
    folder = _folder_inside(base, draft.folder)
    map_file = map_path(base)
    rel = f"{folder}/{draft.slug}.md" if folder else f"{draft.slug}.md"
    with _held(base):
        _finish_interrupted(base, map_file)
        twin = next((stat for stat in walk_base(base, True).files if stem(stat.path) == draft.slug), None)
        note_file = os.path.join(base.root, rel)
        if os.path.lexists(note_file) or twin is not None:
            hidden = twin is not None and not app.include_private and twin.private
            raise NoteExists(f"{base.name} has a note called {draft.slug} already"
                             + (", in its private layer" if hidden else f": {twin.path if twin else rel}"),
                             hint="choose another name, so that a link can tell them apart")
        withheld = is_private(base, rel) and not is_private(base, os.path.basename(map_file))
        summary, listed = ("", []) if withheld else (draft.summary, keys)
        edit = _with_entry(map_file, folder, draft.slug, summary, listed)
        _write_both(base, note_file, text, map_file, edit[0], {"slug": draft.slug, "folder": folder, "summary": flat(summary),
                                                               "keys": list(listed)})
    return Written(base.name, rel, note_file, map_file, edit[1], edit[2], tuple(dropped), withheld)


def finish_interrupted(base: Base) -> None:
    """List the note that a killed process wrote into the base and did not list. Raises NoMap when there is no map."""
    map_file = map_path(base)
    with _held(base):
        _finish_interrupted(base, map_file)


def compose(draft: NoteDraft) -> tuple[list[str], list[str], str]:
    """(live keys, dead keys, the rendered note). Raises BadDraft, DeadKeys or Dashes, the first that applies."""
    given = [key for key in dict.fromkeys(flat(key.replace("`", " ")) for key in split_keys(", ".join(draft.keys))) if key]
    if not draft.slug.strip() or not draft.agent.strip():
        raise BadDraft(f"the name of the {'agent' if draft.slug.strip() else 'note'} is blank")
    if not is_slug(draft.slug):
        raise BadDraft(f"{draft.slug} cannot name a note", hint=SLUG_RULE)
    if is_orientation(f"{draft.slug}.md", None):
        raise BadDraft(f"{draft.slug}.md is a page that orients a person, and no question finds it", hint="choose another name")
    if not given:
        raise BadDraft("a note without keys cannot be found", hint="give --keys the words that a question would use")
    if not draft.body.strip():
        raise BadDraft("the note has no body", hint="it is read from stdin")
    if not flat(draft.summary).strip(" .*_"):
        raise BadDraft("the summary is empty", hint="say in one line what the note is for")
    if any(harmless(words) != words for words in (*given, flat(draft.summary), flat(draft.captured_from or ""))):
        raise BadDraft("a key, the summary or captured_from holds control characters")
    if "\0" in draft.body or (not draft.body.isascii() and draft.body != draft.body.encode("utf-8", "replace").decode()):
        raise BadDraft("the body holds what is no text")
    for name, value, legal in (("provenance", draft.provenance, PROVENANCES), ("stage", draft.stage, STAGES)):
        if value not in legal:
            raise BadDraft(f"{name} {value} is not legal", hint="it is one of " + ", ".join(legal))
    dead = dead_keys(given)
    live = [key for key in given if key not in dead]
    if not live:
        raise DeadKeys(f"no question reaches any of these keys: {', '.join(dead)}",
                       hint="W07: a key needs one word, or two, that are not stop words")
    try:
        text = render_note(draft, live)
    except ValueError as error:
        raise BadDraft(f"the body begins with front matter between two +++ that is no TOML: {flat(str(error))}") from None
    found = dashes(lines_of(text))
    if found:
        lines = ", ".join(str(dash.line) for dash in found)
        raise Dashes(f"the note holds a dash on line {lines}", hint="W03: write a comma, a colon or a full stop")
    return live, dead, text


def map_path(base: Base) -> str:
    """The base's map. Raises NoMap when it has none."""
    name = map_of(frozenset(os.listdir(base.root)))
    if name is None:
        raise NoMap(f"{base.name} has no map to list the note in", hint="kb init makes one; an empty MAP.md will do")
    try:
        for path in (name, os.path.join(".kb", "write"), os.path.join(".kb", "write-pending.json")):
            stay_inside(os.path.join(base.root, path), base.root)
    except OSError as error:
        raise KbError(f"cannot write {error.filename}: {error.strerror}", hint="nothing was written") from None
    return os.path.join(base.root, name)


def _folder_inside(base: Base, folder: str) -> str:
    """`folder` as a POSIX path inside the base, links resolved. Raises BadDraft when it leaves it, or is not walked."""
    if not folder.isprintable():
        raise BadDraft("the folder holds control characters")
    parts = [part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")]
    real = os.path.realpath(os.path.join(base.root, *parts))
    if ".." in parts or folder.startswith("/") or not is_inside(real, base.root):
        raise BadDraft(f"the folder {folder} is not inside {base.name}")
    if any(part != part.strip() for part in parts):
        raise BadDraft(f"the folder {folder!r} has a name that begins or ends with a blank")
    if any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
        raise BadDraft(f"the folder {folder} is never walked, and no question would find the note")
    return "/".join(parts)


def _with_entry(map_file: str, folder: str, slug: str, summary: str, keys: list[str]) -> tuple[bytes, str, bool]:
    data = read_bytes(map_file)
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        text = data[len(bom):].decode("utf-8")
    except UnicodeDecodeError:
        raise KbError(f"{map_file} is not UTF-8, so it was left alone") from None
    edit = add_entry(text, folder or ".", slug, summary, keys)
    if not edit.seen:
        place = "ends inside" if edit.created else f"holds, under {edit.heading},"
        raise KbError(f"{map_file} {place} an open fence or comment, and an entry there would not be seen", hint="close it")
    return bom + edit.text.encode("utf-8"), edit.heading, edit.created


def _write_both(base: Base, note_file: str, note: str, map_file: str, new_map: bytes, intent: dict[str, object]) -> None:
    """Both files or neither. The intent is on disk before the first of them, so that a kill in between can be finished."""
    pending = _pending(base)
    made = _missing_folders(os.path.dirname(note_file))
    try:
        write_atomic(pending, json.dumps(intent))
        write_atomic(note_file, note)
        write_atomic(map_file, new_map)
    except OSError as error:
        for path in (note_file, pending):
            _forget(path)
        for folder in reversed(made):
            try:
                os.rmdir(folder)
            except OSError:
                break
        raise KbError(f"cannot write {error.filename or map_file}: {error.strerror}", hint="nothing was kept") from None
    _forget(pending)


def _finish_interrupted(base: Base, map_file: str) -> None:
    """List the note that an earlier process wrote before it was killed."""
    pending = _pending(base)
    try:
        intent = json.loads(read_bytes(pending))
    except FileNotFoundError:
        return
    except ValueError:
        intent = None
    if _is_ours(base, intent):
        folder, slug = intent["folder"], intent["slug"]
        written = os.path.isfile(os.path.join(base.root, folder, f"{slug}.md"))
        if written and not lists(read_bytes(map_file).decode("utf-8", "replace"), slug):
            write_atomic(map_file, _with_entry(map_file, folder, slug, intent["summary"], intent["keys"])[0])
    _forget(pending)


def _is_ours(base: Base, intent: Any) -> bool:
    """Whether an intent is one that `_write_both` may have left: a clone can bring any file of that name."""
    if not (isinstance(intent, dict) and all(isinstance(intent.get(name), str) for name in ("slug", "folder", "summary"))
            and isinstance(intent.get("keys"), list) and all(isinstance(key, str) for key in intent["keys"])):
        return False
    try:
        return is_slug(intent["slug"]) and _folder_inside(base, intent["folder"]) == intent["folder"]
    except BadDraft:
        return False


@contextmanager
def _held(base: Base) -> Iterator[None]:
    """The lock of the base's writers. Raises KbError when there is no room for it, or the map cannot be read."""
    try:
        with locked(os.path.join(base.root, ".kb", "write")):
            yield
    except OSError as error:
        raise KbError(f"cannot write into {error.filename or base.root}: {error.strerror or error}",
                      hint="nothing was kept") from None


def _pending(base: Base) -> str:
    return os.path.join(base.root, ".kb", "write-pending.json")


def _missing_folders(folder: str) -> list[str]:
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing[::-1]


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # not there, or its folder is no folder: there is nothing to forget
        pass
