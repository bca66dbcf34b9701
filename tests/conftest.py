"""Shared fixtures: a scratch shell with fixed clock, home, locale and width, and a small fleet."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NOW = "2026-09-20T12:00:00Z"
REPOSITORY = Path(__file__).resolve().parent.parent

# A shell that starts the tests in the background ignores Ctrl-C, nohup ignores SIGHUP, and every process of ours would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python has it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-golden", action="store_true", help="Write the transcripts in tests/golden instead of comparing.")


@dataclass(frozen=True)
class Run:
    """A finished process."""

    code: int
    out: str
    err: str

    def ok(self) -> Run:
        assert self.code == 0, f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"
        return self

    def json(self) -> object:
        return json.loads(self.out)


@dataclass
class Shell:
    """Runs `kb` as a real process in a scratch folder, with nothing of the user's environment but PATH."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.root / "home").mkdir(exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
            "COLUMNS": "100", "KB_NOW": NOW, "KB_SCORERS": "classic",
            "XDG_CACHE_HOME": os.environ.get("KB_TEST_CACHE", str(self.root / "home/.cache")),
            "GIT_AUTHOR_NAME": "A Writer", "GIT_AUTHOR_EMAIL": "writer@example.org",
            "GIT_COMMITTER_NAME": "A Writer", "GIT_COMMITTER_EMAIL": "writer@example.org",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
        } | {name: os.environ[name] for name in ("KB_DISABLE_PLUGINS",) if name in os.environ} | self.env

    def run(self, *words: object, stdin: str | bytes = "", cwd: Path | None = None, env: dict[str, str] | None = None,
            timeout: float = 60) -> Run:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run([str(w) for w in words], input=data, capture_output=True, timeout=timeout,
                              cwd=cwd or self.root, env={**self.env, **(env or {})})
        return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def kb(self, *words: object, **settings: object) -> Run:
        return self.run(sys.executable, "-m", "kb", *words, **settings)  # type: ignore[arg-type]

    def git(self, *words: object, **settings: object) -> Run:
        return self.run("git", *words, **settings).ok()  # type: ignore[arg-type]

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def script(self, path: str, body: str) -> Path:
        """An executable shell script."""
        target = self.write(path, "#!/bin/sh\n" + body)
        target.chmod(0o755)
        return target


def note(title: str = "", keys: str = "", purpose: str = "", body: str = "", front: str = "") -> str:
    """A note: front matter, title, the two labels, body; what is empty is left out."""
    parts = [f"---\n{front.strip()}\n---\n"] if front else []
    parts += [f"# {title}\n"] if title else []
    parts += [f"**Search for:** {keys}\n"] if keys else []
    parts += [f"**Exists to:** {purpose}\n"] if purpose else []
    parts += [body.strip() + "\n"] if body else []
    return "\n".join(parts)


@pytest.fixture
def sh(tmp_path: Path) -> Shell:
    """A scratch shell."""
    return Shell(tmp_path)


@pytest.fixture(name="note")
def note_() -> object:
    """The note builder."""
    return note


@pytest.fixture
def fleet(sh: Shell) -> Shell:
    """A fleet of three agents and a person's base: four keyed notes, a deposit, three maps."""
    sh.write("fleet.txt", "name = Orchard\nrole = remembers what the growers learned\n")
    for name, role in (("ada", "keeps the machines running"), ("ben", "writes to the members"), ("eva", "plans the beds")):
        sh.write(f"fleet/{name}/agent.txt", f"name = {name.title()}\nrole = {role}\nends = stops at the gate\n")
        sh.write(f"fleet/{name}/MAP.md", f"# {name.title()}\n\nWhat this base holds.\n")
    sh.write("fleet/ada/knowledge/pump.md", note(
        "Pump", "pump, pressure, valve, flush the pump", "say how the pump is flushed.",
        "## Steps\n\nClose the inlet valve, open the drain, then run the motor for one minute.\n\n"
        "## Limits\n\nA cracked seal is not mended by flushing."))
    sh.write("fleet/ada/knowledge/mower.md", note(
        "Mower", "mower, blade, oil, service", "say when the mower is serviced.",
        "## Interval\n\nThe blade is ground every forty hours and the oil changed twice a year."))
    sh.write("fleet/ben/knowledge/letters.md", note(
        "Letters", "letter, members, greeting, salutation", "collect openings that were answered.",
        "## What worked\n\nA first name and one question were answered most."))
    sh.write("fleet/eva/knowledge/beans.md", note(
        "Beans", "beans, sowing, frost, sow beans", "say when beans are sown.",
        "## When\n\nAfter the last frost, in soil of twelve degrees."))
    sh.write("fleet/eva/inbox/2026-09-19-heron.md", "# A heron\n\nThe heron stood by the culvert for an hour.\n")
    sh.write("fleet/person/core.md", note("Owner", "owner, timezone", "say who the owner is.", "Lives by the river."))
    return sh


class Golden:
    """Transcripts of a terminal: what was typed, what came, and the exit code, compared with a file of tests/golden."""

    def __init__(self, shell: Shell, renew: bool) -> None:
        self.shell = shell
        self.renew = renew

    def check(self, name: str, *commands: list[str], env: dict[str, str] | None = None) -> None:
        """Run `commands` in order; their transcript must be what the file `name`.txt holds. --renew-golden writes it."""
        parts = []
        for words in commands:
            done = self.shell.kb(*words, env=env)
            streams = [f"{mark}{line}".rstrip(" ") for mark, text in (("", done.out), ("stderr: ", done.err))
                       for line in text.splitlines()]
            parts.append("\n".join([f"$ kb {shlex.join(words)}", *streams, f"[exit {done.code}]", ""]))
        seen = "\n".join(parts).replace(str(self.shell.root), "<here>")
        file = REPOSITORY / "tests" / "golden" / f"{name}.txt"
        if self.renew:
            file.parent.mkdir(exist_ok=True)
            file.write_text(seen, encoding="utf-8")
        assert seen == file.read_text(encoding="utf-8"), "pytest --renew-golden writes the new transcript"


@pytest.fixture
def golden(sh: Shell, request: pytest.FixtureRequest) -> Golden:
    """Compares transcripts of the test's shell with tests/golden."""
    return Golden(sh, request.config.getoption("--renew-golden"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The public collections: KB_TEST_DATA, else the sibling folder; the test is skipped where there is neither."""
    place = Path(os.environ.get("KB_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not place.is_dir():
        pytest.skip("the public collections are not here: set KB_TEST_DATA to a folder with ir/ and vaults/")
    return place
