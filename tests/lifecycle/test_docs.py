"""The pages about the lifecycle are true: the tutorial runs, the reference names everything and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click

from kb_plugins.lifecycle.checks import CODES
from kb_plugins.lifecycle.cli.root import majordomus
from kb_plugins.lifecycle.events import EVENTS
from kb_plugins.lifecycle.plugin import kb_commands
from kb_plugins.lifecycle.policy import DEFAULTS
from kb_plugins.lifecycle.records import CLASSES, EPISTEMICS, RELATIONS, STATUSES
from tests.docs.transcripts import assert_printed_in_order
from tests.lifecycle.yard import Yard

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = (DOCS / "reference/lifecycle.md").read_text(encoding="utf-8")


def rows(section: str) -> list[list[str]]:
    """The cells of the tables of one section."""
    text = REFERENCE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in text.splitlines()
            if line.startswith("|") and not set(line) <= set("|-")][1:]


def _settled(text: str) -> str:
    """Output without what differs from run to run: ids, days, digests, and the order of the queue, which follows the digests."""
    for pattern, settled in ((r"\bs-\d{14}-[0-9a-f]{4}\b", "s-<episode>"), (r"\bt-\d{14}-[0-9a-f]{4}\b", "t-<task>"),
                             (r"\b\d{4}-\d\d-\d\d\b", "<date>"), (r"(?<=s-<episode>-)[0-9a-f]{12}", "<digest>")):
        text = re.sub(pattern, settled, text)
    return re.sub(r"(?m)(?:^s-<episode>-<digest>  .*\n)+", lambda rows: "".join(sorted(rows[0].splitlines(keepends=True))), text)


def test_the_tutorial_runs_as_it_stands(yard: Yard, tmp_path: Path) -> None:
    page = (DOCS / "tutorial/lifecycle.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    assert "export PATH=" in blocks[0] and '"$PWD/.venv/bin:$PATH"' in blocks[0]
    place = tmp_path / "place"
    place.mkdir()
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, code in (("kb", "from kb.cli.main import run; run()"),
                       ("majordomus", "from kb_plugins.lifecycle.script import run; run()")):
        target = scripts / name
        target.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
        target.chmod(0o755)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(blocks[1:])], cwd=place, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "HOME": str(place), "KB_SCORERS": "default"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert_printed_in_order(re.findall(r"^```text\n(.*?)^```", _settled(page), re.M | re.S), _settled(done.stdout))
    assert "there is no text index yet" in done.stderr
    assert "knowledge candidates: 3 awaiting review" in done.stdout
    assert re.search(r"curated/s-\d{14}-[0-9a-f]{4}-[0-9a-f]{12}\.md", done.stdout)
    assert "knowledge check: 3 record(s), 0 failing" in done.stdout and done.stdout.rstrip().endswith("doctor: 0 failure(s)")


def test_the_reference_has_every_event_code_and_policy_key() -> None:
    fields = {row[0]: tuple(re.findall(r"\w+", row[1])) for row in rows("The ledger")}
    assert fields == EVENTS
    assert {row[0]: row[1] for row in rows("The policy")} == DEFAULTS
    raised = re.findall(r"(?m)^\| (K\d\d) \| (\S+) \| ([^|]+) \| (.+) \|$", REFERENCE)
    assert [(code, slug, tuple(re.findall(r"\w+", families)), when) for code, slug, families, when in raised] == list(CODES)


def test_the_hooks_of_the_reference_are_commands_that_run(yard: Yard) -> None:
    import json

    [block] = re.findall(r"```json\n(.*?)```", REFERENCE, re.DOTALL)
    commands = [entry["hooks"][0]["command"] for entries in json.loads(block)["hooks"].values() for entry in entries]
    assert [command.rsplit(" ", 1)[1] for command in commands] == ["start", "end", "compact"]
    for command in commands:
        assert yard(*command.split()[1:], stdin='{"session_id": "x"}').ok().err.count("no such") == 0
    assert {row["provider_event"] for row in yard.rows("provider.event.received")} == {"start", "end", "compact"}


def test_the_reference_has_every_value_of_a_record() -> None:
    table = {name: row[1] for row in rows("The record (`knowledge/v1`)") for name in re.findall(r"[\w.]+", row[0])}
    for field, values in (("class", CLASSES), ("status", STATUSES), ("epistemics", EPISTEMICS), ("relations", RELATIONS)):
        assert set(values) <= set(re.findall(r"[a-z_]+", table[field]))


def test_the_reference_names_every_command_and_no_other() -> None:
    said = " ".join(line for line in REFERENCE.split("## Commands")[1].split("\n## ")[0].splitlines() if line.startswith("|"))
    documented = {" ".join(words.split()) for words in re.findall(
        r"(?:majordomus )?((?:knowledge|session|task|decision|question|capture) [a-z]+|history|context|doctor|watch|check"
        r"|start|finish|recover)\b", said)}
    real = set()
    ctx = click.Context(majordomus)
    for name in majordomus.list_commands(ctx):
        command = majordomus.get_command(ctx, name)
        if isinstance(command, click.Group):
            real |= {f"{name} {sub}" for sub in command.list_commands(click.Context(command))}
        else:
            real.add(name)
    shorthand = {"knowledge nodes", "knowledge edges"}  # named after `knowledge sources` in one cell
    assert real - documented <= shorthand
    assert {name for name in documented if " " in name} <= real
    assert {command.name for command in kb_commands()} <= {name.split()[0] for name in real}
