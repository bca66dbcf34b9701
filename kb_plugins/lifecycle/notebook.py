"""Decisions and questions: each is one entry in a local file for people, and one line in the ledger for the deriver."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.api import UsageError
from kb_plugins.lifecycle import clock, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.exits import absent, conflict
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.tasks import current_id

DASH = " — "
QUESTION = re.compile(r"- \[(?P<state>unresolved|resolved \d{4}-\d{2}-\d{2})\] (?P<task>\S+) — (?P<text>.*) "
                       r"\((?P<asked>\d{4}-\d{2}-\d{2})\)(?: — (?P<answer>.*))?")


@dataclass(frozen=True)
class Question:
    """One line of the open-questions file. `number` counts the unresolved ones from 1; 0 for a resolved one."""

    line: int
    number: int
    task: str
    text: str
    asked: str
    answer: str


def record_decision(disk: Disk, ledger: Ledger, decision: str, why: str, *, rejected: str = "", evidence: str = "",
                    supersedes: str = "") -> None:
    """Note a decision and why it was made. Raises UsageError for an empty or many-lined part."""
    decision, why = decision.strip(), why.strip()
    for name, value in (("decision", decision), ("--why", why)):
        _one_line(name, value)
    for name, value in (("--rejected", rejected), ("--evidence", evidence), ("--supersedes", supersedes)):
        if value:
            _one_line(name, value)
    task, moment = current_id(disk), clock.now()
    lines = [f"## {clock.day(moment)}{DASH}{decision}", "", f"Why: {why}"]
    lines += [f"{name}: {value}" for name, value in (("Rejected", rejected), ("Evidence", evidence),
                                                     ("Supersedes", supersedes)) if value]
    with disk.lock("decisions"):
        text = disk.text_to_edit(layout.DECISIONS) or "# Decisions\n"
        disk.write(layout.DECISIONS, text.rstrip("\n") + "\n\n" + "\n".join([*lines, f"Task: {task}"]) + "\n", mode=0o600)
    ledger.append("decision.recorded", _stamp(disk), task_id=task, decision=decision)


def open_question(disk: Disk, ledger: Ledger, text: str) -> Question:
    """Note a question under the active task. Raises UsageError for a bad text, KbError (12) without a task."""
    text = text.strip()
    _one_line("question", text)
    if DASH in text:
        raise UsageError(f"a question cannot contain `{DASH}`: it separates the parts of its line")
    task = current_id(disk)
    if task == "none":
        raise absent("a question belongs to a task, and none is active", hint="begin one with task start")
    with disk.lock("questions"):
        there = read_questions(disk)
        if any(item.text == text and item.number for item in there):
            raise conflict("this question is already open")
        body = disk.text_to_edit(layout.QUESTIONS) or "# Open questions\n\n"
        body += "" if body.endswith("\n") else "\n"
        disk.write(layout.QUESTIONS, body + f"- [unresolved] {task}{DASH}{text} ({clock.day(clock.now())})\n", mode=0o600)
    ledger.append("question.opened", _stamp(disk), task_id=task, question=text)
    return next(item for item in read_questions(disk) if item.text == text and item.number)


def resolve_question(disk: Disk, ledger: Ledger, which: str, answer: str) -> Question:
    """Answer an open question, named by its number among the open ones or by its text. Raises KbError (12) for none."""
    answer = answer.strip()
    _one_line("--answer", answer)
    with disk.lock("questions"):
        text = disk.text_to_edit(layout.QUESTIONS) or ""
        opened = [item for item in read_questions(disk) if item.number]
        named = [item for item in opened if item.text == which.strip()] or [
            item for item in opened if str(item.number) == which.strip()]
        if not named:
            raise absent(f"no open question is {which.strip()!r}", hint="question list shows them")
        found = named[0]
        lines = text.split("\n")
        lines[found.line] = (f"- [resolved {clock.day(clock.now())}] {found.task}{DASH}{found.text} ({found.asked})"
                             f"{DASH}{answer}")
        disk.write(layout.QUESTIONS, "\n".join(lines), mode=0o600)
    ledger.append("question.resolved", _stamp(disk), task_id=found.task, question=found.text, answer=answer)
    return found


def read_questions(disk: Disk) -> list[Question]:
    """Every question of the file, in its order."""
    found = []
    number = 0
    for line, text in enumerate((disk.text(layout.QUESTIONS) or "").split("\n")):
        match = QUESTION.fullmatch(text.rstrip("\r"))
        if match:
            number += match["state"] == "unresolved"
            found.append(Question(line, number if match["state"] == "unresolved" else 0, match["task"], match["text"],
                                  match["asked"], match["answer"] or ""))
    return found


def _one_line(name: str, value: str) -> None:
    if not value.strip():
        raise UsageError(f"{name} is empty")
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]", value):
        raise UsageError(f"{name} must be one line")


def _stamp(disk: Disk) -> str | None:
    episode = Episodes(disk).mine()
    return episode.id if episode else None
