"""`kb panel`: keys of artifacts, the rubric with a constitution, and refusals that leave nothing behind."""

from __future__ import annotations

import pytest

from tests.conftest import Run, Shell


@pytest.fixture
def council(fleet: Shell) -> Shell:
    for name in ("ben", "eva"):
        fleet.write(f"fleet/{name}/blocks.txt", "[identity]\nAGENTS.md\n")
        fleet.write(f"fleet/{name}/AGENTS.md", f"# {name}\n\nNever promise a date to a member.\nBe kind\n")
    fleet.write("drafts/letter.md", "A letter to the members about the beans.\n")
    return fleet


def opened(sh: Shell, *reviewers: str, artifact: str = "drafts/letter.md") -> Run:
    return sh.kb("panel", artifact, "--owner", "ada", *[word for name in reviewers for word in ("--reviewer", name)])


def ledger(sh: Shell, artifact: str = "drafts/letter.md", **settings: object) -> dict[str, object]:
    found = sh.kb("panel", artifact, "--ledger", "--json", **settings).json()
    assert isinstance(found, dict)
    return found


def test_one_artifact_has_one_key_however_it_is_named(council: Shell) -> None:
    opened(council, "ben").ok()
    inside = council.root / "drafts"
    again = council.kb("panel", "letter.md", "--owner", "ada", "--reviewer", "eva", cwd=inside).ok()
    assert "eva joined" in again.out
    for name, place in (("./drafts/../drafts/letter.md", council.root), (str(inside / "letter.md"), council.root),
                        ("letter.md", inside), ("drafts/letter.md", council.root / "fleet/ada")):
        assert ledger(council, name, cwd=place)["still_out"] == ["ben", "eva"]


def test_a_line_of_the_reviewers_own_constitution_makes_an_objection_block(council: Shell) -> None:
    opened(council, "ben", "eva").ok()
    text = "It says Tuesday: never promise a date to a member."
    council.kb("panel", "drafts/letter.md", "--from", "ben", "--objection", text, "--blocking").ok()
    council.kb("panel", "drafts/letter.md", "--from", "eva", "--objection", "Be kind to the reader", "--blocking").ok()
    objections = ledger(council)["objections"]
    assert isinstance(objections, list) and [one["blocking"] for one in objections] == [True, False]


def test_a_blocking_slot_stays_used_once_the_objection_is_taken(council: Shell) -> None:
    opened(council, "ben").ok()
    for number, code in ((1, 0), (2, 2)):
        run = council.kb("panel", "drafts/letter.md", "--from", "ben", "--objection", "That is a false claim.", "--blocking")
        assert run.code == code
        if number == 1:
            council.kb("panel", "drafts/letter.md", "--resolve", "1", "--taken").ok()


def test_text_with_tabs_bars_and_line_ends_is_one_row_of_the_log_and_of_the_table(council: Shell) -> None:
    opened(council, "ben").ok()
    council.kb("panel", "drafts/letter.md", "--from", "ben", "--objection", "one\ttwo\nthree | four").ok()
    table = council.kb("panel", "drafts/letter.md", "--ledger").out
    assert "| 1 | ben | one two three \\| four | open |" in table
    assert len([line for line in council.read("kb-rounds.txt").splitlines() if line.count("\t") == 9]) == 2


@pytest.mark.parametrize("words", [
    ["--owner", "ada", "--reviewer", "ben", "--from", "ben", "--nothing"], ["--ledger", "--taken"],
    ["--resolve", "1", "--taken", "--nothing"], ["--taken"], ["--owner", "ben", "--reviewer", "eva"],
    ["--from", "ben", "--objection", " "], ["--from", "ben", "--nothing", "--why", "x"], ["--resolve", "0", "--taken"],
    ["--resolve", "1", "--taken", "--from", "eva"]], ids=" ".join)
def test_what_makes_no_sense_is_refused_and_changes_nothing(council: Shell, words: list[str]) -> None:
    opened(council, "ben").ok()
    council.kb("panel", "drafts/letter.md", "--from", "ben", "--objection", "A false claim.").ok()
    before = council.read("kb-rounds.txt")
    assert council.kb("panel", "drafts/letter.md", *words).code == 2
    assert council.read("kb-rounds.txt") == before


def test_answers_without_a_round_leave_nothing_behind(council: Shell) -> None:
    for words in (["--from", "ben", "--nothing"], ["--resolve", "1", "--taken"], ["--ledger"]):
        assert council.kb("panel", "drafts/letter.md", *words).code == 2
    assert not [path for path in council.root.iterdir() if "rounds" in path.name]


def test_an_artifact_that_is_no_text_costs_nothing_to_read_and_says_so(council: Shell) -> None:
    council.write("drafts/photo.png", b"\xff\xd8\x00")
    out = opened(council, "ben", artifact="drafts/photo.png").ok().out
    assert "not priced" in out and "reading         0" in out
    assert "not priced" in opened(council, "ben", artifact="https://example.org/a b").ok().out


def test_the_listing_takes_a_path_and_json(council: Shell) -> None:
    opened(council, "ben").ok()
    found = council.kb("panel", "--ledger", council.root, "--json", cwd=council.root / "home").ok().json()
    assert isinstance(found, dict) and [one["artifact"] for one in found["rounds"]] == ["drafts/letter.md"]
    assert council.kb("panel", "--ledger", cwd=council.root / "fleet/ada").ok().out.count("drafts/letter.md") == 1


def test_a_fourth_reviewer_is_refused_even_in_a_later_call(council: Shell) -> None:
    for name in ("cy", "dee"):
        council.write(f"fleet/{name}/agent.txt", "role = reads\n")
        council.write(f"fleet/{name}/blocks.txt", "[identity]\n")
    opened(council, "ben", "eva", "cy").ok()
    assert opened(council, "dee").code == 2 and not (council.root / ".kb/panel/dee-constitution.txt").exists()
