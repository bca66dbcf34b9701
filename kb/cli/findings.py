"""Findings as text, JSON, GitHub workflow commands and SARIF 2.1.0."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import click

from kb import __version__
from kb.cli.boundary import say
from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.ops.check import Finding, Grade, GradedBase

_LISTED = 3       # further lines of a folded finding, and lines of a code that is summed up
_CROWD = 12       # findings of one code in ordinary notes from which on they are summed up, unless codes were selected


def print_text(grade: Grade) -> None:
    """One block per base: a header, what was skipped, the findings folded, and a total."""
    for number, base in enumerate(grade.bases):
        if number:
            click.echo()
        _print_base(base, grade.selected)


def _print_base(base: GradedBase, selected: bool) -> None:
    scope = "files, private layer included" if base.include_private else "public files"
    click.echo(f"{printable(base.name)}  ({base.files} {scope}, map: {base.map_name or 'none'})")
    for path, reason in base.skipped:
        click.echo(f"  skipped  {printable(path)}: {reason}")
    if not base.findings:
        click.echo("  clean")
        return
    ordinary = base.vault and not base.keyed
    folded = _folded(base.findings)
    count = Counter(finding.code for finding, _ in folded)
    crowds = {code: count[code] for code in sorted(count) if ordinary and not selected and count[code] > _CROWD}
    shown: Counter[str] = Counter()
    for finding, lines in folded:
        shown[finding.code] += 1
        if finding.code in crowds and shown[finding.code] > _LISTED:
            continue
        place = finding.file if finding.line == 0 else f"{finding.file}:{finding.line}"
        level = "error" if finding.level == "error" else "warn "
        click.echo(f"  {level} {finding.code}  {printable(place):<46} {printable(finding.message, lines=True)}{_more(lines)}")
    for code, lines_of_it in crowds.items():
        click.echo(f"  ... and {lines_of_it - _LISTED} more {code}; --select {code} lists them")
    click.echo(f"  {base.number_of('error')} errors, {base.number_of('warning')} warnings")
    if ordinary:
        _print_next(base)


def _print_next(base: GradedBase) -> None:
    place = printable(shlex.quote(os.path.relpath(base.root)))
    click.echo("\n  No note here has a Search for: line yet" + (", so no question is sure to find one." if base.declared else
               f", so this folder is not a base.\n  kb init --adopt {place} makes it one without touching a note."))
    click.echo(f"  kb init --adopt {place} --keys proposes a key line for each, as a diff first.")


def _folded(findings: Sequence[Finding]) -> list[tuple[Finding, list[int]]]:
    """Findings of one file, code and message as one, with the lines it stands on; by file, first line and code."""
    groups: dict[tuple[str, str, str], tuple[Finding, list[int]]] = {}
    for finding in findings:
        groups.setdefault((finding.file, finding.code, finding.message), (finding, []))[1].append(finding.line)
    return sorted(groups.values(), key=lambda group: (group[0].file, group[0].line, group[0].code))


def _more(lines: list[int]) -> str:
    if len(lines) == 1:
        return ""
    others = lines[1:1 + _LISTED]
    rest = len(lines) - 1 - len(others)
    return f"  ({len(lines)} times, also on {', '.join(map(str, others))}{f', and {rest} more' if rest else ''})"


def _tell_skipped(grade: Grade) -> None:
    """The machine formats have no place for files that could not be graded: they are told on stderr."""
    for base in grade.bases:
        for path, reason in base.skipped:
            say(f"{base.name}/{path} was not checked: {reason}")


def print_json(grade: Grade) -> None:
    """One line: `{"findings": [...]}`, unfolded."""
    _tell_skipped(grade)
    click.echo(dumps({"findings": list(grade.findings)}))


def print_github(grade: Grade) -> None:
    """A workflow command per finding, which a GitHub run shows beside the changed line."""
    _tell_skipped(grade)
    for base in grade.bases:
        for finding in base.findings:
            where = f"file={_property(_uri(base, finding))}" + (f",line={finding.line}" if finding.line else "")
            click.echo(f"::{finding.level} {where},title={finding.code}::{_data(finding.message)}")


def _data(text: str) -> str:
    return printable(text, lines=True).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def print_sarif(grade: Grade) -> None:
    """A SARIF 2.1.0 log with one run."""
    _tell_skipped(grade)
    rules = dict.fromkeys(finding.code for finding in grade.findings)
    results = [_result(base, finding, list(rules).index(finding.code)) for base in grade.bases for finding in base.findings]
    click.echo(dumps({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "kb check", "version": __version__, "rules": [{"id": code} for code in rules]}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))


def _result(base: GradedBase, finding: Finding, rule: int) -> dict[str, Any]:
    from urllib.parse import quote

    place: dict[str, Any] = {"artifactLocation": {"uri": quote(os.fsencode(_uri(base, finding)))}}
    if finding.line:
        place["region"] = {"startLine": finding.line}
    return {"ruleId": finding.code, "ruleIndex": rule, "level": finding.level, "message": {"text": finding.message},
            "locations": [{"physicalLocation": place}]}


def _uri(base: GradedBase, finding: Finding) -> str:
    return os.path.relpath(os.path.join(base.root, finding.file)).replace(os.sep, "/")


FORMATS: dict[str, Callable[[Grade], None]] = {
    "text": print_text, "json": print_json, "github": print_github, "sarif": print_sarif}
