"""git, asked with literal paths and NUL-separated answers, so that no name is ever misread."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence

from kb.errors import KbError

_LOCKED = re.compile(r"Unable to create '[^'\n]*\.lock': File exists")  # a hook may speak of other locks
_WAITS = (0.1, 0.2, 0.4, 0.8, 1.6, 1.6)  # seconds to wait for somebody else's index.lock


def git(folder: str, *words: str, check: bool = True) -> str:
    """What git printed, run in `folder` with literal pathspecs. Waits for a lock; raises KbError with git's own words.

    With `check` off a failure is an empty string.
    """
    import subprocess

    env = {**os.environ, "GIT_LITERAL_PATHSPECS": "1", "KB_COMMIT": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
    for wait in (*_WAITS, None):
        try:
            done = subprocess.run(["git", "-C", folder, *words], capture_output=True, env=env, stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise KbError("git is not installed") from None
        if done.returncode == 0:
            return os.fsdecode(done.stdout)
        told = done.stderr.decode("utf-8", "replace").strip()
        if wait is None or not _LOCKED.search(told):
            break
        time.sleep(wait)
    if not check:
        return ""
    raise KbError(f"git {words[0]}: {told or 'it failed and said nothing'}")


def repository_of(path: str) -> str | None:
    """The real root of the repository that holds `path`, which need not exist any more; None when there is none."""
    folder = path if os.path.isdir(path) and not os.path.islink(path) else os.path.dirname(path)
    while not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    top = git(folder, "rev-parse", "--show-toplevel", check=False).rstrip("\n")
    return os.path.realpath(top) if top else None


def dirty_paths(repository: str) -> list[str]:
    """Every path with a change that is not committed, staged or not; a rename counts under its new name and its old one."""
    fields = git(repository, "status", "--porcelain", "-z", "--untracked-files=normal").split("\0")
    found, at = [], 0
    while at < len(fields) - 1:
        found.append(fields[at][3:])
        if "R" in fields[at][:2] or "C" in fields[at][:2]:
            at += 1
            found.append(fields[at])
        at += 1
    return found


def listed(text: str) -> list[str]:
    """The items of a NUL-separated answer."""
    return [item for item in text.split("\0") if item]


def relative_paths(repository: str, paths: Sequence[str]) -> list[str]:
    """Absolute paths as git names them: from the repository's root, with forward slashes."""
    return [os.path.relpath(path, repository).replace(os.sep, "/") for path in paths]
