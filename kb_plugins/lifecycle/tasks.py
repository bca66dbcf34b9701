"""Tasks: what a person set out to do, and how it ended. One at a time, apart from the episode's life."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import dataclass

from kb.api import UsageError
from kb_plugins.lifecycle import clock, layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes, user
from kb_plugins.lifecycle.exits import absent, conflict, invalid
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.text import clean, one_line
from kb_plugins.lifecycle.yaml_subset import scalar

OUTCOMES = ("completed", "partial", "blocked", "no_match", "failed")
_HEADING = {"blocked": "Next Action", "partial": "Next Action", "no_match": "Reason", "failed": "Reason"}
_VACUOUS = re.compile(r"\s*(?:|:|true|/(?:usr/)?bin/true|exit(?:\s+0)?|(?:echo|printf)\b[^;&|]*)\s*;?\s*")


@dataclass(frozen=True)
class Task:
    """The active task."""

    id: str
    title: str
    profile: str
    scope: tuple[str, ...]


def current_task(disk: Disk) -> Task | None:
    """The active task, or None."""
    text = disk.text(layout.TASK)
    if text is None:
        return None
    try:
        fields = yaml_subset.parse(text)
    except yaml_subset.SubsetError:
        return None
    name = fields.get("id", "")
    if not isinstance(name, str) or not name:
        return None
    scope = fields.get("scope", [])
    return Task(name, str(fields.get("task", "")), str(fields.get("profile", "none")) or "none",
                tuple(str(item) for item in scope) if isinstance(scope, list) else ())


def current_id(disk: Disk) -> str:
    """The active task's id, or `none`: what a ledger line says."""
    task = current_task(disk)
    return task.id if task else "none"


def start(disk: Disk, ledger: Ledger, title: str, scope: list[str], *, profile: str = "none", owner: str = "") -> Task:
    """Begin a task. Raises KbError: 2 for an empty title or scope, 15 while another one is active."""
    paths = [part.strip() for item in scope for part in item.split(",") if part.strip()]
    if not title.strip() or "\n" in title:
        raise UsageError("a task needs a title on one line")
    if not paths or any(re.search(r"\s", path) for path in paths):
        raise UsageError("a task needs a scope: one or more paths without blanks", hint="--scope src,docs")
    checkout = disk.checkout
    with disk.lock("task"):
        active = current_task(disk)
        if active or disk.exists(layout.TASK):
            raise conflict(f"the task {active.id} is active" if active else f"{layout.TASK} does not parse",
                           hint="end it with task finish" if active else "mend or remove it")
        moment = clock.now()
        name = ""
        while not name or ledger.mentions(name):
            name = f"t-{clock.digits(moment)}-{os.urandom(2).hex()}"
        task = Task(name, clean(title), clean(profile) or "none", tuple(paths))
        who = clean(owner) or user(checkout)
        disk.write(layout.TASK, "".join(f"{line}\n" for line in (
            f"id: {name}", f"task: {scalar(task.title)}", f"profile: {scalar(task.profile)}", f"owner: {scalar(who)}",
            "scope:", *(f"  - {scalar(path)}" for path in paths), f"started_at: {clock.instant(moment)}",
            f"checkpoint_at: {clock.instant(moment)}", "outcome: active", f"repository_id: {scalar(checkout.common)}",
            f"worktree: {scalar(checkout.root)}", f"branch: {scalar(checkout.branch)}", f"head: {checkout.head}",
            f"working_tree: {'dirty' if checkout.dirty() else 'clean'}")), mode=0o600)
    ledger.append("task.started", _stamp(disk), task_id=name, profile=task.profile, owner=who, scope=" ".join(paths))
    return task


@dataclass(frozen=True)
class Verification:
    """A command that was run to prove an outcome, its exit and how many seconds it took."""

    command: str
    exit: int
    seconds: int

    def shown(self) -> dict[str, object]:
        return {"command": self.command, "exit": self.exit, "seconds": self.seconds}


def finish(disk: Disk, ledger: Ledger, outcome: str, *, verify_command: str | None = None, note: str | None = None,
           check: bool = False) -> Task:
    """End the active task. A refusal is exit 10 and leaves a `task.refused` line; without a task it is 12.

    `note` is the note's text. `check` judges and writes nothing.
    """
    task = current_task(disk)
    if task is None:
        raise absent("there is no active task", hint="begin one with task start")
    unmet = _unmet(outcome, verify_command, note)
    verification = None
    if unmet is None and verify_command is not None and not check:
        verification = _verified(disk.root, verify_command)
        disk.checkout.forget()
        if outcome == "completed" and verification.exit != 0:
            unmet = f"the verification ended with exit {verification.exit}"
    if unmet is not None:
        if not check:
            ledger.append("task.refused", _stamp(disk), task_id=task.id, outcome=outcome, unmet=unmet, refused=True)
        raise invalid(f"finish {outcome} is refused: {unmet}")
    if check:
        return task
    with disk.lock("task"):
        if current_task(disk) != task:
            raise absent("the task was ended by another process")
        if note is not None:
            disk.write(f"{layout.COMPLETED}/{task.id}.md", note)
        checkpoints = sum(1 for row in ledger.of("task.checkpoint") if row.get("task_id") == task.id)
        ledger.append("task.finished", _stamp(disk), task_id=task.id, outcome=outcome, contract=task.title,
                      verify=verification.shown() if verification else None, checkpoints=checkpoints)
        disk.remove(layout.TASK)
    return task


def _unmet(outcome: str, verify_command: str | None, note: str | None) -> str | None:
    """What the outcome lacks, or None."""
    if verify_command is not None and _VACUOUS.fullmatch(verify_command):
        return "the verification command verifies nothing"
    heading = _HEADING.get(outcome)
    if heading and note is not None and not re.search(rf"(?m)^# {heading}[ \t]*\r?$", note):
        return f"the note has no heading `# {heading}`"
    if heading and note is None:
        return f"a note with the heading `# {heading}` is needed (--note FILE)"
    return None


def _verified(root: str, command: str) -> Verification:
    """Run what the person typed, in the shell the person typed it for; its output goes to stderr."""
    began = time.monotonic()
    with subprocess.Popen(command, shell=True, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        output, _ = process.communicate()
    if process.returncode and output:
        import sys

        sys.stderr.write(output.decode("utf-8", "replace")[-4000:])
    return Verification(one_line(command), process.returncode, round(time.monotonic() - began))


def _stamp(disk: Disk) -> str | None:
    episode = Episodes(disk).mine()
    return episode.id if episode else None
