"""`kb commit`: exactly the paths named, and what was left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kb.errors import KbError
from kb.store.ending import ending_unwinds
from kb.store.git import (
    announced,
    commit_staged,
    copied_index,
    dirty_paths,
    folders_above,
    forget,
    git,
    listed,
    relative_paths,
    repository_of,
    unfinished_operation,
    unmerged_paths,
)

_PLAIN = ("--no-renames", "--ignore-submodules=none", "-z")  # how differences are asked for, whatever the user's settings are


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that landed: its short hash, the files in it, and what was dirty before and still is."""

    sha: str
    files: tuple[str, ...]
    left: tuple[str, ...]


def commit(paths: Sequence[str], message: str) -> Committed:
    """Commit `paths` (as typed, from the current folder) and nothing else. There is no way to say everything.

    Raises KbError when there is nothing to commit, when the message is blank, when a path is in no repository or when they
    are in two, while a merge or the like is unfinished, and when git or a hook refuses. Then what was staged is as it was.
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
    _refuse_unfinished(repository, named)
    for path, name in zip(paths, named, strict=True):
        if not _known(repository, name):
            raise KbError(f"there is no {path}: it is not on disk, and git does not know it")
    with ending_unwinds():
        _commit(repository, named, message)
    sha = git(repository, "rev-parse", "--short", "HEAD").strip()
    files = listed(git(repository, "diff-tree", "--root", "--no-commit-id", "-r", "--name-only", *_PLAIN, sha))
    replaced = {folder for file in files for folder in folders_above(file)}  # a file whose place a folder takes goes with that
    absorbed = [file for file in files if file not in replaced and not any(_under(file, name) for name in named)]
    if absorbed:
        raise KbError(f"{sha} landed, and it also holds {', '.join(absorbed)}, which nobody asked for",
                      hint="a hook of the repository may have added it; git show names all of it")
    return Committed(sha, tuple(files), _still_dirty(before, dirty_paths(repository)))


def _commit(repository: str, named: Sequence[str], message: str) -> None:
    changes = _changes(repository, named)
    # a `strip` of the user's settings would take the headings out of a message, and `verbose` what follows a scissors line
    words = ("-q", "--cleanup=whitespace", "--no-verbose", "-m", message)
    if changes.apart:
        commit_staged(repository, words, lambda index: _stage(repository, changes.stageable, changes.removed, index))
    else:
        with announced(repository, changes.new, changes.stageable):
            git(repository, "commit", *words, "--", *named)


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


def _refuse_unfinished(repository: str, named: Sequence[str]) -> None:
    """git refuses some of these only when it is late, and commits the markers of a conflict in others."""
    operation = unfinished_operation(repository)
    if operation is not None:
        article = "an" if operation[0] in "aeiou" else "a"
        raise KbError(f"{article} {operation} is unfinished in {repository}",
                      hint=f"finish it with git {operation} --continue or give it up with git {operation} --abort, then commit")
    unmerged = unmerged_paths(repository, named)
    if unmerged:
        raise KbError(f"there is an unsettled conflict in {', '.join(unmerged)}", hint="settle it, say so with git add, then commit")


class _Changes(NamedTuple):
    """What a commit of some paths is made of.

    stageable: the paths whose content on disk counts, deletions included, and that git can stage.
    removed:   files that the last commit has and the index has not, and that go, although some are on disk: `git rm --cached`.
    new:       the untracked files that come in.
    apart:     whether `git commit -- path` cannot make the commit: it would bring back what is removed and on disk, and it fails where
               a folder took the place of a file.
    """

    stageable: list[str]
    removed: list[str]
    new: list[str]
    apart: bool


def _changes(repository: str, named: Sequence[str]) -> _Changes:
    """What would be committed of `named`. It is staged in a copy of the index to find out.

    What was taken out of the index and kept on disk goes when it is named, or git ignores it; of a folder that is named and has
    other files in the index, the rest is taken up again. Raises KbError when git will not stage a path (an ignored one, say), and
    when nothing differs from the last commit.
    """
    files = ("ls-files", "-z", "--", *named)
    known = set(listed(git(repository, *files)))
    gone = [name for name in listed(git(repository, "diff", "--cached", "--name-only", "--diff-filter=D", *_PLAIN, "--", *named))
            if name not in known]  # announced by a person, a file is in the index and counts as missing
    kept = [name for name in gone if _is_as_committed(os.path.join(repository, name))]
    dropped = [name for name in named if name in kept or (
        name != "." and any(_under(file, name) for file in kept) and not any(_under(file, name) for file in known))] if kept else []
    stageable = [name for name in named if name not in dropped and _on_disk_or_in_index(repository, name)]  # not: a staged deletion
    with copied_index(repository) as index:
        _stage(repository, stageable, [file for file in kept if any(_under(file, name) for name in dropped)], index)
        changed = listed(git(repository, "diff", "--cached", "--name-only", *_PLAIN, "--", *named, index=index))
        staged = listed(git(repository, *files, index=index))
    if not changed:
        raise KbError(f"nothing has changed in {', '.join(named)}",
                      hint=f"taken out of the index, and on disk: {', '.join(kept)}; name it to commit that it goes" if kept else None)
    removed = set(gone).difference(staged)
    every = set(changed)
    apart = not removed.isdisjoint(kept) or any(folder in every for name in changed for folder in folders_above(name))
    return _Changes(stageable, sorted(removed), [file for file in staged if file not in known], apart)


def _is_as_committed(place: str) -> bool:
    """Whether a file, a link or a repository of its own is there, and no folder that took the place of one."""
    return os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place) or os.path.lexists(os.path.join(place, ".git")))


def _stage(repository: str, stageable: Sequence[str], removed: Sequence[str], index: str) -> None:
    """Bring the index file `index` up to what is on disk under `stageable`, and take the files `removed` out of it."""
    if stageable:
        git(repository, "add", "--all", "--", *stageable, index=index)
    forget(repository, removed, index=index)


def _known(repository: str, name: str) -> bool:
    return _on_disk_or_in_index(repository, name) or bool(
        git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", name, check=False))


def _on_disk_or_in_index(repository: str, name: str) -> bool:
    return os.path.lexists(os.path.join(repository, name)) or bool(git(repository, "ls-files", "-z", "--", name, check=False))


def _still_dirty(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The paths of `after` that were dirty before. A folder of untracked files (`d/`) may have come apart, or together."""
    folders = tuple(path for path in before if path.endswith("/"))
    was = set(before)
    return tuple(path for path in after if path in was or path.startswith(folders)
                 or (path.endswith("/") and any(old.startswith(path) for old in before)))


def _under(file: str, name: str) -> bool:
    return name == "." or file == name or file.startswith(name.rstrip("/") + "/")
