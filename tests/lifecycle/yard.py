"""A repository to work in: real git, a fixed clock, both command lines run in this process or as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.git import open_checkout
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.script import main

NOW = "2026-09-20T12:00:00Z"
LEDGER = ".ai/local/state/ledger.jsonl"
CANDIDATES = ".ai/repo/knowledge/candidates"
CURATED = ".ai/repo/knowledge/curated"
EPISODE = "s-20260918080000-a1b2"
MAJORDOMUS = [sys.executable, "-c", "from kb_plugins.lifecycle.script import run; run()"]


@dataclass(frozen=True)
class Said:
    """A finished command."""

    code: int
    out: str
    err: str

    def ok(self) -> Said:
        assert self.code == 0, f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"
        return self

    def json(self) -> Any:
        return json.loads(self.out)


class Yard:
    """A git repository in a scratch folder."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._capfd = capfd
        self._patch = monkeypatch
        root.mkdir(exist_ok=True)

    def begin(self) -> Yard:
        self.git("init", "-q", "-b", "main")
        self.write("README.md", "# Yard\n")
        self.commit("begin", "README.md")
        return self

    def clock(self, instant: str) -> None:
        self._patch.setenv("KB_NOW", instant)

    def __call__(self, *words: str, stdin: str | bytes = "", cwd: Path | None = None) -> Said:
        """Run `majordomus` in this process, with a real file as stdin."""
        before = os.getcwd()
        self._capfd.readouterr()
        with tempfile.TemporaryFile() as file:
            file.write(stdin.encode() if isinstance(stdin, str) else stdin)
            file.seek(0)
            os.chdir(cwd or self.root)
            try:
                with open(os.dup(file.fileno()), encoding="utf-8") as given:
                    self._patch.setattr(sys, "stdin", given)
                    code = main(list(words))
            finally:
                os.chdir(before)
        return Said(code, *self._capfd.readouterr())

    def process(self, *words: str, **settings: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*MAJORDOMUS, *words], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **{"stdin": subprocess.DEVNULL, **settings})

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *words], cwd=cwd or self.root, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def commit(self, message: str, *paths: str) -> str:
        self.git("add", "-A", "--", *paths)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    @property
    def disk(self) -> Disk:
        return Disk(open_checkout(self.root))

    @property
    def log(self) -> Ledger:
        return Ledger(self.disk)

    def note(self, event: str, episode: str | None = EPISODE, /, ts: str = "2026-09-18T09:00:00Z", **payload: Any) -> None:
        """Append a ledger line by hand."""
        row = {"ts": ts, "event": event, "head": "NONE", "branch": "main", "by": "hand/0"}
        row |= {"session": episode} if episode else {}
        target = self.root / LEDGER
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab") as out:
            out.write((json.dumps(row | payload, ensure_ascii=False) + "\n").encode())

    def rows(self, event: str | None = None) -> list[dict[str, Any]]:
        path = self.root / LEDGER
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        return [row for row in map(json.loads, filter(None, lines)) if event in (None, row["event"])]

    def start(self, *words: str) -> str:
        self("session", "start", *words).ok()
        return str(self.rows("session.started")[-1]["session"])

    def decide(self, *texts: str) -> list[str]:
        """Derive a candidate of each decision; their ids."""
        from kb_plugins.lifecycle.records import record_id

        for text in texts:
            self.note("decision.recorded", task_id="none", decision=text)
        self("knowledge", "derive", "--episode", EPISODE).ok()
        return [record_id(EPISODE, "decision.recorded", text) for text in texts]

    def tree(self) -> dict[str, bytes]:
        """Every file outside .git."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*"))
                if p.is_file() and ".git/" not in f"{p.relative_to(self.root)}"}

    def trunk(self) -> None:
        """Stand on the default branch of a remote."""
        hub = self.root.parent / "hub.git"
        self.git("init", "-q", "--bare", "-b", "main", str(hub))
        self.git("remote", "add", "origin", str(hub))
        self.git("push", "-q", "-u", "origin", "main")
        self.git("remote", "set-head", "origin", "main")


RECORD = """---
schema: knowledge/v1
id: coil-cables
kind: knowledge
class: convention
title: "Cables are coiled clockwise"
description: "So that the next shift finds the end."
status: verified
epistemics: decided
date: 2026-09-01
tags:
  - yard
provenance:
  origin: authored
  derived_from:
    - file:README.md
---

# Cables are coiled clockwise

So that the next shift finds the end.
"""
