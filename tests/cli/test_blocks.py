"""`kb blocks`: what a constitution costs, and the constitution as it is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.core.blocks import artifact_tokens, parse_blocks, tokens, without_keys
from tests.conftest import Shell


@pytest.mark.parametrize(("line", "resident"), [
    ("[a]", True), ("[a] on-demand", False), ("[a]  ON-DEMAND  # later", False), ("[a] ondemand", True), ("[a] resident", True)])
def test_a_block_is_resident_unless_its_line_ends_in_on_demand(line: str, resident: bool) -> None:
    block, = parse_blocks(f"early.md\n{line}\n  AGENTS.md # the rules\n\n# nothing\n[broken\nMAP.md\n")
    assert block.name == "a" and block.resident is resident and block.files == ("AGENTS.md", "MAP.md")


@pytest.mark.parametrize(("text", "expected"), [
    ("a" * 400, 100), ("", 0), ("```\n" + "x" * 292 + "\n```\n", 102), ("    indented " + "y" * 386, 100),
    ("é" * 200, 100), ("`" * 2 + "z" * 398, 100), ("~~~\nopen to the end", 6), ("```a`b\n" + "w" * 392, 100)])
def test_tokens_are_bytes_over_two_rates(text: str, expected: int) -> None:
    assert tokens(text) == expected


def test_markup_files_are_code_from_end_to_end() -> None:
    assert artifact_tokens("page.HTML", "a" * 296) == 100 and artifact_tokens("page.md", "a" * 399) == 100


@pytest.mark.parametrize(("text", "sent"), [
    ("# T\n**Search for:** a,\n`b`, c\nprose\n", "# T\nprose\n"),
    ("# T\r\n**Search for:** a\r\n\r\nText\r\n", "# T\r\n\r\nText\r\n"),
    ("# T\nBuscar por: a\n", "# T\n"), ("we search for: things\n", "we search for: things\n"),
    ("```\nSearch for: an example\n```\n", "```\nSearch for: an example\n```\n"),
    ("no keys\x0c here", "no keys\x0c here")])
def test_key_lines_are_not_sent_and_every_other_byte_is(text: str, sent: str) -> None:
    assert without_keys(text) == sent


def test_a_block_reaches_the_person_and_nothing_outside_the_fleet_folder(fleet: Shell) -> None:
    fleet.write("secret.md", "outside")
    fleet.write("fleet/ada/AGENTS.md", "The rules.\n")
    (fleet.root / "fleet/ada/link.md").symlink_to("/etc/hostname")
    fleet.write("fleet/ada/blocks.txt", "[identity]\nAGENTS.md\n[user]\n../person/core.md\n../../secret.md\n"
                                        "/etc/hostname\nlink.md\nnone.md\n"
                                        "[later] on-demand\nMAP.md\n")
    told = fleet.kb("blocks", "fleet/ada").ok().out
    assert told.count("missing file:") == 4 and "core.md" not in told
    sent = fleet.kb("blocks", "fleet/ada", "--emit").ok().out
    assert sent.startswith("\n<!-- block: identity -->\n\nThe rules.\n\n\n<!-- block: user (key lines are left out) -->\n\n")
    assert "Lives by the river." in sent and "outside" not in sent and "Search for" not in sent and "What this base holds" not in sent


def test_the_table_adds_up(fleet: Shell) -> None:
    fleet.write("fleet/ada/a.md", "x" * 399)
    fleet.write("fleet/ada/b.md", "y" * 798)
    fleet.write("fleet/ada/blocks.txt", "[one]\na.md\n[two]\nb.md\n[three] on-demand\na.md\n")
    told = fleet.kb("blocks", cwd=fleet.root / "fleet/ada").ok().out
    assert "  1   one        resident       1       399       399       100         100" in told
    assert "  2   two        resident       1       798       798       200         300" in told
    assert "  3   three      on-demand      1       399       399       100           -" in told
    assert "resident: about 300 tokens" in told and "    one           300" in told and "    two           200" in told


@pytest.mark.parametrize("data", [None, b"\xff\xfe"])
def test_blocks_that_are_not_there_or_not_text_are_one_line(fleet: Shell, data: bytes | None) -> None:
    if data is not None:
        fleet.write("fleet/ada/blocks.txt", data)
    done = fleet.kb("blocks", "fleet/ada")
    assert done.code == 1 and done.out == "" and done.err.count("\n") == 1 and "bug" not in done.err


def test_reporting_writes_nothing(fleet: Shell) -> None:
    fleet.write("fleet/ada/blocks.txt", "[one]\nMAP.md\n")
    before = sorted(fleet.root.rglob("*"))
    fleet.kb("blocks", "fleet/ada").ok()
    assert [path for path in sorted(fleet.root.rglob("*")) if "home" not in path.parts] == [
        path for path in before if "home" not in path.parts]


def test_a_base_that_stands_alone_sends_no_file_that_merely_lies_beside_it(sh: Shell) -> None:
    sh.write("home/vault/agent.txt", "role = keeps notes\n")
    sh.write("home/vault/core.md", "My own.\n")
    sh.write("home/other/agent.txt", "role = keeps others\n")
    sh.write("home/other/core.md", "Of a base beside it.\n")
    for path in (".ssh/id", "letters/friend.md", "loose.md"):
        sh.write(f"home/{path}", "outside")
    (sh.root / "home/vault/out.md").symlink_to(sh.root / "home/loose.md")
    sh.write("home/vault/blocks.txt", "[all]\ncore.md\n../other/core.md\n"
                                      "../.ssh/id\n../letters/friend.md\n../loose.md\nout.md\n../letters/../.ssh/id\n")
    assert sh.kb("blocks", "home/vault").ok().out.count("missing file:") == 5
    sent = sh.kb("blocks", "home/vault", "--emit").ok().out
    assert "My own." in sent and "Of a base beside it." in sent and "outside" not in sent


def test_a_blocks_file_that_is_a_link_out_of_the_base_is_not_followed(sh: Shell) -> None:
    sh.write("home/vault/agent.txt", "role = keeps notes\n")
    sh.write("home/blocks.txt", "[all]\nagent.txt\n")
    (sh.root / "home/vault/blocks.txt").symlink_to(sh.root / "home/blocks.txt")
    done = sh.kb("blocks", "home/vault", "--emit")
    assert done.code == 1 and "leaves its base" in done.err and done.out == ""


def test_of_a_base_beside_it_a_block_sends_what_is_public_and_of_the_person_all(fleet: Shell) -> None:
    fleet.write("fleet/ben/records/diary.md", "outside")
    fleet.write("fleet/ben/open.md", "Ben's open page.")
    fleet.write("fleet/shut/agent.txt", "role = keeps\nprivate = .\n")
    fleet.write("fleet/shut/a.md", "outside")
    fleet.write("fleet/ada/records/own.md", "Ada's own record.")
    fleet.write("fleet/ada/blocks.txt", "[all]\n../ben/records/diary.md\n../ben/open.md\n../shut/a.md\nrecords/own.md\n../person/core.md\n")
    assert fleet.kb("blocks", "fleet/ada").ok().out.count("missing file:") == 2
    sent = fleet.kb("blocks", "fleet/ada", "--emit").ok().out
    assert "outside" not in sent and all(words in sent for words in ("Ben's open page.", "Ada's own record.", "Lives by the river."))


def _shut(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser reads everything")
    (folder / "gone").mkdir()
    (folder / "gone/core.md").write_text("outside")
    (folder / "gone").chmod(0)


WAYS_TO_BE_MISSING: dict[str, Callable[[Path], object]] = {
    "nothing is there": lambda fleet: None,
    "a file where a folder was meant": lambda fleet: (fleet / "gone").write_text("no folder"),
    "an empty folder": lambda fleet: (fleet / "gone").mkdir(),
    "a folder where the file was meant": lambda fleet: (fleet / "gone/core.md").mkdir(parents=True),
    "a loop of links": lambda fleet: (fleet / "gone").symlink_to("gone"),
    "a link that leads nowhere": lambda fleet: (fleet / "gone").symlink_to("further"),
    "a folder that may not be read": _shut,
}


@pytest.mark.parametrize("way", WAYS_TO_BE_MISSING)
def test_a_neighbour_that_cannot_be_read_is_a_missing_file_and_costs_nothing_else(fleet: Shell, way: str) -> None:
    fleet.write("fleet/ada/AGENTS.md", "The rules.\n")
    fleet.write("fleet/ada/blocks.txt", "[identity]\n../gone/core.md\n../gone/\nAGENTS.md\n")
    WAYS_TO_BE_MISSING[way](fleet.root / "fleet")
    try:
        told = fleet.kb("blocks", "fleet/ada").ok()
        assert "missing file: ../gone/core.md" in told.out and told.err == "" and "identity   resident       1" in told.out
        assert "The rules." in fleet.kb("blocks", "fleet/ada", "--emit").ok().out
    finally:
        if way.endswith("read"):
            (fleet.root / "fleet/gone").chmod(0o755)


def test_a_path_that_no_system_takes_is_a_missing_file(fleet: Shell) -> None:
    fleet.write("fleet/ada/AGENTS.md", "The rules.\n")
    fleet.write("fleet/ada/blocks.txt", f"[identity]\nA\0B.md\n../b\0/core.md\n{'x' * 5000}.md\nAGENTS.md\n")
    assert fleet.kb("blocks", "fleet/ada").ok().out.count("missing file:") == 3
