"""Documentation is a contract: transcripts are true, links lead somewhere, and everything there is has its page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Shell
from tests.docs.transcripts import assert_printed_in_order

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


def test_the_tour_shows_a_hit_a_guess_a_refusal_and_what_was_missed_and_what_to_type_next(sh: Shell) -> None:
    script = sh.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    shutil.copytree(REPOSITORY / "examples", sh.root / "examples", ignore=shutil.ignore_patterns(".kb", "kb-misses.txt*"))
    env = {"KB": str(script), "KB_SCORERS": "default", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    run = sh.run("sh", "examples/demo.sh", env=env).ok()
    assert [verdict for verdict in ("something here matches", "a guess", "nothing matched") if verdict not in run.out] == []
    toured, _, farewell = run.out.partition("That was a copy.")
    assert re.search(r"\$ kb misses\n.*1x  \S+  how do I renew my passport\?", toured, re.S)
    lines = re.findall(r"^    (.*)$", farewell, re.M)
    assert lines[0] == 'export PATH="$PWD/.venv/bin:$PATH"'
    typed = "\n".join(lines).replace(".venv/bin", "bin")
    assert "something here matches" in sh.run("sh", "-euc", typed, env=env).ok().out
    [page] = re.findall(r"docs/\S+\.md", farewell)
    assert (REPOSITORY / page).is_file()


def test_the_first_commands_of_the_readme_are_those_of_the_tour(sh: Shell) -> None:
    """`kb` is on no PATH after `make demo`: the README says how to put it there, as the tour does."""
    readme, tour = ((REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "examples/demo.sh"))
    _, block = re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S)
    assert block.splitlines() == re.findall(r"^    (export .*|kb .*)$", tour, re.M)


def test_lines_of_a_page_are_compared_in_their_order() -> None:
    printed = "one\ntwo\n\nthree\nfour\n"
    assert_printed_in_order(["one\n...\nthree\n", "four\n"], printed)
    for wrong in (["two\none\n"], ["one\nthree\n"], ["tw\n"], ["three\n", "one\n"]):
        with pytest.raises(AssertionError, match="the page says"):
            assert_printed_in_order(wrong, printed)


def test_no_page_asks_for_what_only_one_kind_of_sed_can() -> None:
    pages = [path for path in PAGES if re.search(r"\bsed -i\b", path.read_text(encoding="utf-8"))]
    assert pages == []


def test_what_the_readme_calls_derived_can_be_deleted_and_the_rest_stays(fleet: Shell) -> None:
    """Deleting the three files loses nothing, sessions and handoffs included; no server makes them, kb index does."""
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    [line] = [line for line in readme.splitlines() if "It never hides what it knows" in line]
    derived = re.findall(r"`([a-z]+(?:\.db|\.json|/))`", line)
    files = (REPOSITORY / "docs/reference/files.md").read_text(encoding="utf-8")
    disposable = re.findall(r"^\| `\.kb/(\S+)` \|.*\| disposable \|$", files, re.M)
    assert sorted(derived) == sorted(disposable)
    fleet.kb("index").ok()
    fleet.kb("handoff", "save", "ada", "--task", "mend the pump", "--session", "s1").ok()
    for name in derived:
        for place in (*fleet.root.rglob(f".kb/{name.rstrip('/')}*"),):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    asked = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kb_route","arguments":{"question":"flush the pump"}}}\n'
    assert "knowledge/pump.md" in fleet.kb("serve", ".", stdin=asked).ok().out
    kept = [path for base in fleet.root.glob("fleet/*") for path in base.rglob(".kb/*.db")]
    assert kept == [] and "mend the pump" in fleet.kb("handoff").ok().out
    fleet.kb("index").ok()
    assert len([*fleet.root.rglob(".kb/index.db")]) == len([*fleet.root.rglob(".kb/entries.db")]) > 1


def test_every_word_of_the_glossary_is_there_once() -> None:
    words = re.findall(r"^\| ([a-z ]+) \|", (REPOSITORY / "docs/reference/glossary.md").read_text(encoding="utf-8"), re.M)
    assert {"note", "base", "fleet", "key", "verdict", "owner", "deposit", "constitution", "roster", "chunk", "episode"} <= set(words)
    assert len(words) == len(set(words))


def test_makefile_names_no_target_that_it_has_no_rule_for() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    [phony] = re.findall(r"^\.PHONY: (.*)$", makefile, re.M)
    assert [name for name in phony.split() if not re.search(rf"^{name}:", makefile, re.M)] == []


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
