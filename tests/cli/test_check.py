"""`kb check`: formats that machines read, hostile names and texts, folders that are no base yet, and what stays on disk."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.conftest import Run, Shell

TWELVE = "anchor, ballast, capstan, davit, fender, galley, halyard, jib, keel, lantern, mast, oar"


def page(body: str = "", keys: str = TWELVE) -> str:
    return f"# Page\n\n**Search for:** {keys}\n\n{body}\n"


def quay(sh: Shell, files: dict[str, str], name: str = "quay") -> None:
    sh.write(f"{name}/MAP.md", "# Map\n")
    for path, text in files.items():
        sh.write(f"{name}/{path}", text)


def codes(run: Run) -> list[tuple[str, str]]:
    found = run.json()["findings"]  # type: ignore[index]
    return [(f["code"], f["file"] + (f":{f['line']}" if f["line"] else "")) for f in found]


# Formats


def test_sarif_follows_the_schema_and_names_files_as_uris_from_here(sh: Shell) -> None:
    from jsonschema import Draft202012Validator

    quay(sh, {"knowledge/a b%20 é,中.md": page("[[ghost]] — [[phantom]]", "oar"), "knowledge/bare.md": "# Bare\n",
              "sources/x.txt": "no record\n"})
    run = sh.kb("check", "quay", "--format", "sarif")
    log = run.json()
    schema = json.loads(Path(__file__).with_name("sarif-2.1.0-part.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(log)] == []
    (report,) = log["runs"]  # type: ignore[index]
    rules = report["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in report["results"])
    places = {unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for result in report["results"]}
    assert places == {"quay/knowledge/a b%20 é,中.md", "quay/knowledge/bare.md", "quay/sources/x.txt"}
    assert all((sh.root / place).is_file() for place in places)
    assert run.code == 1 and run.out.count("\n") == 1


def test_sarif_of_a_clean_base_is_a_run_without_results(sh: Shell) -> None:
    quay(sh, {})
    (report,) = sh.kb("check", "quay", "--format", "sarif").ok().json()["runs"]  # type: ignore[index]
    assert report["results"] == [] and report["tool"]["driver"]["rules"] == []


def test_github_commands_escape_what_would_end_them(sh: Shell) -> None:
    quay(sh, {"knowledge/a,b.md": page("[[100%::x]]")})
    (line,) = sh.kb("check", "quay", "--format", "github", "--select", "E01").out.splitlines()
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert "file=quay/knowledge/a%2Cb.md" in properties.split(",") and "line=5" in properties.split(",")
    assert "[[100%25::x]]" in message


def test_github_commands_keep_a_message_of_two_lines_on_one(sh: Shell) -> None:
    quay(sh, {"knowledge/a.md": page("[src:ABCDEFGHIJ]"),
              "sources/ABCDEFGHIJ.txt": "type = book\ntitle = Ropes\nretrieved_on = 2026-09-06\nretrieval_status = full\n"})
    (line,) = sh.kb("check", "quay", "--format", "github").out.splitlines()
    assert "%0A    - [src:ABCDEFGHIJ]" in line


def test_json_is_not_folded_and_the_total_counts_every_finding(sh: Shell) -> None:
    quay(sh, {"knowledge/a.md": page("[[ghost]]\n[[ghost]]")})
    assert codes(sh.kb("check", "quay", "--format", "json")) == [("E01", "knowledge/a.md:5"), ("E01", "knowledge/a.md:6")]
    assert sh.kb("check", "quay").out.splitlines()[-1] == "  2 errors, 0 warnings"


@pytest.mark.parametrize("format_", ["text", "github"])
def test_escape_sequences_of_a_note_never_reach_the_terminal(sh: Shell, format_: str) -> None:
    quay(sh, {"knowledge/\x1b[31mred.md": page("[[\x1b(0\x07\x9b31m\u202e]]")})
    run = sh.kb("check", "quay", "--format", format_)
    assert run.code == 1 and "red.md" in run.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", run.out)


# Filters


@pytest.mark.parametrize(("flags", "found"), [
    (["--select", "E01,W03"], ["E01", "W03"]), (["--select", "E01", "--select", "w"], ["E01", "W03", "W06"]),
    (["--ignore", "E", "--ignore", "W03"], ["W06"]), (["--select", "E,W", "--ignore", "W0"], ["E01"])])
def test_filters_take_comma_lists_and_repeat(sh: Shell, flags: list[str], found: list[str]) -> None:
    quay(sh, {"knowledge/a.md": page("[[ghost]] — x", "oar")})
    assert sorted({code for code, _ in codes(sh.kb("check", "quay", "--format", "json", *flags))}) == found


def test_a_prefix_that_no_code_has_is_a_usage_error(sh: Shell) -> None:
    quay(sh, {})
    for flag in ("--select", "--ignore"):
        run = sh.kb("check", "quay", flag, "E03")
        assert (run.code, run.out) == (2, "") and "E03" in run.err


def test_what_is_filtered_out_does_not_fail_a_strict_run(sh: Shell) -> None:
    quay(sh, {"knowledge/a.md": page("[[ghost]]", "oar")})
    assert sh.kb("check", "quay", "--strict", "--ignore", "E01,W06").ok().out.splitlines()[-1] == "  clean"


# Paths


def test_an_attached_folder_that_is_missing_is_an_error(sh: Shell) -> None:
    quay(sh, {}, "fleet/ada")
    sh.write("fleet.txt", "attach = shed/gone\n")
    run = sh.kb("check")
    assert run.code == 1 and "shed/gone" in run.err
    assert run.out.splitlines()[-1] == "  clean"


def test_a_missing_path_among_others_fails_the_run_and_the_rest_is_graded(sh: Shell) -> None:
    quay(sh, {})
    run = sh.kb("check", "nowhere", "quay")
    assert (run.code, run.out.splitlines()[-1]) == (1, "  clean")
    assert len([line for line in run.err.splitlines() if line.startswith("kb: cannot read ")]) == 1


def test_a_base_given_twice_is_graded_once(sh: Shell) -> None:
    quay(sh, {})
    assert sh.kb("check", "quay", "quay/../quay").ok().out.count("map: MAP.md") == 1


def test_links_that_leave_the_base_and_loops_are_told_and_not_followed(sh: Shell) -> None:
    quay(sh, {"knowledge/a.md": page()})
    sh.write("elsewhere/secret.md", "# Secret\n")
    (sh.root / "quay/out").symlink_to(sh.root / "elsewhere")
    (sh.root / "quay/knowledge/self").symlink_to(sh.root / "quay")
    (sh.root / "quay/dangling.md").symlink_to(sh.root / "nothing.md")
    run = sh.kb("check", "quay").ok()
    assert run.out.splitlines()[0] == "quay  (2 public files, map: MAP.md)"
    assert "secret.md" not in run.out and any(line.startswith("  skipped  out") for line in run.out.splitlines())


def test_nothing_on_disk_changes(fleet: Shell) -> None:
    def tree() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in fleet.root.rglob("*") if path.is_file() and "home" not in path.parts}

    before = tree()
    fleet.kb("check", "--all", "--strict")
    fleet.kb("check", "--format", "sarif")
    assert tree() == before


# Folders of ordinary notes


FORMS = """# Links

[[Tide table]], [[tide table]], [[Tide table#High water]], [[Tide table#^block-1|label]], [[Tide table|label]], ![[Tide table]]

[[charts/Harbour]], [[charts/Harbour.md]], [[./charts/Harbour]], [[Harbour.md#Depths]], [[charts]]

![[plan.png]], ![[plan.png|300]], ![[assets/plan.png]], [[manual.pdf#page=3]], ![[drawing.excalidraw]]

| a | b |
|---|---|
| [[Tide table\\|table]] | ![[plan.png\\|100]] |

> [!note] Callout
> See [[Harbour]].

- [ ] a task with [[Harbour]] ^block-2

%% a comment with [[no link]] %% [[[Harbour]]] $x_{[[no link]]}$ <img alt="[[no link]]">
[a](u "[[no link]]") <https://x.org/[[no_link]]> #tag [^1] [[#Links]] [[#^block-2]] [[1]](https://example.org) [[defined]]

[^1]: A footnote with [[Harbour]].

[defined]: charts/Harbour.md "Harbour"

[other]: charts/Harbour.md "[[no link]]"

[[Steps]], [[build/Steps]], [[build/Steps.md]], ![[chart.png]], [[{{date}}]], [[<% tp.date.now() %>]]

$$
[[no link]]
$$

%%
[[no link]]

[[no link]]
%%

`[[no link]]`, ``[[no ` link]]``, \\[[no link]], <!-- [[no link]] -->

```dataview
LIST FROM [[no link]]
```

```sh
if [[ -f x ]]; then echo "${a[[0]]}"; fi
```

    [[no link]]
"""


@pytest.fixture
def vault(sh: Shell) -> Shell:
    sh.write("vault/Links.md", "---\ntags: [sea]\naliases:\n  - Knots\ncssclass: wide\n---\n" + FORMS)
    sh.write("vault/Tide table.md", "# Tide table\n\n## High water\n\nText. ^block-1\n")
    sh.write("vault/charts/Harbour.md", "# Harbour\n\n## Depths\n\n[[../Tide table]]\n")
    sh.write("vault/charts/index.md", "# Charts\n")
    sh.write("vault/drawing.excalidraw.md", "---\nexcalidraw-plugin: parsed\n---\n# Drawing\n")
    sh.write("vault/.obsidian/workspace.md", "[[not even read]]\n")
    sh.write("vault/build/Steps.md", "# Steps\n")
    for name in ("plan.png", "assets/plan.png", "build/chart.png", "old/plan.png", "manual.pdf"):
        sh.write(f"vault/{name}", b"\x89PNG")
    return sh


def test_no_link_of_an_ordinary_vault_is_called_broken(vault: Shell) -> None:
    assert codes(vault.kb("check", "vault", "--format", "json", "--select", "E01,W01")) == []
    vault.write("vault/Broken.md", "[[Nobody wrote this]]\n")
    assert codes(vault.kb("check", "vault", "--format", "json", "--select", "E01")) == [("E01", "Broken.md:1")]


def test_a_broken_link_of_a_vault_is_not_told_that_paths_and_endings_are_wrong(vault: Shell) -> None:
    vault.write("vault/Broken.md", "[[charts/Nope]]\n[[nope.md]]\n[[nope.png]]\n[[Nope]]\n")
    found = vault.kb("check", "vault", "--format", "json", "--select", "E01").json()["findings"]  # type: ignore[index]
    assert [finding["message"] for finding in found] == [
        "[[charts/Nope]] is broken: there is no charts/Nope.md in this base", "[[nope.md]] is broken: there is no nope.md in this base",
        "[[nope.png]] is broken: there is no nope.png and no nope.png.md in this base",
        "[[Nope]] is broken: there is no Nope.md in this base"]


def test_a_broken_link_behind_a_tag_or_an_address_with_a_backtick_is_found(vault: Shell) -> None:
    vault.write("vault/Broken.md", "See <https://x.org/`y> [[missing]] and ` here.\n\n<a href=\"`\">t</a> [[missing]] ` x\n")
    assert codes(vault.kb("check", "vault", "--format", "json", "--select", "E01")) == [("E01", "Broken.md:1"), ("E01", "Broken.md:3")]


def test_a_vault_that_was_adopted_keeps_the_meaning_of_its_links(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    assert codes(vault.kb("check", "vault", "--format", "json", "--select", "E01,W01")) == []
    card = vault.read("vault/agent.txt")
    vault.write("vault/agent.txt", card.replace("links = vault", "links = exact"))
    assert ("E01", "Links.md:11") in codes(vault.kb("check", "vault", "--format", "json", "--select", "E01"))


def test_a_folder_of_ordinary_notes_is_told_what_to_do_next_once(vault: Shell) -> None:
    for number in range(60):
        vault.write(f"vault/daily/{number:03}.md", f"# Day {number}\n")
    run = vault.kb("check", "vault")
    assert run.code == 1 and run.out.count("kb init --adopt") == 2
    assert len(run.out.splitlines()) < 14
    shown = len(re.findall(r"^  error E02 ", run.out, re.MULTILINE))
    (more,) = re.findall(r"and (\d+) more E02", run.out)
    (total,) = re.findall(r"^  (\d+) errors, ", run.out, re.MULTILINE)
    assert shown + int(more) == int(total) == len(codes(vault.kb("check", "vault", "--format", "json")))


def test_a_declared_base_lists_every_note_without_keys(sh: Shell) -> None:
    quay(sh, {f"knowledge/{number}.md": "# N\n" for number in range(40)})
    run = sh.kb("check", "quay")
    assert run.out.count("error E02") == 40 and "kb init --adopt" not in run.out


@pytest.mark.parametrize(("vault", "broken"), [
    ("eips", set()), ("react-ptbr", set()), ("rust-book", set()),
    ("foam", {"cli-grep", "Getting started", "Graph Visualisation"}),
    ("zk-ronghuan-zh", {"iShot_2025-05-19_16.36.39.mp4"})])
def test_the_only_broken_links_of_public_vaults_lead_to_files_that_are_not_there(sh: Shell, data: Path, vault: str,
                                                                                         broken: set[str]) -> None:
    root = data / "vaults" / vault
    found = sh.kb("check", root, "--format", "json", "--select", "E01").json()["findings"]  # type: ignore[index]
    assert {re.findall(r"\[\[(.*?)\]\]", finding["message"])[0] for finding in found} == broken
    names = {path.name for path in root.rglob("*")} | {path.stem for path in root.rglob("*.md")}
    assert names.isdisjoint(broken)


@pytest.mark.parametrize("place", ["/", "home"])
def test_the_disk_and_a_home_directory_are_not_walked(sh: Shell, place: str) -> None:
    sh.write("home/note.md", "# N\n\n[[nowhere]]\n")
    sh.write("vault/MAP.md", "# V\n\n[[nowhere]]\n")
    done = sh.kb("check", place, "vault", timeout=30)
    assert done.code == 1 and "no place for a base" in done.err and done.err.count("\n") == 1
    assert "vault" in done.out and "note.md" not in done.out
