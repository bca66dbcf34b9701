"""The example plugin of a third party: a check, an extractor and a scorer that know kb by its door alone."""

from __future__ import annotations

import os
import re

import pytest

from tests.conftest import REPOSITORY, Shell, note
from tests.plugins.strangers import EXAMPLE, install_example

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


def test_the_page_about_writing_a_check_shows_the_example_as_it_is() -> None:
    page = (REPOSITORY / "docs/plugins/writing-a-check.md").read_text(encoding="utf-8")
    source = (EXAMPLE / "src/kb_plugin_example/x01_long_title.py").read_text(encoding="utf-8")
    assert f"```python\n{source}```" in page
    assert 'example-long-title = "kb_plugin_example.x01_long_title"' in page
