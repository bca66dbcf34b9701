"""Which files of a fleet a command line names, in whatever spelling: approving the line approves their bytes.

A path counts when it leads into the fleet by any way: two slashes, a link, PATH, `~`, `$KB_FLEET_ROOT`, a word inside a
word (`sh -c '/the/fleet/tools/model.sh ask'`, `--config=/the/fleet/x`), or a relative path, whatever it is relative to.
In doubt a file counts: the cost is one question too many. A line whose files cannot be told exactly stands for every
program of the fleet, and a program is every file that is no note and no document: there is no list of endings of code,
because `include`, `require`, `source` and `script-shell=` take a file of any name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from kb.store.files import is_inside

_LONGEST = 4096  # no system opens a longer path
_DEPTH = 3  # a command inside the word of a command inside the word of a command
_HOME_OF_THE_FLEET = re.compile(r"\$(?:KB_FLEET_ROOT\b|\{KB_FLEET_ROOT\})")
_BLANKS = re.compile(r"[\s\"'`;|&<>(){}\[\]]+")
_MARKS = re.compile(r"[\s\"'`;|&<>(){}\[\],=:@+!*?#%\\]+")
# `sh -c`, `bash -lc`, `perl -e`, `env -S`: a word that is a program of its own may put any path together.
_INLINE = re.compile(r"-[A-Za-z]{0,3}[ceES]|--(?:eval|exec|command|split-string)(?:=.*)?", re.DOTALL)
# What people and kb write in a fleet all day. None of it is a program, unless a program that counts runs it by name.
_NO_PROGRAM = frozenset({
    "adoc", "avif", "base", "bib", "bmp", "canvas", "csv", "db", "doc", "docx", "eml", "epub", "flac", "gguf", "gif", "heic", "htm",
    "html", "ics", "jpeg", "jpg", "log", "m4a", "m4v", "markdown", "md", "mkv", "mov", "mp3", "mp4", "mpeg", "odp", "ods", "odt",
    "ogg", "opus", "org", "parquet", "pdf", "png", "ppt", "pptx", "rst", "rtf", "safetensors", "sqlite", "sqlite3", "svg", "tex",
    "tif", "tiff", "tsv", "txt", "vtt", "wav", "webm", "webp", "xls", "xlsx",
})
_PYTHON = frozenset({"pypy", "python"})
# What runs a file that it is given. With a switch of its own in front of that file it may run anything.
_INTERPRETERS = _PYTHON | frozenset({
    "ash", "awk", "bash", "bun", "clisp", "clj", "clojure", "csh", "dash", "deno", "dotnet", "elixir", "elvish", "emacs", "erl",
    "escript", "expect", "fish", "gawk", "gdb", "gforth", "ghci", "gjs", "groovy", "guile", "hhvm", "iex", "ipython", "irb",
    "janet", "java", "jjs", "jruby", "jshell", "julia", "jython", "kotlin", "kotlinc", "ksh", "lldb", "lua", "luajit", "mawk",
    "micropython", "mksh", "mono", "nawk", "node", "nodejs", "nu", "nvim", "ocaml", "octave", "osascript", "perl", "php", "posh",
    "powershell", "pwsh", "qjs", "quickjs", "r", "racket", "raku", "rscript", "ruby", "runghc", "runhaskell", "sbcl", "scala",
    "sed", "sh", "swift", "swipl", "tclsh", "tcsh", "texlua", "ts-node", "tsx", "vim", "wasmer", "wasmtime", "wine", "wish",
    "xonsh", "yash", "zsh",
})
# What takes orders from files that no word names (a makefile, package.json, .npmrc), or takes away the variables of `run_command`.
_STARTERS = frozenset({
    "ant", "bazel", "bmake", "bundle", "bwrap", "cargo", "chroot", "cmake", "composer", "corepack", "direnv", "distrobox", "doas",
    "docker", "doit", "dotenv", "firejail", "flatpak", "gmake", "go", "gradle", "gradlew", "hatch", "inv", "invoke", "just",
    "machinectl", "mage", "make", "mix", "mvn", "mvnw", "ninja", "nix", "nix-shell", "nox", "npm", "npx", "nsenter", "pdm", "pip",
    "pipenv", "pipx", "pnpm", "pnpx", "podman", "poetry", "rake", "runuser", "rush", "sbt", "scons", "setpriv", "ssh", "stack",
    "su", "sudo", "systemd-run", "task", "toolbox", "tox", "turbo", "uv", "uvx", "yarn",
})
_VERSION = re.compile(r"[-.\d]+$")


def files_named(root: str, words: Sequence[str], program: str | None) -> tuple[str, ...]:
    """The files of the fleet at `root` (real path) that `words` name, as sorted POSIX paths inside it.

    `program` is what the first word starts today, absolute, or None. A folder stands for every file in it. The fleet
    itself, a folder above it, a word of inline code, a path inside the fleet that names nothing, an interpreter that is
    not simply given a file, and a build tool or `env` with anything of the fleet stand for every program of the fleet.
    """
    found = _Found(root)
    if program is not None:
        found.path(program)
    for word in words:
        found.word(word)
    if any(_INLINE.fullmatch(word) or "$" in word or "`" in word for word in words[1:]) or found.is_loose(words):
        found.programs()
    return tuple(sorted(found.places))


class _Found:
    """Places gathered so far. `looked` and `absent` keep a path from being looked at twice; `all`: every program is among them."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.places: set[str] = set()
        self.looked: set[str] = set()
        self.absent: set[str] = set()
        self.all = False
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
                self.missing(tail[at:])
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

    def missing(self, path: str) -> None:
        """A path inside the fleet that names nothing: `node /the/fleet/tools/model` runs model.js, and who knows what else."""
        path = os.path.normpath("/" + path.lstrip("/"))
        top = "/" + path[1:].partition("/")[0]
        if path in self.absent or not os.path.lexists(top) or os.path.exists(path):
            return
        self.absent.add(path)
        if self.place(os.path.realpath(path)) is not None:
            self.beside(path)
            self.programs()

    def beside(self, path: str) -> None:
        """The programs that are called like `path` with an ending. Node takes model.js before the folder model."""
        folder, name = os.path.split(path)
        try:
            names = os.listdir(folder)
        except OSError:
            return
        for one in names:
            if one.startswith(name + ".") and _is_program(one) and os.path.isfile(full := os.path.join(folder, one)):
                self.file(full)

    def look(self, path: str) -> None:
        """A file of the fleet, or every file of a folder of it."""
        if os.path.isfile(path):
            self.file(path)
        elif os.path.isdir(path):
            real = os.path.realpath(path)
            if is_inside(self.root, real) or _same(self.root, real):
                self.programs()
            elif self.place(real) is not None or is_inside(path, self.root):
                self.beside(path)
                # What python compiled is no file of its folder: `run_command` keeps python from reading and writing it.
                for file in self.files(path, lambda name: name != "__pycache__"):
                    self.file(file)

    def file(self, path: str) -> None:
        """Under its name in the fleet, and under the name of what a link leads to; with the program that `#!` names."""
        place = self.place(os.path.realpath(path))
        new = {self.shown(path)} if is_inside(path, self.root) else set()
        new = (new | {place} if place is not None else new) - self.places
        self.places |= new
        if new:
            first = _interpreter(path)
            for word in first:
                self.word(word)
            if self.is_loose([*(word for at, word in enumerate(first) if (at, word) != (1, "-S")), path]):
                self.programs()

    def is_loose(self, words: Sequence[str]) -> bool:
        """Whether the words start something that runs more of the fleet than they name."""
        named = {word: self.called(word) for word in set(words)}
        for at, word in enumerate(words):
            names, rest = named[word], words[at + 1:]
            if names & _INTERPRETERS and not self.is_one_file(rest, python=bool(names & _PYTHON)):
                return True
            if self.places and (names & _STARTERS or ("env" in names and rest and (rest[0].startswith("-") or "=" in rest[0]))):
                return True
        return False

    def is_one_file(self, rest: Sequence[str], *, python: bool) -> bool:
        """Whether an interpreter is given a file and nothing before it; python also a folder, or `-I` and a file."""
        if python and list(rest[:1]) == ["-I"]:  # nothing beside the file is imported, but in a folder all that was compiled
            python, rest = False, rest[1:]
        if not rest or rest[0].startswith("-") or "\0" in rest[0]:
            return False
        full = os.path.join(self.root, rest[0])
        return os.path.isfile(full) or (python and os.path.isdir(full))

    def called(self, word: str) -> set[str]:
        """What a program is called, without its version: as it is written, and where its links lead to."""
        if "\0" in word or len(word) > _LONGEST:
            return set()
        places = [os.path.join(self.root, word)] + ([os.path.join(folder, word) for folder in self.folders] if "/" not in word else [])
        paths = [word, *(os.path.realpath(place) for place in places if os.path.isfile(place))]
        return {_VERSION.sub("", os.path.basename(path).casefold().removesuffix(".exe")) for path in paths}

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
        """Every file of the fleet that may be a program, outside hidden folders: those are git's, kb's and the editors'."""
        if not self.all:
            self.all = True
            for file in self.files(self.root, lambda name: not name.startswith(".")):
                if _is_program(os.path.basename(file)):
                    self.file(file)

    def files(self, folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
        """The files below a folder, through linked folders of the fleet too; a folder is entered when its name is wanted.

        A link to a folder outside is given as it is, because where it leads is part of the approval.
        """
        pending, seen = [folder], {os.path.realpath(folder)}
        while pending:
            here = pending.pop()
            try:
                entries = list(os.scandir(here))
            except OSError:
                continue
            for entry in entries:
                if os.path.isfile(entry.path):
                    yield entry.path
                elif wanted(entry.name) and os.path.isdir(entry.path):
                    real = os.path.realpath(entry.path)
                    if is_inside(self.root, real):
                        self.programs()
                    elif self.place(real) is None:
                        yield entry.path
                    elif real not in seen:
                        seen.add(real)
                        pending.append(entry.path)

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


def _is_program(name: str) -> bool:
    """By its name. A lock and a half-written file come and go while kb works."""
    hidden, ending = name.startswith("."), os.path.splitext(name)[1][1:].casefold()
    return ending not in _NO_PROGRAM and name != ".DS_Store" and not (hidden and ending in ("lock", "swp", "tmp"))


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
