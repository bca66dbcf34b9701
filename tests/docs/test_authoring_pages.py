"""Every command of the pages on writing, citing and adopting is run, in their order."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Shell
from tests.docs.transcripts import assert_printed_in_order

COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATH_LINE = ('export PATH="$PWD/.venv/bin:$PATH"', ":")


def run_page(sh: Shell, page: str, *changes: tuple[str, str], cwd: Path | None = None) -> str:
    """What the commands of a page print, run in one shell that stops at the first failure nobody announced.

    `changes` replace what a reader replaces too: a path, a model.
    """
    sh.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    script = "\n".join(COMMANDS.findall((REPOSITORY / page).read_text(encoding="utf-8")))
    for old, new in changes:
        assert old in script, f"{page} has no {old} any more"
        script = script.replace(old, new)
    modules = ":".join(path for path in (sh.env.get("PYTHONPATH", ""), *sys.path) if path)
    env = {"PATH": f"{sh.root}/bin:{sh.env['PATH']}", "PYTHONPATH": modules}
    return sh.run("sh", "-c", "set -eu\n" + script, env=env, cwd=cwd).ok().out


def test_writing_and_citing(sh: Shell) -> None:
    run_page(sh, "docs/tutorial/first-fleet.md", PATH_LINE)
    shelf = sh.root / "home/shelf"
    page = (REPOSITORY / "docs/how-to/write-and-cite.md").read_text(encoding="utf-8")
    out = run_page(sh, "docs/how-to/write-and-cite.md", cwd=shelf)
    [key] = [path.stem for path in (shelf / "fleet/ana/sources").iterdir()]
    assert_printed_in_order(PRINTED.findall(page), out.replace(str(sh.root / "home"), "~").replace(key, "<KEY>"))
    answer = sh.kb("route", "cutting speed of brass", "--json", cwd=shelf).ok().json()
    assert isinstance(answer, dict) and answer["verdict"] == "hit"
    assert "committed" in out and sh.kb("route", "zeppelin", cwd=shelf).ok()
    seen = sh.git("ls-files", "--cached", "--others", "--exclude-standard", cwd=shelf).out.splitlines()
    assert "fleet/ana/knowledge/cutting-brass.md" in seen
    assert [name for name in seen if name.endswith(".lock") or "misses" in name or ".kb/" in name] == []


def test_bringing_a_vault(sh: Shell) -> None:
    """Each command of the page prints what stands below it, and what its text promises holds."""
    sh.env["KB_SCORERS"] = "default"
    sh.write("home/vault/Backups.md", "---\naliases: [restore]\n---\n# Backups\n\nWe decided to keep three copies, one of them elsewhere. "
                                      "See [[Servers#Old]].\n")
    sh.write("home/vault/Servers.md", "# Servers\n\n## Old\n\nThe old server hums in the cellar.\n")
    sh.write("home/vault/projects/Boat.md", "# Boat\n\nThe keel is of larch.\n")
    sh.write("home/vault/Ideas.md", "")
    page = "docs/how-to/bring-your-own-vault.md"
    out = run_page(sh, page, ("kb check ~/vault", "kb check --ignore E02,W ~/vault"))
    assert_printed_in_order(PRINTED.findall((REPOSITORY / page).read_text(encoding="utf-8")), out.replace(str(sh.root / "home"), "~"))
    vault = sh.root / "home/vault"
    sh.write("home/vault/Backups.md", sh.read("home/vault/Backups.md").replace("restore, ", "restore, rescue, lost file, "))
    assert "Backups.md" in sh.kb("route", "how do we rescue a lost file?", vault).ok().out
    assert "Boat.md" not in sh.kb("list", vault).ok().out
    card = sh.read("home/vault/agent.txt")
    for line in ("private = journal/, people/", "private = nothing/"):
        sh.write("home/vault/agent.txt", f"{card}{line}\n")
        assert "Boat.md" in sh.kb("list", vault).ok().out
    made = {str(path.relative_to(vault)) for path in vault.rglob("*") if path.is_file()}
    named = re.compile(r"(agent\.txt|MAP\.md|kb-misses\.txt|\.kb/.*|\.kb-misses\.txt\.lock|.*(Backups|Servers|Ideas|Boat)\.md)")
    assert [name for name in made if not named.fullmatch(name)] == []


@pytest.mark.parametrize("name", ["kb-misses.txt", "kb-rounds.txt", "index.db", "trust.json", "blocks.txt", "kb-decided.txt"])
def test_the_page_of_files_names_what_is_on_disk(name: str) -> None:
    assert f"{name}`" in (REPOSITORY / "docs/reference/files.md").read_text(encoding="utf-8")
