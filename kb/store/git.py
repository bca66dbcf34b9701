"""git, asked with literal paths and NUL-separated answers, so that no name is ever misread."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from kb.errors import KbError

_LOCKED = re.compile(r"Unable to create '[^'\n]*\.lock': File exists")  # a hook may speak of other locks
_WAITS = (0.1, 0.2, 0.4, 0.8, 1.6, 1.6)  # seconds to wait for somebody else's index.lock
# What `git rev-parse --local-env-vars` names: inside a hook it says which repository the hook is of, and here the path says it.
# Settings given with `git -c` (GIT_CONFIG_PARAMETERS, GIT_CONFIG_COUNT) stay, as they do when git itself enters a submodule.
OF_ANOTHER_REPOSITORY = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"})
_PATHSPECS = frozenset({"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"})
_SET = {"GIT_LITERAL_PATHSPECS": "1", "KB_COMMIT": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8", "LANGUAGE": ""}
# A clone may hold a bare repository in a folder, whose configuration names programs. A call that writes begins in a repository that
# such a call found, keeps what a watcher noted in the index, and hands no setting to the hooks.
_GUARDS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=")
_WRITING = frozenset({"add", "commit", "read-tree", "update-index"})
# What git leaves in its folder while an operation waits to be finished, and what to call it.
_UNFINISHED = (("rebase-merge", "rebase"), ("rebase-apply", "rebase"), ("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"),
               ("REVERT_HEAD", "revert"))


def git_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment for a git that is asked about the repository it stands in, and reads paths as `settings` say.

    What is inherited of another repository, such as a hook's GIT_DIR, is left out, and so is how paths are to be read.
    """
    return {name: value for name, value in os.environ.items() if name not in OF_ANOTHER_REPOSITORY | _PATHSPECS} | dict(settings)


def git(folder: str, *words: str, check: bool = True, index: str | None = None, stdin: bytes = b"") -> str:
    """What git printed, run in `folder` with literal pathspecs. Waits for a lock; raises KbError with git's own words.

    With `check` off a failure is an empty string. `index` is an index file to use in place of the repository's own.
    """
    env = git_environment(_SET)
    call = ["git", "-C", folder, *(() if words[0] in _WRITING else _GUARDS), *words]
    if index is not None:  # without core.splitIndex=false a copy would leave files of its own in the repository
        env["GIT_INDEX_FILE"] = index
        call[3:3] = ["-c", "core.splitIndex=false"]
    for wait in (*_WAITS, None):
        code, out, told = _run(call, env, stdin)
        if code == 0:
            return os.fsdecode(out)
        if wait is None or not _LOCKED.search(told):
            break
        time.sleep(wait)
    if not check:
        return ""
    raise KbError(f"git {words[0]}: {told or 'it failed and said nothing'}")


def _run(call: Sequence[str], env: dict[str, str], stdin: bytes) -> tuple[int, bytes, str]:
    """The exit code of `call`, its output, and what it said on stderr."""
    from subprocess import PIPE, Popen

    try:
        process = Popen(call, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env)
    except FileNotFoundError:
        raise KbError("git is not installed") from None
    with process:
        try:
            out, told = process.communicate(stdin)
        except BaseException:  # interrupted: a git that is asked to end takes its locks away, one that is killed does not
            process.terminate()
            process.wait()
            raise
    return process.returncode, out, told.decode("utf-8", "replace").strip()


def repository_of(path: str) -> str | None:
    """The real root of the repository that holds `path`, which need not exist any more; None when there is none.

    Raises KbError with git's own words when there is one that git will not work in: another owner's, a broken one, a bare one.
    """
    folder = path if os.path.isdir(path) and not os.path.islink(path) else os.path.dirname(path)
    while not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    try:
        top = git(folder, "rev-parse", "--show-toplevel").removesuffix("\n")
    except KbError as error:
        if "not a git repository (or any" not in error.message:
            raise
        broken = _nearest_dot_git(folder)
        if broken is None:
            return None
        raise KbError(f"git does not take {broken} for a repository: it is broken, or may not be read ({error.message})") from None
    return os.path.realpath(top)


def _nearest_dot_git(folder: str) -> str | None:
    """A `.git` in `folder` or above it. git passes over one that it cannot read or that lacks what belongs in it."""
    while True:
        if os.path.lexists(found := os.path.join(folder, ".git")):
            return found
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def unfinished_operation(repository: str) -> str | None:
    """What waits to be finished in the work tree (a merge, a rebase, a cherry-pick, a revert), by git's name; None when nothing does."""
    folder = _folder_of_git(repository)
    for name, operation in _UNFINISHED:
        if os.path.lexists(os.path.join(folder, name)):
            return "am" if os.path.lexists(os.path.join(folder, name, "applying")) else operation
    return None


def unmerged_paths(repository: str, names: Sequence[str]) -> list[str]:
    """The paths under `names` whose conflict nobody has settled, each once."""
    entries = listed(git(repository, "ls-files", "--unmerged", "-z", "--", *names))
    return list(dict.fromkeys(entry.partition("\t")[2] for entry in entries))


def dirty_paths(repository: str) -> list[str]:
    """Every path with a change that is not committed, staged or not; of a rename both names.

    A folder that holds only untracked files is one path that ends in a slash: there may be a hundred thousand of them.
    """
    fields = listed(git(repository, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames"))
    return [field[3:] for field in fields]


@contextmanager
def copied_index(repository: str) -> Iterator[str]:
    """A copy of the repository's index, for `git(index=...)`: what is staged there is staged nowhere else."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="kb-commit-") as folder:
        place = os.path.join(folder, "index")
        try:
            with open(os.path.join(_folder_of_git(repository), "index"), "rb") as file:
                data, state = file.read(), os.fstat(file.fileno())
        except FileNotFoundError:
            pass  # nothing was ever staged here
        else:
            with open(place, "wb") as copy:
                copy.write(data)
            # git reads anew the files that are as young as the index: a younger copy would take them for unchanged
            os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
        yield place


@contextmanager
def announced(repository: str, names: Sequence[str], named: Sequence[str]) -> Iterator[None]:
    """The files `names`, which are untracked, are known to the index inside the block, so that a commit can name them.

    `named` are the paths on disk or in the index, folders among them, that take in all of `names`: git compares each file
    with each path that it is given, which takes long when there are ten thousand. They are known without their content
    (`add --intent-to-add`), so that nobody's commit takes them in. When the block raises, the index holds again what it
    held, and what others staged meanwhile stays.
    """
    if not names:
        yield
        return
    entries = _entries(repository)
    try:
        git(repository, "add", "--intent-to-add", "--ignore-removal", "--", *named)
        yield
    except BaseException:
        _take_back(repository, names, entries)
        raise


def _take_back(repository: str, names: Sequence[str], entries: dict[str, list[str]]) -> None:
    """Forget the announced `names` that are not staged by now; return the `entries` (old ones) they stood in the way of.

    A file cannot be in the index beside a folder of the same name: announcing one drops the other.
    """
    now = _entries(repository)
    # an announced file has the hash of an empty one, and differs from the last commit at most as a file that is gone
    empty = git(repository, "hash-object", "-t", "blob", "--stdin").strip()
    staged = set(listed(git(repository, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=d", "-z")))
    forgotten = [name for name in names if name not in entries and name not in staged and f" {empty} " in now.get(name, [""])[0]]
    if not forgotten:
        return
    taken, folders = set(forgotten), {folder for name in forgotten for folder in folders_above(name)}
    dropped = [line for name, lines in entries.items()
               if name not in now and (name in folders or not taken.isdisjoint(folders_above(name))) for line in lines]
    gone = [f"0 {'0' * len(empty)}\t{name}" for name in forgotten]
    git(repository, "update-index", "-z", "--index-info", stdin=_joined([*gone, *dropped]))


def commit_staged(repository: str, words: Sequence[str], stage: Callable[[str], object]) -> None:
    """`git commit` with the options `words`, of what `stage` does to an index that holds the last commit; what is staged stays so.

    It is what `git commit -- path` does, by hand: that one looks each path up on disk, and fails where it finds a folder, or
    takes up again what was taken out of the index alone. `stage` is called with an index file, twice: for the commit, and for
    the index as it is afterwards. The index is locked meanwhile, so nobody commits in between.
    """
    with _locked_index(repository) as write, copied_index(repository) as after, copied_index(repository) as index:
        git(repository, "read-tree", "HEAD", index=index)
        stage(index)
        stage(after)
        git(repository, "commit", *words, index=index)
        write(after)


@contextmanager
def _locked_index(repository: str) -> Iterator[Callable[[str], None]]:
    """Hold the lock of the index as git does; the value puts a file in the index's place, which frees the lock."""
    place = os.path.join(_folder_of_git(repository), "index")
    lock = place + ".lock"
    for wait in (*_WAITS, None):
        try:
            held = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
            break
        except FileExistsError:
            if wait is None:
                raise KbError(f"{lock} exists: another git is at work in the repository, or one ended without taking it away") from None
            time.sleep(wait)
        except OSError as error:
            raise KbError(f"cannot make {lock}: {error.strerror}") from None
    written = False

    def write(path: str) -> None:
        nonlocal written
        with open(path, "rb") as file, open(held, "wb", closefd=False) as out:
            out.write(file.read())
        os.chmod(lock, os.stat(place).st_mode & 0o777)  # the repository may be shared by a group
        os.replace(lock, place)
        written = True

    try:
        yield write
    finally:
        os.close(held)
        if not written:
            os.unlink(lock)


def forget(repository: str, names: Sequence[str], *, index: str) -> None:
    """Take the files `names` out of the index file `index`, whether they are in it, and on disk, or not."""
    if names:
        git(repository, "update-index", "--force-remove", "-z", "--stdin", index=index, stdin=_joined(names))


def _entries(repository: str) -> dict[str, list[str]]:
    """What the index holds, as `update-index --index-info` reads it: lines by path, more than one where it is unmerged."""
    found: dict[str, list[str]] = {}
    for line in listed(git(repository, "ls-files", "--stage", "-z")):
        found.setdefault(line.partition("\t")[2], []).append(line)
    return found


def folders_above(name: str) -> Iterator[str]:
    """The folders that `name` lies in."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _joined(items: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(item) + b"\0" for item in items)


def _folder_of_git(repository: str) -> str:
    """Where the index and the marks of this work tree lie: `.git`, or elsewhere for a linked work tree and a submodule."""
    return git(repository, "rev-parse", "--absolute-git-dir").removesuffix("\n")


def listed(text: str) -> list[str]:
    """The items of a NUL-separated answer."""
    return [item for item in text.split("\0") if item]


def relative_paths(repository: str, paths: Sequence[str]) -> list[str]:
    """Absolute paths as git names them: from the repository's root, with forward slashes."""
    return [os.path.relpath(path, repository).replace(os.sep, "/") for path in paths]
