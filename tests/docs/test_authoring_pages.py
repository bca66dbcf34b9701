"""Every command of the pages on writing, citing and adopting is run, in their order."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Shell

COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_page(sh: Shell, page: str, *changes: tuple[str, str], cwd: Path | None = None) -> str:
    """What the commands of a page print, run in one shell that stops at the first failure nobody announced.

    `changes` replace what a reader replaces too: a path, a model.
    """
    sh.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    script = "\n".join(COMMANDS.findall((REPOSITORY / page).read_text(encoding="utf-8")))
    for old, new in changes:
        assert old in script, f"{page} has no {old} any more"
        script = script.replace(old, new)
    env = {"PATH": f"{sh.root}/bin:{sh.env['PATH']}", "PYTHONPATH": ":".join(path for path in sys.path if path)}
    return sh.run("sh", "-c", "set -eu\n" + script, env=env, cwd=cwd).ok().out


def test_writing_and_citing(sh: Shell) -> None:
    sh.git("init", "-q", "-b", "main")
    sh.write("fleet.txt", "name = Shelf\n")
    sh.kb("init", "ana").ok()
    out = run_page(sh, "docs/how-to/write-and-cite.md")
    assert 'Torno, Ada. "The Small Lathe". 1987. read in part, 2026-09-06.' in out and "committed" in out
    answer = sh.kb("route", "cutting speed of brass", "--json").ok().json()
    assert isinstance(answer, dict) and answer["verdict"] == "hit"


def test_bringing_a_vault(sh: Shell) -> None:
    sh.write("home/vault/Backups.md", "---\naliases: [restore]\n---\n# Backups\n\nWe keep three copies, one of them elsewhere. "
                                      "See [[Servers#Old]].\n")
    sh.write("home/vault/Servers.md", "# Servers\n\n## Old\n\nThe old server hums in the cellar.\n")
    out = run_page(sh, "docs/how-to/bring-your-own-vault.md", ("kb check ~/vault", "kb check --ignore E02,W ~/vault"))
    assert "created" in out and "+**Search for:** Backups, restore" in out and "none is written" in out
    assert "Search for" not in sh.read("home/vault/Backups.md")


@pytest.mark.parametrize("name", ["kb-misses.txt", "kb-rounds.txt", "index.db", "trust.json", "blocks.txt", "kb-decided.txt"])
def test_the_page_of_files_names_what_is_on_disk(name: str) -> None:
    assert f"{name}`" in (REPOSITORY / "docs/reference/files.md").read_text(encoding="utf-8")
