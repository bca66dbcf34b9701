"""Documentation is a contract: transcripts are true, links lead somewhere, and everything there is has its page."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Shell

PAGES = sorted(path for path in (REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *(REPOSITORY / "docs").rglob("*.md"),
                                 *(REPOSITORY / "examples").rglob("README.md")))
TRANSCRIPT = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def demo(sh: Shell) -> Path:
    """A copy of the demo fleet, indexed."""
    target = sh.root / "demo"
    shutil.copytree(REPOSITORY / "examples/demo", target, ignore=shutil.ignore_patterns(".kb", "kb-misses.txt*"))
    sh.env["KB_SCORERS"] = "default"
    sh.kb("index", ".", cwd=target).ok()
    return target


def test_the_transcripts_of_the_readme_are_what_the_commands_print(sh: Shell, demo: Path) -> None:
    blocks = TRANSCRIPT.findall((REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        command, _, expected = block.partition("\n")
        words = shlex.split(command.removeprefix("$ "))
        assert words[0] == "kb"
        assert sh.kb(*words[1:], cwd=demo).ok().out.rstrip() == expected.rstrip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    missing = [target for target in targets if "://" not in target and not target.startswith(("#", "mailto:"))
               and not (page.parent / target.partition("#")[0]).exists()]
    assert missing == []


def test_the_tour_shows_a_hit_a_guess_and_a_refusal(sh: Shell) -> None:
    import os
    import sys

    script = sh.script("kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    run = sh.run("sh", REPOSITORY / "examples/demo.sh", env={"KB": str(script), "KB_SCORERS": "default",
                                                             "PYTHONPATH": os.pathsep.join(sys.path)}).ok()
    assert [verdict for verdict in ("something here matches", "a guess", "nothing matched") if verdict not in run.out] == []


def test_every_environment_variable_that_the_code_reads_is_in_the_settings() -> None:
    read: set[str] = set()
    for path in (*(REPOSITORY / "kb").rglob("*.py"), *(REPOSITORY / "kb_plugins").rglob("*.py")):
        read |= set(re.findall(r"[\"'](KB_[A-Z_]+|MAJORDOMUS_[A-Z]+)[\"']", path.read_text(encoding="utf-8")))
    page = (REPOSITORY / "docs/reference/settings.md").read_text(encoding="utf-8")
    internal = {"KB_COMMIT", "KB_INSIDE_MODEL"}  # set for a child process, described where that is started
    assert sorted(name for name in read - internal if f"`{name}`" not in page) == []


def test_every_dependency_has_its_reason() -> None:
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=\[ ;]", item)[0] for item in project["dependencies"]]
    for extra in ("extract", "serve", "ui"):
        names += [re.split(r"[<>=\[ ;]", item)[0] for item in project["optional-dependencies"][extra]]
    page = (REPOSITORY / "docs/explanation/dependencies.md").read_text(encoding="utf-8")
    assert [name for name in names if name not in page] == []
