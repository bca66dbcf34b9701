"""Typed references (`kind:value`) and what they resolve to: in the tree, in git's history, in the ledger, or nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kb_plugins.lifecycle import layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.git import UNBORN, Checkout
from kb_plugins.lifecycle.ledger import Ledger

TYPED = re.compile(r"[a-z]+:.+")
_PIN = re.compile(r"(?P<path>.+)@(?P<commit>[0-9a-f]{7,40})")
_ID_LINE = re.compile(r"""^id:[ ]+["']?([^\s"'#]+)""", re.MULTILINE)


@dataclass(frozen=True)
class Resolution:
    """What a reference resolves to. `how` is `object`, `external`, `historical` or `missing`; a missing one has a reason."""

    how: str
    target: str = ""
    reason: str = ""

    @property
    def missing(self) -> bool:
        return self.how == "missing"


class References:
    """Resolves many references of one checkout in a handful of git calls."""

    def __init__(self, disk: Disk, ledger: Ledger) -> None:
        self.disk = disk
        self.ledger = ledger
        self._declarations: dict[str, dict[str, str]] = {}

    def resolve(self, references: Iterable[str]) -> dict[str, Resolution]:
        """The resolution of each reference."""
        asked = list(dict.fromkeys(references))
        found: dict[str, Resolution] = {}
        files: dict[str, str] = {}
        commits = self.disk.checkout.commits(item[7:] for item in asked if item.startswith("commit:"))
        for reference in asked:
            kind, colon, value = reference.partition(":")
            if not TYPED.fullmatch(reference):
                found[reference] = _missing("it is no typed reference (kind:value)" if not colon or not value else
                                            "its kind is not in lower case")
            elif value == "none":
                found[reference] = _missing("`none` is not an identity")
            elif kind in ("file", "test"):
                files[reference] = value
            elif kind == "commit":
                found[reference] = (Resolution("external", "git") if value in commits
                                    else _missing("git knows no such commit here"))
            else:
                found[reference] = self._other(kind, value)
        found.update(self._files(files))
        return found

    # -- kinds that the repository's own records answer -----------------------------------------------------------

    def _other(self, kind: str, value: str) -> Resolution:
        if kind == "session":
            return self._session(value)
        if kind in ("task", "decision"):
            return self._task(value)
        if kind == "knowledge":
            for folder in (layout.CURATED, layout.CANDIDATES):
                if re.fullmatch(r"[a-z][a-z0-9-]*", value) and self.disk.exists(f"{folder}/{value}.md"):
                    return Resolution("object", f"majordomus://knowledge/{value}")
            return _missing("no record has this id")
        if kind in ("rule", "adr", "issue"):
            paths = self._declared(kind)
            return Resolution("object", f"majordomus://{kind}/{value}") if value in paths else _missing(f"no {kind} has this id")
        return _missing(f"nothing is known of the kind {kind}")

    def _session(self, value: str) -> Resolution:
        path = self._sessions.get(value)
        if path:
            return Resolution("object", f"majordomus://session/{value}")
        if value in self._witnesses[0]:
            return Resolution("external", "ledger")
        from kb_plugins.lifecycle.episodes import Episodes

        if any(episode.id == value for episode in Episodes(self.disk).all()):
            return Resolution("external", "open episode")
        return _missing("no ledger line, session record or open episode names it")

    def _task(self, value: str) -> Resolution:
        if value in self._witnesses[1]:
            return Resolution("external", "ledger")
        if re.fullmatch(r"[A-Za-z0-9._-]+", value) and self.disk.exists(f"{layout.COMPLETED}/{value}.md"):
            return Resolution("external", "task store")
        from kb_plugins.lifecycle.tasks import current_task

        task = current_task(self.disk)
        if task and task.id == value:
            return Resolution("external", "task store")
        if value in self._session_tasks:
            return Resolution("object", f"majordomus://session/{self._session_tasks[value]}")
        return _missing("no ledger line, task or tracked session record names it")

    @cached_property
    def _witnesses(self) -> tuple[set[str], set[str]]:
        """(episodes, tasks) that some ledger line names."""
        episodes: set[str] = set()
        tasks: set[str] = set()
        for row in self.ledger.rows:
            for name, into in (("session", episodes), ("session_id", episodes), ("task_id", tasks)):
                value = row.get(name)
                if isinstance(value, str):
                    into.add(value)
        return episodes, tasks

    @cached_property
    def _session_records(self) -> list[tuple[str, dict[str, object]]]:
        from kb_plugins.lifecycle.session_records import read_session_records

        return read_session_records(self.disk)

    @cached_property
    def _sessions(self) -> dict[str, str]:
        return {str(fields.get("session_id", "")): path for path, fields in self._session_records}

    @cached_property
    def _session_tasks(self) -> dict[str, str]:
        """Each task that a session record names, with the session."""
        named: dict[str, str] = {}
        for _, fields in self._session_records:
            tasks = fields.get("tasks", [])
            for task in [fields.get("task_id"), *(tasks if isinstance(tasks, list) else [])]:
                if isinstance(task, str):
                    named.setdefault(task, str(fields.get("session_id", "")))
        return named

    def _declared(self, kind: str) -> dict[str, str]:
        """Id -> path of the rules, decision records or issues that the tree holds."""
        cache = self._declarations
        if kind not in cache:
            folder, suffixes = {"rule": (layout.RULES, (".md",)), "adr": (layout.DECISION_RECORDS, (".md",)),
                                "issue": (layout.PROJECT, (".yaml", ".yml"))}[kind]
            cache[kind] = {}
            for top, _, names in os.walk(os.path.join(self.disk.root, folder)):
                for name in sorted(names):
                    if name.endswith(suffixes):
                        path = os.path.relpath(os.path.join(top, name), self.disk.root)
                        text = (self.disk.read_if_readable(path) or b"").decode("utf-8-sig", "replace")
                        parts = yaml_subset.split_front(text) if name.endswith(".md") else (text, "")
                        found = _ID_LINE.search(parts[0]) if parts else None
                        if found:
                            cache[kind].setdefault(found[1], path)
        return cache[kind]

    # -- files, today and before -----------------------------------------------------------------------------------

    def _files(self, files: dict[str, str]) -> dict[str, Resolution]:
        """Resolve `file:` and `test:` values: a pin decides, else the tree, else the newest commit that held the path."""
        checkout = self.disk.checkout
        found: dict[str, Resolution] = {}
        pins: dict[str, tuple[str, str]] = {}
        absent: dict[str, str] = {}
        for reference, value in files.items():
            path = value.rstrip("/")
            if not path or path.startswith("/") or ".." in path.split("/"):
                found[reference] = _missing("the path must lie inside the repository")
            elif self.disk.exists(path):
                found[reference] = Resolution("object", path)
            elif pin := _PIN.fullmatch(path):
                pins[reference] = pin["path"], pin["commit"]
            else:
                absent[reference] = path
        commits = checkout.commits(commit for _, commit in pins.values())
        held = checkout.objects([f"{commits[commit]}:{path}" for path, commit in pins.values() if commit in commits])
        for reference, (path, commit) in pins.items():
            name = f"{commits[commit]}:{path}" if commit in commits else ""
            if name in held:
                found[reference] = Resolution("historical", name)
            elif name:
                found[reference] = _missing("that commit did not hold the path")
            else:
                absent[reference] = f"{path}@{commit}"
        before = newest_holders(checkout, set(absent.values()))
        for reference, path in absent.items():
            found[reference] = (Resolution("historical", before[path]) if path in before
                                else _missing("neither the tree nor the history of HEAD holds the path"))
        return found


def newest_holders(checkout: Checkout, paths: set[str]) -> dict[str, str]:
    """`<commit>:<path>` for each path that some commit reachable from HEAD held: the newest that touched it and holds it.

    Where the newest commit deleted the path, its parent answers. One `git log` for all paths, ended when all are found.
    """
    if not paths or checkout.head == UNBORN:
        return {}
    stdin = "HEAD\n--\n" + "".join(f"{path}\n" for path in sorted(paths))
    pending = set(paths)
    touched: dict[str, list[str]] = {}
    commits: list[str] = []
    fields = checkout.stream("--literal-pathspecs", "log", "--full-history", "--root", "--no-renames", "--name-only", "-z",
                             "--format=%x01%H %P", "--stdin", stdin=stdin.encode("utf-8", "surrogateescape"))
    for part in fields:
        if part.startswith(b"\x01"):
            commits = part[1:].decode().split()
            continue
        name = part.strip(b"\n").decode("utf-8", "surrogateescape")
        if name.startswith("\x01"):
            commits = name[1:].split()
            continue
        for path in [path for path in pending if name == path or name.startswith(path + "/")]:
            touched[path] = commits
            pending.discard(path)
        if not pending:
            fields.close()
            break
    asked = [f"{commit}:{path}" for path, names in touched.items() for commit in names]
    held = checkout.objects(asked)
    return {path: next(f"{commit}:{path}" for commit in names if f"{commit}:{path}" in held)
            for path, names in touched.items() if any(f"{commit}:{path}" in held for commit in names)}


def tracked_or_pinned(checkout: Checkout, references: Iterable[str]) -> frozenset[str]:
    """Those of an observation's evidence references that resolve right now: a commit, or a tracked file or test."""
    asked = set(references)
    commits = checkout.commits(item[7:] for item in asked if item.startswith("commit:"))
    good = {item for item in asked if item.startswith("commit:") and item[7:] in commits}
    files = {item: item[5:] for item in asked if item.startswith(("file:", "test:"))}
    good |= {item for item, path in files.items() if path in checkout.tracked}
    pins = {item: pin for item, path in files.items() if item not in good and (pin := _PIN.fullmatch(path))}
    held = checkout.objects([f"{pin['commit']}:{pin['path']}" for pin in pins.values()])
    return frozenset(good | {item for item, pin in pins.items() if f"{pin['commit']}:{pin['path']}" in held})


def _missing(reason: str) -> Resolution:
    return Resolution("missing", reason=reason)
