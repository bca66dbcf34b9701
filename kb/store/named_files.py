"""Which files of a fleet a command line names, in whatever spelling: approving the line approves their bytes.

A path counts when it leads into the fleet by any way: two slashes, a link, PATH, `~`, `$KB_FLEET_ROOT`, a word inside a
word (`sh -c '/the/fleet/tools/model.sh ask'`, `--config=/the/fleet/x`), or a relative path, whatever it is relative to.
In doubt a file counts: the cost is one question too many.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from kb.store.files import is_inside

_LONGEST = 4096  # no system opens a longer path
_DEPTH = 3  # a command inside the word of a command inside the word of a command
_HOME_OF_THE_FLEET = re.compile(r"\$(?:KB_FLEET_ROOT\b|\{KB_FLEET_ROOT\})")
_BLANKS = re.compile(r"[\s\"'`;|&<>(){}\[\]]+")
_MARKS = re.compile(r"[\s\"'`;|&<>(){}\[\],=:@+!*?#%\\]+")
# `sh -c`, `bash -lc`, `perl -e`, `env -S`: a word that is a program of its own may put any path together.
_INLINE = re.compile(r"-[A-Za-z]{0,3}[ceES]|--(?:eval|exec|command|split-string)(?:=.*)?", re.DOTALL)
_CODE = frozenset({"awk", "bash", "bat", "cjs", "cmd", "exe", "fish", "jar", "jq", "js", "lua", "mjs", "mk", "php", "pl", "ps1",
                   "py", "pyz", "r", "rb", "sed", "sh", "so", "sql", "tcl", "ts", "wasm", "zsh"})
_PROSE = frozenset({"md", "txt"})
_MAKE = frozenset({"makefile", "gnumakefile", "justfile", "rakefile", "package.json"})


def files_named(root: str, words: Sequence[str], program: str | None) -> tuple[str, ...]:
    """The files of the fleet at `root` (real path) that `words` name, as sorted POSIX paths inside it.

    `program` is what the first word starts today, absolute, or None. A folder stands for every file in it; the fleet
    itself, a folder above it, and a word of inline code stand for every program of the fleet.
    """
    found = _Found(root)
    if program is not None:
        found.path(program)
    for word in words:
        found.word(word)
    if any(_INLINE.fullmatch(word) or "$" in word or "`" in word for word in words[1:]):
        found.programs()
    return tuple(sorted(found.places))


class _Found:
    """Places gathered so far. `looked` keeps a path from being looked at twice."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.places: set[str] = set()
        self.looked: set[str] = set()
        self.folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]

    def word(self, word: str) -> None:
        """Every path that stands in a word, its parts and the words inside it."""
        expanded = os.path.expandvars(_HOME_OF_THE_FLEET.sub(lambda _: self.root, word))
        for part in {part for text in {word, expanded} for part in _parts(text)}:
            self.part(part)

    def part(self, part: str) -> None:
        if part.startswith("~"):
            self.path(os.path.expanduser(part))
        self.relative(part)
        if "/" not in part:
            for folder in self.folders:
                self.path(os.path.join(folder, part))
            return
        tail = part[-_LONGEST:]
        for at in (found.start() for found in re.finditer("/", tail)):
            if at + 1 < len(tail) or part == "/":
                self.path(tail[at:])
                self.relative(tail[at + 1:])

    def relative(self, part: str) -> None:
        """A file, not a folder: `fleet` and `tools` are words as well. What it is relative to only the program knows."""
        full = os.path.join(self.root, part)
        if os.path.isfile(full):
            self.path(full)

    def path(self, path: str) -> None:
        """What an absolute path names, as it is written and with every link resolved: `/link/..` is two places."""
        path = "/" + path.lstrip("/")
        for one in dict.fromkeys((os.path.normpath(path), os.path.realpath(path) if os.path.exists(path) else path)):
            if one not in self.looked:
                self.looked.add(one)
                self.look(one)

    def look(self, path: str) -> None:
        """A file of the fleet, or every file of a folder of it."""
        if os.path.isfile(path):
            self.file(path)
        elif os.path.isdir(path):
            real = os.path.realpath(path)
            if is_inside(self.root, real) or _same(self.root, real):
                self.programs()
            elif self.place(real) is not None or is_inside(path, self.root):
                for file in _files(path, hidden=True):
                    self.file(file)

    def file(self, path: str) -> None:
        """Under its name in the fleet, and under the name of what a link leads to; with the program that `#!` names."""
        place = self.place(os.path.realpath(path))
        new = {self.shown(path)} if is_inside(path, self.root) else set()
        new = (new | {place} if place is not None else new) - self.places
        self.places |= new
        if new:
            for word in _interpreter(path):
                self.word(word)

    def place(self, real: str) -> str | None:
        """Where a real path lies inside the fleet; by the folders' identity too, for a second mount or another case."""
        if is_inside(real, self.root):
            return self.shown(real)
        above = os.path.dirname(real)
        while above != os.path.dirname(above):
            if os.path.basename(above).casefold() == os.path.basename(self.root).casefold() and _same(above, self.root):
                return os.path.relpath(real, above).replace(os.sep, "/")
            above = os.path.dirname(above)
        return None

    def programs(self) -> None:
        """Every file of the fleet that is code by its name or its mode. Notes change daily and are none."""
        if "" in self.looked:
            return
        self.looked.add("")
        for file in _files(self.root, hidden=False):
            ending = os.path.splitext(file)[1][1:].lower()
            if (ending in _CODE or os.path.basename(file).lower() in _MAKE
                    or (ending not in ("md", "txt") and os.access(file, os.X_OK))):
                self.file(file)

    def shown(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _parts(text: str) -> Iterator[str]:
    """The text itself, the words a shell would make of it, and what stands between blanks, brackets and marks."""
    if "\0" in text:
        return
    pending = [(text, 0)]
    while pending:
        word, depth = pending.pop()
        yield word
        yield from (part for breaks in (_BLANKS, _MARKS) for piece in breaks.split(word) for part in (piece, piece.rstrip("."))
                    if part)
        if depth < _DEPTH and _MARKS.search(word):
            pending += [(inner, depth + 1) for inner in _shell_words(word) if inner != word]


def _shell_words(text: str) -> list[str]:
    import shlex

    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is never closed
        return []


def _interpreter(path: str) -> list[str]:
    """The words of a script's first line behind `#!`."""
    try:
        with open(path, "rb") as file:
            first = file.readline(_LONGEST)
    except OSError:
        return []
    return os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []


def _files(folder: str, *, hidden: bool) -> Iterator[str]:
    """What python compiled from the files of a folder is not theirs to approve, and changes with every run."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and (hidden or not name.startswith("."))]
        yield from (path for name in names if os.path.isfile(path := os.path.join(here, name)))


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
