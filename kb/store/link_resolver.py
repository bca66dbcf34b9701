"""Which files of a base a wikilink may mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from unicodedata import normalize

from kb.core.shelves import SKIPPED_FOLDERS
from kb.core.values import stem


class LinkResolver:
    """Resolves the targets of wikilinks in the base at `root`, whose markdown files are `paths` (POSIX, inside the base).

    `twins` are further names of them, by links: (path of the link, path of the file).
    A target names a file: a note by its stem, any other file by its name. `as_vault`: links may carry a path or `.md`, case
    aside, as Obsidian and Foam resolve them. Names are compared in NFC, because file systems and keyboards differ there.
    """

    def __init__(self, root: str, paths: Sequence[str], twins: Sequence[tuple[str, str]], as_vault: bool) -> None:
        self._root = root
        self._paths = paths
        self._twins = twins
        self._as_vault = as_vault
        self._resolved: dict[str, Sequence[str]] = {}

    def resolve(self, target: str) -> Sequence[str]:
        """Paths of the files that `target` may mean; empty when it leads nowhere."""
        found = self._resolved.get(target)
        if found is None:
            found = self._resolved[target] = self._resolve(target)
        return found

    def _resolve(self, target: str) -> Sequence[str]:
        found = self._by_stem.get(target if target.isascii() else _composed(target))
        if found is None and "." in target.rpartition("/")[2] and not target.lower().endswith(".md"):
            found = self._attached(target)
        if found is None and self._as_vault:
            found = self._as_in_a_vault(target)
            if not found:
                found = self._set_aside(target)
        return found or ()

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths:
            name = stem(path)
            found.setdefault(name if name.isascii() else _composed(name), []).append(path)
        for link, path in self._twins:
            meant = found.setdefault(_composed(stem(link)), [])
            if path not in meant:
                meant.append(path)
        return found

    def _attached(self, target: str) -> list[str] | None:
        """Files of that name, those at that path before others: the whole path first, then its end."""
        target = self._key(target.removeprefix("./").removeprefix("/"))
        found = self._attachments.get(target.rpartition("/")[2])
        if found is None or len(found) == 1:
            return found
        keys = {path: self._key(path) for path in found}
        return ([path for path in found if keys[path] == target] or [path for path in found if keys[path].endswith(f"/{target}")]
                or found)

    @cached_property
    def _attachments(self) -> dict[str, list[str]]:
        """Files that are not markdown, by name: what an embed of an image or a document may mean."""
        found: dict[str, list[str]] = {}
        for folder, folders, files in os.walk(self._root):
            folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
            for name in files:
                if not name.lower().endswith(".md"):
                    found.setdefault(self._key(name), []).append(os.path.relpath(os.path.join(folder, name), self._root))
        return found

    def _set_aside(self, target: str) -> list[str]:
        """The file that a link of a vault means in a build folder: kb does not read these, but Obsidian opens them. One is enough."""
        wanted = self._key(target.replace("\\", "/")).removesuffix(".md").strip("/")
        found = self._aside.get(wanted.rpartition("/")[2], ())
        return [path for path in found if f"/{self._key(path).removesuffix('.md')}".endswith(f"/{wanted}")][:1]

    @cached_property
    def _aside(self) -> dict[str, list[str]]:
        """The files in folders that are called as build folders are, by name without `.md`."""
        found: dict[str, list[str]] = {}
        for top in [os.path.join(folder, name) for folder, folders, _ in os.walk(self._root) for name in folders
                    if name in SKIPPED_FOLDERS]:
            for folder, _, files in os.walk(top):
                for name in files:
                    found.setdefault(self._key(name).removesuffix(".md"), []).append(
                        os.path.relpath(os.path.join(folder, name), self._root))
        return found

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        """Every ending of every path, without `.md`."""
        found: dict[str, list[str]] = {}
        for path in self._paths:
            parts = self._key(path[:-3]).split("/")
            for start in range(len(parts)):
                found.setdefault("/".join(parts[start:]), []).append(path)
        return found

    def _as_in_a_vault(self, target: str) -> list[str] | None:
        wanted = self._key(target.replace("\\", "/")).removesuffix(".md")
        tail = "/".join(part for part in wanted.split("/") if part not in ("", ".", ".."))
        whole = [path for path in self._by_tail.get(tail, ()) if self._key(path[:-3]) == tail]
        return whole or self._by_tail.get(tail) or self._by_tail.get(f"{tail}/index") or self._by_tail.get(f"{tail}/readme")

    def _key(self, text: str) -> str:
        return _composed(text).lower() if self._as_vault else _composed(text)


def _composed(text: str) -> str:
    return normalize("NFC", text)
