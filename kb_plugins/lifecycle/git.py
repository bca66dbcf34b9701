"""One checkout of a git repository, asked in few and batched calls. Nothing here stages, commits or changes a ref."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator, Iterable, Sequence
from functools import cached_property

from kb.api import KbError, UsageError, git_environment

DETACHED = "DETACHED"
UNBORN = "NONE"
# English messages, no refreshed index, no network: not even for an object that a partial clone left out.
_ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
                "GIT_ALLOW_PROTOCOL": "none"}
# A clone may hold a bare repository in a folder: its configuration names programs, and nobody agreed to them.
_SETTINGS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=", "-c", "core.quotePath=false", "-c", "log.showSignature=false",
             "-c", "log.mailmap=false", "-c", "log.showRoot=true")


class GitError(KbError):
    """Git refused: its own words, on one line."""


class Checkout:
    """A working tree. `root` and `common` (the shared git folder) are absolute and real."""

    def __init__(self, root: str, common: str) -> None:
        self.root = root
        self.common = common

    # -- calls -----------------------------------------------------------------------------------------------------

    def run(self, *words: str, stdin: bytes = b"") -> bytes:
        """stdout of one git command. Raises GitError when it fails."""
        code, out, err = _git(self.root, words, stdin)
        if code:
            raise GitError(f"git {words[0]}: {' '.join(err.decode('utf-8', 'replace').split())[:300] or f'exit {code}'}")
        return out

    def line(self, *words: str) -> str:
        """The one line that a git command prints, or "" when it fails or prints none."""
        code, out, _ = _git(self.root, words, b"")
        return "" if code else out.decode("utf-8", "surrogateescape").rstrip("\n")

    def stream(self, *words: str, stdin: bytes) -> Generator[bytes, None, None]:
        """NUL-separated fields of a git command as they come. Closing the generator ends the command.

        Raises GitError when the command itself fails.
        """
        with subprocess.Popen(["git", *_SETTINGS, *words], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=git_environment(_ENVIRONMENT)) as process:
            assert process.stdin is not None and process.stdout is not None
            try:
                try:
                    process.stdin.write(stdin)
                    process.stdin.close()
                except BrokenPipeError:  # it ended before it read us; its exit code says why
                    pass
                rest = b""
                while chunk := process.stdout.read1(65536):  # type: ignore[attr-defined]
                    *whole, rest = (rest + chunk).split(b"\0")
                    yield from whole
                if rest:
                    yield rest
                if process.wait():
                    raise GitError(f"git {words[0]} ended with exit {process.returncode}")
            finally:
                process.kill()

    # -- where we stand --------------------------------------------------------------------------------------------

    @cached_property
    def head(self) -> str:
        """The full name of the commit at HEAD, or NONE in a repository without a commit."""
        return self.line("rev-parse", "-q", "--verify", "HEAD^{commit}") or UNBORN

    @cached_property
    def branch(self) -> str:
        """The short name of the current branch, or DETACHED."""
        return self.line("symbolic-ref", "-q", "--short", "HEAD") or DETACHED

    def forget(self) -> None:
        """Ask again next time: something ran that may have moved HEAD."""
        for name in ("head", "branch", "tracked"):
            self.__dict__.pop(name, None)

    @cached_property
    def remote(self) -> str:
        """The remote that counts: `origin`, else the only one, else none ("")."""
        names = self.line("remote").split("\n")
        return "origin" if "origin" in names else names[0] if len(names) == 1 else ""

    @cached_property
    def trunk(self) -> str:
        """The local name of the remote's default branch, or "" when there is none."""
        if not self.remote:
            return ""
        prefix = f"refs/remotes/{self.remote}/"
        ref = self.line("symbolic-ref", "-q", f"{prefix}HEAD")
        return ref.removeprefix(prefix) if ref.startswith(prefix) else ""

    @property
    def on_trunk(self) -> bool:
        return bool(self.trunk) and self.branch == self.trunk

    # -- what git knows --------------------------------------------------------------------------------------------

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Every path of the index."""
        return frozenset(self.listed())

    def listed(self, *pathspecs: str) -> list[str]:
        """Paths of the index that match, in its order."""
        return _paths(self.run("ls-files", "-z", "--", *pathspecs))

    def untracked(self, folder: str) -> list[str]:
        """Paths under `folder` that are neither tracked nor ignored."""
        return sorted(_paths(self.run("ls-files", "-z", "--others", "--exclude-standard", "--", folder)))

    def dirty(self) -> list[str]:
        """Paths that differ from HEAD or are not tracked, in byte order."""
        fields = _paths(self.run("status", "--porcelain=v1", "-z", "-uall", "--no-renames"))
        return sorted({entry[3:] for entry in fields if len(entry) > 3})

    def is_ancestor(self, commit: str) -> bool:
        """Whether `commit` is reachable from HEAD."""
        if not re.fullmatch(r"[0-9a-f]{4,64}", commit) or self.head == UNBORN:
            return False
        return _git(self.root, ("merge-base", "--is-ancestor", commit, "HEAD"), b"")[0] == 0

    def commits_since(self, start: str) -> list[str]:
        """Full names of `start..HEAD`, oldest first."""
        return self.run("rev-list", "--reverse", f"{start}..HEAD").decode().split()

    def touched_since(self, start: str, *folders: str) -> list[tuple[str, list[str]]]:
        """(commit, paths) of each commit of `start..HEAD` that touched the folders, oldest first. Merges list nothing."""
        out = self.run("log", "--reverse", "--full-history", "--no-merges", "--no-renames", "--name-only", "-z",
                       "--format=%x01%H", f"{start}..HEAD", "--", *folders)
        found = []
        for block in out.split(b"\x01")[1:]:
            commit, *names = (part.strip(b"\n") for part in block.split(b"\0"))
            found.append((commit.decode(), [name.decode("utf-8", "surrogateescape") for name in names if name]))
        return found

    def added(self, folder: str) -> dict[str, int]:
        """For each file name under `folder`: when the oldest commit that added it was made (seconds since 1970)."""
        if self.head == UNBORN:
            return {}
        out = self.run("log", "--no-renames", "--diff-filter=A", "--name-only", "-z", "--format=%x01%ct", "HEAD", "--",
                       folder)
        times: dict[str, int] = {}
        for block in out.split(b"\x01")[1:]:
            when, *names = (part.strip(b"\n") for part in block.split(b"\0"))
            for name in names:
                if name:  # newest first: the oldest stays
                    times[os.path.basename(name.decode("utf-8", "surrogateescape"))] = int(when)
        return times

    def objects(self, names: Sequence[str]) -> dict[str, str]:
        """The full name of each object name that git can resolve. One process for all."""
        asked = [name for name in dict.fromkeys(names) if name and "\n" not in name and "\0" not in name]
        if not asked:
            return {}
        data = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
        try:
            lines = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=data).split(b"\n")
        except GitError:
            if not self.line("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"):
                raise
            # A partial clone knows the name of a blob that it does not have, and nobody is asked for it.
            each = {name: self.line("rev-parse", "-q", "--verify", "--end-of-options", name) for name in asked}
            return {name: full for name, full in each.items() if full}
        result = {}
        for name, line in zip(asked, lines, strict=False):
            found = re.fullmatch(rb"([0-9a-f]{40,64}) (?:commit|tree|blob|tag)", line)
            if found:
                result[name] = found[1].decode()
        return result

    def commits(self, names: Iterable[str]) -> dict[str, str]:
        """The full name of the commit behind each of `names` that has one."""
        found = self.objects([f"{name}^{{commit}}" for name in names if name and not name.startswith("-")])
        return {name.removesuffix("^{commit}"): full for name, full in found.items()}


def open_checkout(path: str | os.PathLike[str] = ".") -> Checkout:
    """The working tree that `path` lies in. Raises UsageError outside one."""
    where = os.path.realpath(path)
    while not os.path.isdir(where):
        where = os.path.dirname(where)
    code, out, err = _git(where, ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"), b"")
    lines = out.decode("utf-8", "surrogateescape").split("\n")
    if code or len(lines) < 2:
        said = " ".join(err.decode("utf-8", "replace").split())
        if not said or "not a git repository" in said:
            said = "this is not inside a git repository"
        raise UsageError(said, hint="stand inside a working tree, or make one with git init")
    return Checkout(os.path.realpath(lines[0]), os.path.realpath(lines[1]))


def _git(folder: str, words: Sequence[str], stdin: bytes) -> tuple[int, bytes, bytes]:
    try:
        done = subprocess.run(["git", *_SETTINGS, *words], cwd=folder, input=stdin, capture_output=True, check=False,
                              env=git_environment(_ENVIRONMENT))
    except FileNotFoundError:
        raise UsageError("git is not installed", hint="the lifecycle keeps its records in a git repository") from None
    return done.returncode, done.stdout, done.stderr


def _paths(data: bytes) -> list[str]:
    return [part.decode("utf-8", "surrogateescape") for part in data.split(b"\0") if part]
