"""The example plugin of a third party: a check, an extractor and a scorer that know kb by its door alone."""

from __future__ import annotations

import os
import re
import shutil
import tomllib

import pytest

from tests.conftest import REPOSITORY, Shell, note
from tests.docs.test_authoring_pages import run_page
from tests.plugins.strangers import EXAMPLE, install, install_example

LONG = "How the pump in the lower field is flushed before winter when the inlet valve cannot be closed"
TALK = """WEBVTT - a talk

STYLE
::cue { color: red }

NOTE made by hand

1
00:00:01.000 --> 00:00:04.000 align:start
<v Ada>The pump is <i>flushed</i>
<v Ada>twice a year,

2
00:00:04.000 --> 00:00:05.000
twice a year,
and salt &amp; sand come out.

00:00:06.000 --> 00:00:08.000
<v.loud Ben>When?
"""
SPY = """
import sys
from kb.api import Check, Problem, hookimpl

opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" and str(args[0]).endswith("pump.md") else None)

def spy(view):
    note = next(note for note in view.notes if note.path.endswith("pump.md"))
    opened.clear()
    [getattr(note, name) for name in {asked}]
    yield Problem("members", 0, f"opened {{len(opened)}}")
    note.text, note.lines()
    yield Problem("text", 0, f"opened {{len(opened)}}")

@hookimpl
def kb_checks():
    return [Check("S01", "spy", "warning", spy, doc="S01 spy: x.")]
"""


@pytest.fixture
def guest(fleet: Shell) -> Shell:
    install_example(fleet)
    return fleet


def test_kb_plugins_lists_the_three_with_their_distribution(guest: Shell) -> None:
    rows = {row["name"]: row for row in guest.kb("plugins", "--json").ok().json()}
    ours = {name: row for name, row in rows.items() if name.startswith("example-")}
    assert {name: (row["state"], row["distribution"], row["hooks"]) for name, row in ours.items()} == {
        "example-long-title": ("on", "kb-plugin-example", ["kb_checks"]),
        "example-newest": ("on", "kb-plugin-example", ["kb_scorers"]),
        "example-vtt": ("on", "kb-plugin-example", ["kb_extractors"])}


def test_its_code_is_asked_by_kb_check_and_told_by_help(guest: Shell) -> None:
    guest.write("fleet/ada/knowledge/pump.md", note(LONG, "pump, valve", "x."))
    run = guest.kb("check", "--select", "X").ok()
    assert re.search(rf"  warn  X01  knowledge/pump\.md +the title has {len(LONG)} characters", run.out)
    assert re.search(r"\bX01\s+long-title\b", guest.kb("--help").ok().out)
    assert "X01" not in guest.kb("check", env={"KB_DISABLE_PLUGINS": "example-long-title"}).out


def test_its_scorer_is_chosen_by_name_and_ranks_the_newest_first(guest: Shell) -> None:
    guest.write("fleet/eva/knowledge/pump-house.md", note("Pump house", "pump, house", "say where the pump stands."))
    os.utime(guest.root / "fleet/ada/knowledge/pump.md", (1_000_000_000, 1_000_000_000))
    found = guest.kb("route", "pump", "--json", env={"KB_SCORERS": "classic newest"}).ok().json()
    why = {result["path"]: result["why"] for result in found["results"]}
    assert any("newest #1" in reason for reason in why["knowledge/pump-house.md"])
    assert any("newest #2" in reason for reason in why["knowledge/pump.md"])
    without = guest.kb("route", "pump", "--json").ok().json()
    assert not any("newest" in reason for result in without["results"] for reason in result["why"])


def test_its_extractor_reads_subtitles(guest: Shell) -> None:
    path = guest.write("talk.vtt", TALK)
    text = guest.kb("ingest", path, "--dry-run")
    assert "no plugin reads" not in text.err and "vtt" not in text.err.lower().replace("talk.vtt", "")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("vtt", EXAMPLE / "src/kb_plugin_example/vtt.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.extract(path) == "Ada: The pump is flushed twice a year, and salt & sand come out.\n\nBen: When?\n"
    with pytest.raises(Exception, match="begin with WEBVTT"):
        module.extract(guest.write("other.vtt", "1\n00:00 --> 00:01\nx\n"))


def test_it_imports_nothing_of_kb_but_the_door() -> None:
    for path in sorted((EXAMPLE / "src").rglob("*.py")):
        imports = re.findall(r"^\s*(?:from|import) (kb\S*)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(imports) <= {"kb.api"}, path


def test_the_commands_of_its_readme_show_each_of_the_three(guest: Shell) -> None:
    shutil.copytree(REPOSITORY / "examples", guest.root / "examples", ignore=shutil.ignore_patterns(".kb", "kb-misses.txt*", "__pycache__"))
    out = run_page(guest, "examples/kb-plugin-example/README.md", ("$PWD/.venv/bin:$PATH", "$PATH"))
    assert re.search(r"^on +example-vtt ", out, re.M) and re.search(r"^  warn  X01  knowledge/damp-oven\.md", out, re.M)
    assert "newest #1" in out and out.rstrip().endswith("talk.vtt would be staged into baker/inbox and distilled there. Nothing moved.")


@pytest.fixture
def author(fleet: Shell) -> Shell:
    """A reader of the page about checks who did what it says: the two files are there, the rest is pip's work."""
    page = (REPOSITORY / "docs/plugins/writing-a-check.md").read_text(encoding="utf-8")
    [source], [project] = (re.findall(rf"^```{kind}\n(.*?)^```", page, re.M | re.S) for kind in ("python", "toml"))
    told = tomllib.loads(project)
    assert set(told) == {"build-system", "project"} and told["project"]["dependencies"] == ["kb-catalogue"]
    [(name, module)] = told["project"]["entry-points"]["kb.plugins"].items()
    install_example(fleet)
    install(fleet, told["project"]["name"], {f"{module}/__init__": source}, {name: module})
    return fleet


def test_the_check_of_its_page_works_beside_the_example(author: Shell) -> None:
    author.write("fleet/ada/knowledge/pump.md", note("FLUSH THE PUMP BEFORE WINTER", "pump, valve", "x."))
    author.write("fleet/ada/knowledge/pdf.md", note("PDF", "pdf", "x."))
    assert author.kb("check", "--select", "T,X").ok().out.count("T01") == 1
    out = run_page(author, "docs/plugins/writing-a-check.md", ("pip install -e my-checks\n", ""))
    assert re.search(r"^on +my-shouting-title ", out, re.M) and re.search(r"^on +example-long-title ", out, re.M)
    assert "the title is written in capitals: Flush the pump before winter would do" in out
    assert re.search(r"^    T01 +shouting-title +warning$", author.kb("--help").ok().out, re.M)


def test_only_the_text_of_a_note_is_read_when_a_check_asks(author: Shell) -> None:
    """The promise of the page: with an index, every member but `text` and `lines()` costs no look at the file."""
    author.kb("index").ok()
    install(author, "spy", {"spy": SPY.format(asked=["header", "links", "citations", "bibliography", "dashes"])}, {"spy": "spy"})
    said = dict(re.findall(r"S01 +(\S+) +(opened \d+)", author.kb("check", "fleet/ada", "--select", "S").ok().out))
    assert said == {"members": "opened 0", "text": "opened 2"}
