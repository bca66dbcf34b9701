"""`kb commit`: exactly the paths named, and what was left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from kb.errors import KbError
from kb.store.git import dirty_paths, git, listed, relative_paths, repository_of


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that landed: its short hash, the files in it, and what was dirty before and still is."""

    sha: str
    files: tuple[str, ...]
    left: tuple[str, ...]


def commit(paths: Sequence[str], message: str) -> Committed:
    """Commit `paths` (as typed, from the current folder) and nothing else. There is no way to say everything.

    Raises KbError when there is nothing to commit, when the message is blank, when a path is in no repository or when they
    are in two.
    """
    if not paths:
        raise KbError("name the paths to commit")
    if not all(path.strip() for path in paths):  # an empty name would stand for the whole current folder
        raise KbError("one of the paths is blank")
    if not message.strip():
        raise KbError("the message is blank", hint="say with -m what changed for a reader")
    absolute = [_real_but_last(path) for path in paths]
    repository = _one_repository(paths, absolute)
    named = relative_paths(repository, absolute)
    before = dirty_paths(repository)
    if not before:
        raise KbError(f"nothing in {repository} has changed")
    present = [name for name in named if _known(repository, name)]
    missing = [name for name in named if name not in present]
    if missing:
        raise KbError(f"there is no {missing[0]} to commit, and git knows of none")
    stageable = [name for name in named if _on_disk_or_in_index(repository, name)]  # not: a deletion that is staged already
    if stageable:
        git(repository, "add", "--all", "--", *stageable)
    staged = listed(git(repository, "diff", "--cached", "--name-only", "--no-renames", "-z", "--", *named))
    if not staged:
        raise KbError(f"nothing has changed in {', '.join(named)}")
    git(repository, "commit", "-q", "-m", message, "--", *named)
    sha = git(repository, "rev-parse", "--short", "HEAD").strip()
    files = listed(git(repository, "show", "--pretty=", "--name-only", "--no-renames", "-z", "HEAD"))
    absorbed = [file for file in files if not any(_under(file, name) for name in named)]
    if absorbed:
        raise KbError(f"{sha} landed, and it also holds {', '.join(absorbed)}, which nobody asked for",
                      hint="a hook of the repository may have added it; git show names all of it")
    after = set(dirty_paths(repository))
    return Committed(sha, tuple(files), tuple(dict.fromkeys(path for path in before if path in after)))


def _real_but_last(path: str) -> str:
    """The absolute path with links resolved in every part but the last: a link itself can be committed."""
    whole = os.path.abspath(path)
    return os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))


def _one_repository(paths: Sequence[str], absolute: Sequence[str]) -> str:
    found: dict[str, str] = {}
    for path, place in zip(paths, absolute, strict=True):
        repository = repository_of(place)
        if repository is None:
            raise KbError(f"{path} is in no git repository")
        found.setdefault(repository, path)
    if len(found) > 1:
        raise KbError("these paths are in different repositories: " + " and ".join(sorted(found)), hint="commit to one at a time")
    return next(iter(found))


def _known(repository: str, name: str) -> bool:
    return _on_disk_or_in_index(repository, name) or bool(
        git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", name, check=False))


def _on_disk_or_in_index(repository: str, name: str) -> bool:
    return os.path.lexists(os.path.join(repository, name)) or bool(git(repository, "ls-files", "-z", "--", name, check=False))


def _under(file: str, name: str) -> bool:
    return name == "." or file == name or file.startswith(name.rstrip("/") + "/")
