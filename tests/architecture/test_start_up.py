"""Start-up is a feature: what a hot verb may load, and what it must never load."""

from __future__ import annotations

import json
import sys

import pytest

from tests.conftest import Shell

HEAVY = {"stevedore", "importlib.metadata", "yaml", "mcp", "pydantic", "starlette", "uvicorn", "jinja2", "asyncio", "logging",
         "markdown_it", "pypdf", "docx", "bs4", "odf", "difflib", "argparse", "unittest", "http.client", "filelock", "pathspec",
         "subprocess", "traceback", "tempfile", "email"}

LOADED = """
import json, sys
from kb.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(sh: Shell, *words: str, stdin: str = "") -> set[str]:
    """The modules in memory after one command line, run a second time so that discovery is remembered."""
    for _ in range(2):
        run = sh.run(sys.executable, "-c", LOADED, *words, stdin=stdin)
    code, modules = json.loads(run.err.splitlines()[-1])
    assert code == 0, run
    return set(modules)


@pytest.fixture
def indexed(fleet: Shell) -> Shell:
    fleet.kb("index", ".").ok()
    return fleet


@pytest.mark.parametrize("words", [("route", "how is the pump flushed"), ("route", "pump", "--json"), ("fleet",), ("list",)])
def test_a_hot_verb_loads_nothing_heavy(indexed: Shell, words: tuple[str, ...]) -> None:
    assert loaded(indexed, *words) & HEAVY == set()


def test_a_question_loads_scorers_and_no_other_plugin(indexed: Shell) -> None:
    plugins = {name for name in loaded(indexed, "route", "pump") if name.startswith("kb_plugins.")}
    assert {name.split(".")[1] for name in plugins} <= {"scorers", "text", "stems"}


def test_the_version_loads_neither_click_nor_pluggy(fleet: Shell) -> None:
    assert loaded(fleet, "--version") & (HEAVY | {"click", "pluggy", "sqlite3", "kb.host"}) == set()


def test_boot_without_a_classifier_loads_nothing_heavy(indexed: Shell) -> None:
    assert loaded(indexed, "boot", "--text", stdin="how is the pump flushed?") & HEAVY == set()
