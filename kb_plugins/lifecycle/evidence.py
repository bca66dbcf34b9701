"""The closed table: which ledger line becomes which record. Nothing is inferred from the wording of a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from kb_plugins.lifecycle import clock, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.ledger import Row
from kb_plugins.lifecycle.observe import subject_is_legal
from kb_plugins.lifecycle.records import Draft, record_id
from kb_plugins.lifecycle.references import tracked_or_pinned
from kb_plugins.lifecycle.routes import Generated, read_generated, route
from kb_plugins.lifecycle.text import clean, is_conversation, one_line

_TASK = re.compile(r"[A-Za-z0-9._-]+")
_ENDED_BADLY = ("blocked", "failed", "no_match")


class Drafts:
    """Makes drafts of the lines of one episode."""

    def __init__(self, disk: Disk, episode: str) -> None:
        self.disk = disk
        self.episode = episode
        self._evidence: frozenset[str] = frozenset()
        self._generated = Generated((), ())

    def of(self, rows: Iterable[Row]) -> list[tuple[Draft, bool]]:
        """(draft, whether its text is a conversation) per record, in the order of the lines; a repeated fact once."""
        rows = list(rows)
        self._evidence = self._resolved(rows)
        self._generated = read_generated(self.disk)
        table: dict[str, Callable[[Row], Draft | None]] = {
            "decision.recorded": self._decision, "question.resolved": self._answer,
            "task.finished": self._outcome, "observation.recorded": self._observation}
        drafts: dict[str, tuple[Draft, bool]] = {}
        for row in rows:
            make = table.get(row["event"])
            draft = make(row) if make and clock.parse(row["ts"]) else None
            if draft and draft.title:  # nothing is left of a text that was control characters only
                drafts[draft.id] = (draft, is_conversation(draft.title) or is_conversation(draft.description))
        return list(drafts.values())

    def _decision(self, row: Row) -> Draft | None:
        decision = _field(row, "decision")
        if not decision:
            return None
        task = _task(row)
        where = f"under task {task}" if task else "outside a task"
        return self._draft(row, ("decision.recorded", decision), "convention", decision,
                           f"Recorded as a decision {where} in episode {self.episode}.", "decided", "decision",
                           f"decision:{task}" if task else "")

    def _answer(self, row: Row) -> Draft | None:
        question, answer = _field(row, "question"), _field(row, "answer")
        if not answer:
            return None
        task = _task(row)
        said = f'Answers the question "{question}" resolved under task {task or "none"} in episode {self.episode}.'
        return self._draft(row, ("question.resolved", question, answer), "fact", answer, said, "observed", "question",
                           f"task:{task}" if task else "")

    def _outcome(self, row: Row) -> Draft | None:
        task, outcome = _task(row), _field(row, "outcome")
        verify = row.get("verify")
        if not task:
            return None
        if outcome in _ENDED_BADLY:
            reason = note_reason(self.disk, task)
            title = f"Task {task} ended {outcome}" + (f": {reason}" if reason else "")
            said = f"The task reached the outcome {outcome} in episode {self.episode}."
            klass, epistemics = "lesson", "inferred"
        elif outcome == "completed" and isinstance(verify, dict) and verify.get("exit") == 0:
            title = f"Task {task} completed; verified by: {one_line(str(verify.get('command', '')))} (exit 0)"
            said = f"The verification command passed when the task finished in episode {self.episode}."
            klass, epistemics = "fact", "observed"
        else:
            return None
        return self._draft(row, ("task.finished", task, outcome), klass, title, said, epistemics, "task", f"task:{task}")

    def _observation(self, row: Row) -> Draft | None:
        kind, subject, statement = _field(row, "kind"), _field(row, "subject"), _field(row, "statement")
        if not (kind and subject_is_legal(subject) and statement):
            return None
        task = _task(row)
        references = tuple(dict.fromkeys(clean(item) for item in _references(row)))
        draft = self._draft(row, ("observation.recorded", kind, subject, statement), "lesson", statement,
                            f"Observed as {kind} about {subject} in episode {self.episode}.", "observed", "observation",
                            f"task:{task}" if task else "")
        return replace(draft, about=clean(subject), route=route(subject, self._generated), evidence=references,
                       resolved=tuple(item for item in references if item in self._evidence))

    def _draft(self, row: Row, canonical: tuple[str, ...], klass: str, title: str, description: str, epistemics: str,
               tag: str, task: str) -> Draft:
        sources = (f"session:{self.episode}", *((task,) if task else ()))
        return Draft(record_id(self.episode, *canonical), klass, clean(title), clean(description), epistemics,
                     row["ts"][:10], tag, sources)

    def _resolved(self, rows: list[Row]) -> frozenset[str]:
        """Which evidence references of these lines resolve right now: a commit, a tracked file or test."""
        cited = {item for row in rows if row["event"] == "observation.recorded" for item in _references(row)}
        return tracked_or_pinned(self.disk.checkout, cited)


def note_reason(disk: Disk, task: str) -> str:
    """The first line below `# Reason` in the note that a finished task left, or ""."""
    if not _TASK.fullmatch(task):
        return ""
    inside = False
    for line in (disk.text(f"{layout.COMPLETED}/{task}.md") or "").split("\n"):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*\s*$", line)
        if heading:
            if inside:
                return ""
            inside = heading[1] == "Reason" and line.startswith("# ")
        elif inside and line.strip():
            return one_line(line).strip()
    return ""


def commit_evidence(disk: Disk, rows: Iterable[Row]) -> tuple[list[str], list[str]]:
    """(commits, paths): the episode's commits that touched rules or decision records, and those paths still tracked."""
    checkout = disk.checkout
    start = next((row.get("head") for row in rows if row["event"] == "session.started"), None)
    if not isinstance(start, str) or start == checkout.head or not checkout.is_ancestor(start):
        return [], []
    touched = checkout.touched_since(start, layout.RULES, layout.DECISION_RECORDS)
    paths = {path for _, names in touched for path in names if path.isprintable()}
    kept = sorted(paths & checkout.tracked, key=lambda path: path.encode("utf-8", "replace"))
    return [commit for commit, _ in touched], kept


def _task(row: Row) -> str:
    """The task that a line names, or "" for none."""
    task = _field(row, "task_id")
    return task if task != "none" and _TASK.fullmatch(task) else ""


def _field(row: Row, name: str) -> str:
    value = row.get(name)
    return one_line(value).strip() if isinstance(value, str) else ""


def _references(row: Row) -> list[str]:
    value = row.get("evidence")
    return [one_line(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


