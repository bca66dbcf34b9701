"""The session record: what an episode leaves in the tracked tree when it closes. Written once, never over another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from kb_plugins.lifecycle import clock, layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episode
from kb_plugins.lifecycle.exits import unwritable
from kb_plugins.lifecycle.git import DETACHED, UNBORN, Checkout
from kb_plugins.lifecycle.ledger import Row
from kb_plugins.lifecycle.records import is_contract
from kb_plugins.lifecycle.routes import read_generated
from kb_plugins.lifecycle.tasks import current_task
from kb_plugins.lifecycle.text import clean, clean_block
from kb_plugins.lifecycle.yaml_subset import quoted, scalar

_OWN_PATHS = (f"{layout.LOCAL}/", f"{layout.SESSIONS}/", f"{layout.CANDIDATES}/", f"{layout.CURATED}/")
_TRIES = 10
FORGED = re.compile(r"(?:schema_version|created_at|task_id|repository_id|worktree_id|branch|head|working_tree"
                    r"|changed_files):")


@dataclass(frozen=True)
class Closing:
    """What a close states besides what the ledger and git say. `recovered` leaves out what nobody can know any more."""

    outcome: str
    body: str = ""
    recovered: bool = False


def worktree_id(root: str) -> str:
    """A working tree's name that gives no path away."""
    return sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def repository_id(checkout: Checkout) -> str:
    """The remote's URL without user info; `local:<worktree_id>` without a remote, or with one that is a path."""
    url = checkout.line("config", "--get", f"remote.{checkout.remote}.url") if checkout.remote else ""
    scp = re.fullmatch(r"(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9._-]{2,}):(?P<path>(?!//)[^\s]+)", url)
    if scp:
        return f"{scp['host']}:{scp['path']}"
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme in ("http", "https", "ssh", "git", "git+ssh", "ftp", "ftps") and parts.netloc:
        return clean(f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1]}{parts.path}")
    return f"local:{worktree_id(checkout.root)}"


def compose(disk: Disk, episode: Episode, rows: Sequence[Row], closing: Closing) -> tuple[str, str]:
    """(file name without its random end, text) of an episode's record."""
    checkout, moment = disk.checkout, clock.now()
    branch = episode.fields.get("branch", DETACHED) if closing.recovered else checkout.branch
    head = episode.fields.get("start_head", UNBORN) if closing.recovered else checkout.head
    task = current_task(disk)
    dirty = [] if closing.recovered else [path for path in checkout.dirty() if not path.startswith(_OWN_PATHS)]
    start = episode.fields.get("start_head", UNBORN)
    title = f"Recovered episode {episode.id}" if closing.recovered else f"Session {episode.id} on {branch}"
    stamp = clock.instant(moment)
    lines = ["---", "schema: session/v1", "kind: session", f"created_at: {stamp}",
             f"task_id: {scalar(task.id if task else 'none')}", f"profile: {scalar(task.profile if task else 'none')}",
             f"repository_id: {scalar(repository_id(checkout))}", f"worktree_id: {worktree_id(checkout.root)}",
             f"branch: {scalar(clean(branch))}"]
    if not closing.recovered:
        lines += [f"head: {head}", f"working_tree: {'dirty' if dirty else 'clean'}"]
    generated = read_generated(disk)
    lines += _listed("changed_files", [_pathless(path, checkout) for path in dirty if not generated.holds(path)])
    lines += [f"session_id: {episode.id}", f"started_at: {scalar(episode.started_at)}", f"closed_at: {stamp}",
              f"outcome: {closing.outcome}", f"title: {quoted(title)}"]
    if episode.fields.get("worker"):
        lines.append(f"worker: {scalar(_pathless(episode.fields['worker'], checkout))}")
    lines += [f"start_head: {scalar(start)}", f"start_working_tree: {episode.fields.get('start_working_tree', 'clean')}"]
    lines += _listed("commits", [] if closing.recovered else _commits(checkout, start))
    for name, values in _said(rows).items():
        lines += _listed(name, [_pathless(value, checkout) for value in values])
    lines += ["---", "", f"# {title}", ""]
    if closing.body.strip():
        lines += [_pathless(closing.body, checkout, block=True).strip("\n"), ""]
    key = re.sub(r"[^A-Za-z0-9._-]", "-", branch)[:100]
    return f"{clock.compact(moment)}--{episode.id}--{key}--{head[:7]}", "\n".join(lines)


def publish(disk: Disk, folder: str, stem: str, text: str) -> str:
    """Write a record under a name that nobody has; its path. Raises KbError (13) when that fails."""
    for _ in range(_TRIES):
        path = f"{folder}/{stem}--{os.urandom(8).hex()}.md"
        if disk.publish(path, text, mode=0o600):
            return path
    raise unwritable(f"no free name for a session record in {folder}")


def existing(disk: Disk, episode: str) -> str | None:
    """The path of the record that an episode already has, tracked or staged."""
    for folder in (layout.SESSIONS, layout.OUTBOX_SESSIONS):
        names = disk.names(folder)
        for name in sorted(names, key=lambda name: episode not in name):
            fields = session_fields(disk.read(f"{folder}/{name}") or b"") if episode in name or "--s-" not in name else {}
            if fields.get("session_id") == episode:
                return f"{folder}/{name}"
    return None


def session_fields(data: bytes) -> dict[str, Any]:
    """The front matter of a session record, or {} when the file is none (another schema's, a contract, no front matter)."""
    if is_contract(data):
        return {}
    try:
        parts = yaml_subset.front_matter(data.decode("utf-8-sig"))
    except ValueError:
        return {}
    fields = parts[0] if parts else {}
    return fields if fields.get("schema") == "session/v1" and isinstance(fields.get("session_id"), str) else {}


def read_session_records(disk: Disk) -> list[tuple[str, dict[str, object]]]:
    """(path, front matter) of every session record, tracked and staged, in byte order of the paths."""
    found: list[tuple[str, dict[str, object]]] = []
    for folder in (layout.SESSIONS, layout.OUTBOX_SESSIONS):
        for name in disk.names(folder):
            fields = session_fields(disk.read(f"{folder}/{name}") or b"")
            if fields and fields["session_id"]:
                found.append((f"{folder}/{name}", fields))
    return found


def _commits(checkout: Checkout, start: str) -> list[str]:
    if start in (UNBORN, checkout.head):
        if start == UNBORN and checkout.head != UNBORN:
            return [name[:7] for name in checkout.run("rev-list", "--reverse", "HEAD").decode().split()]
        return []
    if not checkout.is_ancestor(start):
        return ["diverged"]
    return [name[:7] for name in checkout.commits_since(start)]


def _said(rows: Iterable[Row]) -> dict[str, list[str]]:
    """What the episode's ledger lines name, in the order of first appearance."""
    said: dict[str, list[str]] = {name: [] for name in ("tasks", "issues", "milestones", "checkpoints", "handovers",
                                                        "decisions", "questions", "evidence")}
    fields = {"task_id": "tasks", "checkpoint_path": "checkpoints", "handover_path": "handovers",
              "decision": "decisions", "question": "questions"}
    for row in rows:
        for field, name in fields.items():
            value = row.get(field)
            if isinstance(value, str) and value and value != "none" and value not in said[name]:
                said[name].append(value)
        evidence = row.get("evidence")
        for item in evidence if isinstance(evidence, list) else []:
            if isinstance(item, str):
                kind, _, value = item.partition(":")
                into = said["issues"] if kind == "issue" else said["evidence"]
                shown = value if kind == "issue" else item
                if shown not in into:
                    into.append(shown)
    return said


def _listed(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name}:", *(f"  - {scalar(value)}" for value in values)] if values else [f"{name}: []"]


def _pathless(text: str, checkout: Checkout, *, block: bool = False) -> str:
    """Text for a tracked file: no secret, and no absolute path of this checkout."""
    said = clean_block(text) if block else clean(text)
    for folder in dict.fromkeys((checkout.root, os.path.dirname(checkout.common))):
        if len(folder) > 1:
            said = said.replace(folder + "/", "").replace(folder, ".")
    return said
