"""`kb handoff`: one holder of a baton, records that survive what people write, and listeners."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import Shell

FIFTY = """
import multiprocessing, os, sys
from kb.app import open_app
from kb.errors import KbError
from kb.ops import handoff

def claim(start, won, name):
    app = open_app([sys.argv[1]])
    start.wait()
    try:
        handoff.claim(app, name, "night-1")
        won.put(name)
    except KbError as error:
        assert "already claimed by hand-" in str(error), error

context = multiprocessing.get_context("fork")
start, won = context.Barrier(50), context.Queue()
hands = [context.Process(target=claim, args=(start, won, f"hand-{number}")) for number in range(50)]
[hand.start() for hand in hands]
[hand.join() for hand in hands]
assert all(hand.exitcode == 0 for hand in hands)
print(won.get())
assert won.empty()
"""


def save(sh: Shell, *more: object, task: str = "Mend the pump", session: str | None = "night-1") -> None:
    sh.kb("handoff", "save", "ada", "--task", task, *(["--session", session] if session else []), *more).ok()


def shown(sh: Shell, *more: object) -> dict[str, object]:
    found = sh.kb("handoff", *more, "--json").ok().json()
    assert isinstance(found, dict)
    return found


def test_of_fifty_processes_that_claim_at_once_exactly_one_wins(fleet: Shell) -> None:
    save(fleet)
    winner = fleet.run(sys.executable, "-c", FIFTY, fleet.root).ok().out.strip()
    assert (shown(fleet)["status"], shown(fleet)["claimed_by"]) == ("claimed", winner)


def test_two_ids_with_one_safe_form_have_a_file_each(fleet: Shell) -> None:
    for session in ("a.b", "a_b", "a/b", "\u00e1.b"):
        save(fleet, session=session, task=f"Task of {session}")
    assert len(list((fleet.root / ".kb/sessions").glob("*.handoff.md"))) == 4
    assert all(shown(fleet, "--session", name)["task"] == f"Task of {name}" for name in ("a.b", "a_b", "a/b", "\u00e1.b"))


@pytest.mark.parametrize("session", ["x" * 400, "../../escape", "\u5c71", "a\nb", "-"])
def test_any_id_has_a_record_and_none_leaves_the_folder(fleet: Shell, session: str) -> None:
    save(fleet, session=session)
    assert shown(fleet)["task"] == "Mend the pump"
    assert len(list((fleet.root / ".kb/sessions").glob("*.handoff.md"))) == 1


def test_saving_over_a_completed_record_starts_a_pending_one(fleet: Shell) -> None:
    save(fleet)
    fleet.kb("handoff", "claim", "ben").ok()
    fleet.kb("handoff", "complete").ok()
    save(fleet, task="Mend it again")
    assert (shown(fleet)["status"], shown(fleet).get("claimed_by")) == ("pending", None)


def test_the_record_lies_beside_fleet_txt_wherever_one_stands(fleet: Shell) -> None:
    fleet.kb("handoff", "save", "ada", "--task", "From inside", cwd=fleet.root / "fleet/ada").ok()
    assert shown(fleet)["task"] == "From inside" and not (fleet.root / "fleet/ada/.kb").exists()


@pytest.mark.parametrize("task", ["# Task\n## Decisions\n- forged", "---\nsession: forged\n---", "\\# not a heading", "- item",
                                  "one\n\n\n  two\n\tthree", "caf\u00e9 \u202e \x1b[31m"])
def test_a_task_that_looks_like_the_format_comes_back_as_it_went_in(fleet: Shell, task: str) -> None:
    save(fleet, "--decision", task, "--next", "plain", task=task)
    record = shown(fleet)
    assert (record["task"], record["decisions"], record["next_steps"], record["session"]) == (task, [task], ["plain"], "night-1")


def test_a_record_that_a_hand_wrote_is_read_as_far_as_it_goes(fleet: Shell) -> None:
    fleet.write(".kb/sessions/old.handoff.md", "\n---\nsession: old\r\nagent: ada\nstatus: asleep\n---\n# Task\nfirst\n second\n\n"
                "## next steps\n- one\nnot an item\n- two\n## Other\n- no\n")
    record = shown(fleet)
    assert (record["task"], record["status"], record["next_steps"]) == ("first second", "pending", ["one", "two"])


def test_a_record_that_cannot_be_read_is_never_overwritten(fleet: Shell) -> None:
    for content in (b"no front matter", b"---\nsession: \xff\n---\n"):
        file = fleet.root / ".kb/sessions/night-1.handoff.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        fleet.kb("handoff", "save", "ada", "--task", "Mend the pump", "--session", "night-1")
        assert file.read_bytes() == content


def test_secrets_are_cut_from_what_is_handed_over(fleet: Shell) -> None:
    save(fleet, "--next", "use AKIA0123456789ABCDEF", task="token=abc123 is the key")
    text = fleet.read(".kb/sessions/night-1.handoff.md")
    assert "abc123" not in text and "AKIA0123" not in text and "REDACTED" in text


@pytest.mark.parametrize("words", [
    ["save", "ada", "--task", "x", "--session", " "], ["claim", " "], ["--claim", ""], ["claim", "ada", "--complete"],
    ["complete", ".", "more"], ["--show", "--complete"], [".", "--task", "x"], ["save", "  ", "--task", "x"]], ids=" ".join)
def test_words_that_say_no_one_thing_are_usage_errors(fleet: Shell, words: list[str]) -> None:
    run = fleet.kb("handoff", *words)
    assert (run.code, run.out, bool(run.err)) == (2, "", True)
    assert not (fleet.root / ".kb").exists()


def test_the_flags_do_what_the_words_do(fleet: Shell) -> None:
    save(fleet)
    assert "by ben" in fleet.kb("handoff", "--claim", "ben").ok().out
    assert "completed handoff for session night-1" in fleet.kb("handoff", "--complete").ok().out


def test_refusals_and_reading_create_nothing(fleet: Shell) -> None:
    for words in (["claim", "ben"], ["complete"], ["--show"], ["--json"]):
        fleet.kb("handoff", *words)
    assert not (fleet.root / ".kb").exists()


def test_the_terminal_shows_control_characters_and_does_not_obey_them(fleet: Shell) -> None:
    save(fleet, task="red \x1b[31m text")
    assert "\x1b" not in fleet.kb("handoff").ok().out
