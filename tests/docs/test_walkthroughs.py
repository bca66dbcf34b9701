"""The pages that a newcomer follows are run from top to bottom, in their order; what they promise is what happens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kb.cli.verbs import VERBS
from tests.conftest import REPOSITORY, Shell
from tests.docs.test_authoring_pages import COMMANDS, PATH_LINE, run_page
from tests.docs.transcripts import assert_printed_in_order

FENCES = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCS = sorted((REPOSITORY / "docs").rglob("*.md"))


@pytest.fixture
def shelf(sh: Shell) -> Path:
    """What the first tutorial leaves behind."""
    run_page(sh, "docs/tutorial/first-fleet.md", PATH_LINE)
    return sh.root / "home/shelf"


def test_the_first_tutorial_gives_a_hit_a_refusal_and_a_healthy_library(sh: Shell) -> None:
    out = run_page(sh, "docs/tutorial/first-fleet.md", PATH_LINE)
    hit, nothing = re.findall(r"^question: .*?Verdict: [^\n]*", out, re.MULTILINE | re.DOTALL)
    assert "owner:    ana" in hit and hit.endswith("something here matches")
    assert "owner" not in nothing and nothing.endswith("nothing matched")
    assert "1x  2026-09-20  when is the moon full?" in out
    assert "error" not in sh.kb("check", cwd=sh.root / "home/shelf").ok().out.replace("0 errors", "")


def test_an_agent_is_wired_as_the_page_says(sh: Shell, shelf: Path) -> None:
    sh.script("bin/claude", "case $(cat) in *'THE FILES:'*) echo 'FILE ana/knowledge/rollback.md: facts below' ;; esac\n"
                            "echo '- Restore the previous image. (ana/knowledge/rollback.md)'\n")
    out = run_page(sh, "docs/how-to/wire-an-agent.md", ("path/to/kb", str(REPOSITORY)),
                   ("tools/ollama.py qwen3:4b", "tools/claude.sh classifier"), ("tools/ollama.py tools/", "tools/claude.sh tools/"),
                   cwd=shelf)
    assert out.startswith("VESTA: this message routes to ana.")
    assert "captured session night-1 into" in out and "saved handoff" in out
    assert out.count("Restore the previous image. (ana/knowledge/rollback.md)") >= 2
    assert sorted(path.name for path in (shelf / ".claude/hooks").iterdir()) == [
        "kb-boot.sh", "kb-pre-compact.sh", "kb-session-end.sh"]
    assert "deploys freeze on Fridays" in (shelf / "fleet/ana/inbox/2026-09-20-session-night-1.md").read_text(encoding="utf-8")


def test_the_loop_closes_as_the_page_shows(sh: Shell) -> None:
    """A miss, its proposal and the verdict of the gate, line by line as they are printed there."""
    page = (REPOSITORY / "docs/how-to/close-the-loop.md").read_text(encoding="utf-8")
    missed, gold, applied, _ = FENCES.findall(page)
    harbour = sh.root / "harbour"
    harbour.mkdir()
    sh.env["KB_SCORERS"] = "default"
    (harbour / "fleet.txt").write_text("name = Harbour\n")
    sh.kb("init", "ana", cwd=harbour).ok()
    (harbour / "fleet/ana/index.md").unlink()
    for slug, keys, body in (("rollback", "rollback, deploy, release, undo a deploy", "Stop, then restore the previous image."),
                             ("backups", "backup, snapshot retention", "Thirty days of them.")):
        sh.kb("write", "ana", slug, "--keys", keys, "--summary", f"about {slug}", stdin=f"{body}\n", cwd=harbour).ok()
    sh.kb("index", cwd=harbour).ok()
    question = re.findall(r"^    2x  \S+  (.*)", missed, re.MULTILINE)[0]
    for _ in range(2):
        assert "nothing matched" in sh.kb("route", question, cwd=harbour).ok().out
    (harbour / "gold.tsv").write_text(gold, encoding="utf-8")
    for block in (missed, applied):
        command, *promised = block.splitlines()
        printed = sh.kb(*command.removeprefix("$ kb ").split(), cwd=harbour).ok().out.replace(str(sh.root), "/home/you")
        assert_printed_in_order(["\n".join(promised) + "\n"], printed)
    assert "owner:    ana" in sh.kb("route", question, cwd=harbour).ok().out


def test_the_readme_of_the_demo_fleet_runs(sh: Shell) -> None:
    shutil.copytree(REPOSITORY / "examples/demo", sh.root / "examples/demo", ignore=shutil.ignore_patterns(".kb", "kb-misses.txt*"))
    out = run_page(sh, "examples/demo/README.md")
    assert re.findall(r"Verdict: (something|a guess|nothing)", out) == ["something", "a guess", "nothing"]
    assert "gold:     13 questions, 10 answerable" in out and "5 sources in 3 bases" in out and out.count("clean") == 3


def test_the_commands_for_other_hosts_run(sh: Shell, shelf: Path) -> None:
    copying, _other = COMMANDS.findall((REPOSITORY / "examples/hooks/README.md").read_text(encoding="utf-8"))
    out = run_page(sh, "examples/hooks/README.md", (copying, 'MESSAGE="how do I undo a deploy?" SESSION=s1\n'))
    assert out.startswith("VESTA: this message routes to ana.") and "captured session s1 into" in out


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_page_is_one_click_from_the_readme(page: Path) -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"({page.relative_to(REPOSITORY)})" in text


@pytest.mark.parametrize("page", [REPOSITORY / "README.md", *DOCS], ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_verb_and_option_that_a_page_names_exists(page: Path) -> None:
    """`kb VERB ... --option` in code: the verb is one, and the option is in what the reference says about it."""
    reference = (REPOSITORY / "docs/reference/verbs.md").read_text(encoding="utf-8")
    sections = {title.split()[0]: body for title, body in re.findall(r"^## kb (.+?)\n(.*?)(?=^## |\Z)", reference, re.M | re.S)}
    text = page.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```(?:sh|console|)\n(.*?)^```", text, re.M | re.S)).replace("\\\n", " ")
    lines = [line.split(" #")[0].removeprefix("$ ") for line in code.splitlines()] + re.findall(r"`(kb [^`\n]*)`", text)
    wrong = []
    for line in lines:
        for verb, words in re.findall(r"(?:^|[|;&] |`)kb ([a-z]+)\b([^|;&]*)", line.strip()):
            if verb not in sections:
                wrong.append(f"kb {verb}")
            wrong += [f"kb {verb} {word}" for word in re.findall(r"(?<= )--[a-z][a-z-]*", words)
                      if f"{word}" not in sections.get(verb, word)]
    assert wrong == []


def test_every_verb_has_its_exit_codes() -> None:
    page = (REPOSITORY / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
    assert [verb.name for verb in VERBS if f"`{verb.name}`" not in page and f"`{verb.name} " not in page] == []


def test_every_key_that_the_code_reads_of_fleet_and_agent_txt_is_described_and_no_other() -> None:
    page = (REPOSITORY / "docs/reference/fleet-txt.md").read_text(encoding="utf-8")
    rows = {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`([a-z_]+)`", row)}
    code = "\n".join(path.read_text(encoding="utf-8") for folder in ("kb", "kb_plugins") for path in (REPOSITORY / folder).rglob("*.py"))
    read = set(re.findall(r"(?:manifest|card|parse_manifest\(.*\))\.(?:last|all)\(\"([a-z_]+)\"", code))
    assert sorted(read - rows) == [] and sorted(name for name in rows if f'"{name}"' not in code) == []


def test_the_page_of_files_has_each_file_once() -> None:
    page = (REPOSITORY / "docs/reference/files.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| \[?(`.+?) \|", page, re.M)
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_answerer_of_its_page_answers(fleet: Shell) -> None:
    page = (REPOSITORY / "docs/plugins/answerers.md").read_text(encoding="utf-8")
    [source] = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    fleet.write("site/first_answerer.py", source)
    fleet.write("site/mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    fleet.write("site/mine-1.dist-info/entry_points.txt", "[kb.plugins]\nfirst = first_answerer\n")
    fleet.write("fleet.txt", "name = Orchard\nanswerer = first\n")
    fleet.kb("index").ok()
    run = fleet.kb("answer", "flush the pump", env={"PYTHONPATH": str(fleet.root / "site")}).ok()
    assert "(ada/knowledge/pump.md)" in run.out.splitlines()[0] or "sources served: ada/knowledge/pump.md" in run.out


def test_our_own_prose_passes_our_own_linter(sh: Shell) -> None:
    shutil.copytree(REPOSITORY / "docs", sh.root / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, sh.root / "docs")
    found = sh.kb("check", "docs", "--select", "E01,W03", "--format", "json").json()["findings"]  # type: ignore[index]
    lines = {(each["file"], each["line"]): sh.read(f"docs/{each['file']}").splitlines()[each["line"] - 1] for each in found}
    assert [place for place, line in lines.items() if not line.startswith("<LEVEL>")] == []  # a line that doctor prints
