"""`kb check`: every base graded by every code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kb.blame import blamed
from kb.errors import KbError, UsageError
from kb.specs import Check, Level, Problem
from kb.store.checked import CheckedBase
from kb.store.fleet import refuse_the_disk

if TYPE_CHECKING:
    from kb.app import App


class Finding(NamedTuple):
    """One finding. `file` is POSIX inside the base, `line` is 1-based or 0. Fields in the order of the JSON."""

    code: str
    level: Level
    base: str
    file: str
    line: int
    message: str


class GradedBase(NamedTuple):
    """One base with its findings, sorted by file, line and code. `skipped` are files that could not be read: (path, reason).

    declared: whether the folder says that it is a base; vault: whether it is read as its own tools read it;
    keyed: whether any of its notes has keys.
    """

    name: str
    root: str
    files: int
    map_name: str | None
    include_private: bool
    declared: bool
    vault: bool
    keyed: bool
    skipped: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]

    def number_of(self, level: Level) -> int:
        return sum(finding.level == level for finding in self.findings)


class Grade(NamedTuple):
    """A whole run: the bases, what could not be graded at all, which counts as errors, and whether codes were selected."""

    bases: tuple[GradedBase, ...]
    failures: tuple[str, ...]
    selected: bool = False

    @property
    def findings(self) -> Iterator[Finding]:
        return (finding for base in self.bases for finding in base.findings)

    def failed(self, strict: bool) -> bool:
        """Whether the run fails: errors, or with `strict` warnings too."""
        return bool(self.failures) or any(strict or finding.level == "error" for finding in self.findings)


def check(app: App, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Grade:
    """Grade every opened base. `select` and `ignore` are prefixes of codes; what they filter out does not count.

    Raises PluginError when a plugin that feeds the checks is broken, UsageError for a prefix that no code has.
    """
    checks = app.host.owned_specs("kb_checks", Check, lambda item: item.code)
    app.host.require("kb_checks", "check")
    wanted = [(plugin, item) for plugin, item in checks if _wanted(item.code, select, ignore)]
    for prefix in (*select, *ignore):
        if not any(item.code.startswith(prefix) for _, item in checks):
            raise UsageError(f"no code begins with {prefix}", hint="kb --help lists them")
    failures = [f"fleet.txt attaches {place}, and there is no such folder" for path in app.fleet.paths
                for place in _missing_attachments(app, path)]
    views: list[CheckedBase] = []
    run: dict[str, Any] = {}

    @cache
    def publishers() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for view in views:
            for stem in view.public_stems():
                found.setdefault(stem.lower(), []).append(view.base.name)
        return found

    for base in app.fleet.bases:
        try:
            refuse_the_disk(base.root, "a base")
            views.append(CheckedBase(base, app.include_private, lambda target: publishers().get(target, ()), run))
        except KbError as error:
            failures.append(str(error))
    return Grade(tuple(_grade(view, wanted) for view in views), tuple(failures), bool(select))


def _grade(view: CheckedBase, checks: Sequence[tuple[str, Check]]) -> GradedBase:
    notes = view.notes
    findings = [finding for plugin, item in checks for finding in _run(view, plugin, item)]
    findings.sort(key=lambda finding: (finding.file, finding.line, finding.code, finding.message))
    return GradedBase(view.base.name, view.base.root, len(notes), view.map_name, view.include_private, view.declared, view.as_vault,
                      any(note.header.keys for note in notes), tuple(sorted(set(view.unreadable))), tuple(findings))


def _run(view: CheckedBase, plugin: str, item: Check) -> Iterator[Finding]:
    what = f"the check {item.code} of plugin {plugin}, on {view.base.name},"
    with blamed(what, may_refuse=False):  # a silently missing check is a false green
        problems = list(item.run(view))
        for problem in problems:
            if not isinstance(problem, Problem) or (type(problem.file), type(problem.line), type(problem.message)) != (str, int, str):
                raise TypeError(f"it yielded {problem!r}, which is no Problem of file, line and message")
    for problem in problems:
        yield Finding(item.code, item.level, view.base.name, problem.file, problem.line, problem.message)


def _wanted(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    return (not select or code.startswith(tuple(select))) and not (ignore and code.startswith(tuple(ignore)))


def _missing_attachments(app: App, path: str) -> list[str]:
    if path != app.fleet.root:
        return []
    return [place for place in app.fleet.manifest.all("attach") if not os.path.isdir(os.path.join(path, place))]
