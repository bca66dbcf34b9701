"""A person's acts: what they change, and what they leave byte for byte."""

from __future__ import annotations

import pytest

from tests.lifecycle.yard import CANDIDATES, CURATED, EPISODE, RECORD, Yard


def candidate(yard: Yard, text: str, name: str = "coil-cables") -> str:
    yard.write(f"{CANDIDATES}/{name}.md", text)
    return name


PENDING = RECORD.replace("status: verified", "status: candidate")


@pytest.mark.parametrize("name", ["../curated/x", "..", "README", "a/b", "-x", "", "x" * 300])
def test_an_id_that_is_none_names_no_candidate(yard: Yard, name: str) -> None:
    yard.write(f"{CANDIDATES}/README.md", "---\nkind: context\n---\n")
    assert yard("knowledge", "promote", "--", name, stdin="seen\n").code == 12
    assert yard("knowledge", "reject", "--reason", "x", "--", name).code == 12
    assert yard("knowledge", "record", "--", name).code == 12


def test_a_file_with_crlf_keeps_its_line_ends_and_every_other_line(yard: Yard) -> None:
    name = candidate(yard, PENDING.replace("\n", "\r\n"))
    yard("knowledge", "promote", name, stdin="Seen.\n").ok()
    text = yard.read(f"{CURATED}/{name}.md")
    assert text == (RECORD.replace("date: 2026-09-01", "date: 2026-09-20") + "\n# Evidence\n\nSeen.\n").replace("\n", "\r\n")


def test_sources_written_inline_or_not_at_all_gain_the_open_episode(yard: Yard) -> None:
    own = yard.start()
    inline = PENDING.replace("  derived_from:\n    - file:README.md\n", "  derived_from: [file:README.md]\n")
    bare = PENDING.replace("  derived_from:\n    - file:README.md\n", "").replace("coil-cables", "bare")
    for name, text, line in (("coil-cables", inline, f"  derived_from: [file:README.md, session:{own}]\n"),
                             ("bare", bare, f"  derived_from:\n    - session:{own}\n")):
        candidate(yard, text, name)
        yard("knowledge", "promote", name, stdin="Seen.\n").ok()
        assert line in yard.read(f"{CURATED}/{name}.md")
    yard("knowledge", "check").ok()


def test_a_promotion_never_overwrites_a_curated_record(yard: Yard) -> None:
    candidate(yard, PENDING)
    yard.write(f"{CURATED}/coil-cables.md", RECORD)
    before = yard.tree()
    assert yard("knowledge", "promote", "coil-cables", stdin="Seen.\n").code == 10
    after = yard.tree()
    assert {k: v for k, v in after.items() if "/locks/" not in k} == before


def test_a_candidate_whose_id_is_curated_leads_to_one_act_that_mends_it(yard: Yard) -> None:
    candidate(yard, PENDING)
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("Cables are", "Ropes are"))
    before = {k: v for k, v in yard.tree().items() if "/locks/" not in k}
    for words in (("promote", "coil-cables"), ("reject", "coil-cables", "--reason", "dup")):
        said = yard("knowledge", *words, stdin="Seen.\n")
        assert said.code == 10 and f"{CURATED}/coil-cables.md is already there" in said.err
        assert f"remove {CANDIDATES}/coil-cables.md" in said.err and "--by" not in said.err
        assert {k: v for k, v in yard.tree().items() if "/locks/" not in k} == before
    assert yard("knowledge", "check").code == 10
    (yard.root / CANDIDATES / "coil-cables.md").unlink()
    yard("knowledge", "check").ok()


@pytest.mark.parametrize(("stdin", "words"), [
    (b"\xff\xfe", ()), (b"  \n", ()), (b"ok\ntranscript: x\n", ()), (b"Seen.\n", ("--class", "Fact")), (b"\x00\n", ()),
])
def test_evidence_that_is_none_is_10_and_writes_nothing(yard: Yard, stdin: bytes, words: tuple[str, ...]) -> None:
    candidate(yard, PENDING)
    assert yard("knowledge", "promote", "coil-cables", *words, stdin=stdin).code == 10
    assert not (yard.root / CURATED).exists() and not yard.rows("knowledge.promoted")


@pytest.mark.parametrize("keys", ["a,,b", " ", "a\nb"])
def test_keys_that_are_none_are_2(yard: Yard, keys: str) -> None:
    candidate(yard, PENDING)
    assert yard("knowledge", "promote", "coil-cables", "--keys", keys, stdin="Seen.\n").code == 2


def test_keys_that_no_question_reaches_are_refused_or_left_out(yard: Yard) -> None:
    candidate(yard, PENDING)
    run = yard("knowledge", "promote", "coil-cables", "--keys", "the, of", stdin="Seen.\n")
    assert run.code == 2 and "no question reaches any of these keys: the, of" in run.err
    run = yard("knowledge", "promote", "coil-cables", "--keys", "the, cable", stdin="Seen.\n").ok()
    assert "left out 1 that no question reaches: the" in run.err
    assert "**Search for:** cable\n" in yard.read(f"{CURATED}/coil-cables.md")


def test_keys_stand_on_their_own_line_under_the_title(yard: Yard) -> None:
    candidate(yard, PENDING)
    yard("knowledge", "promote", "coil-cables", "--keys", "cable, coil", stdin="Seen.\n").ok()
    assert "# Cables are coiled clockwise\n\n**Search for:** cable, coil\n\nSo that" in yard.read(f"{CURATED}/coil-cables.md")


def test_a_rejection_needs_a_successor_that_exists_and_is_another_record(yard: Yard) -> None:
    candidate(yard, PENDING)
    for by in ("coil-cables", "../x", "none-such"):
        assert yard("knowledge", "reject", "coil-cables", "--reason", "x", "--by", by).code == 10
    assert yard("knowledge", "reject", "coil-cables", "--reason", "assistant: x").code == 10
    assert yard.read(f"{CANDIDATES}/coil-cables.md") == PENDING


def test_a_rejected_observation_stays_in_its_group_and_a_promoted_one_leaves_it(yard: Yard) -> None:
    for number in range(2):
        yard.note("observation.recorded", task_id="none", kind="friction", subject="src", statement=f"slips {number}",
                  evidence=[])
    paths = yard("knowledge", "derive", "--episode", EPISODE, "--json").ok().json()["written"]
    first, second = sorted(path.rsplit("/", 1)[1][:-3] for path in paths)
    yard("knowledge", "reject", first, "--reason", "no").ok()
    assert yard("knowledge", "candidates", "--json").json()["groups"][0]["rejected"] == [first]
    yard("knowledge", "promote", second, stdin="Seen.\n").ok()
    [group] = yard("knowledge", "candidates", "--json").json()["groups"]
    assert (group["candidates"], group["rejected"]) == ([], [first])


def test_a_record_that_does_not_parse_cannot_be_promoted_and_is_no_row(yard: Yard) -> None:
    candidate(yard, "no front matter\n")
    assert yard("knowledge", "promote", "coil-cables", stdin="Seen.\n").code == 10
    assert yard("knowledge", "candidates", "--json").ok().json()["total"] == 0
    assert yard("knowledge", "check").code == 10


def test_a_title_with_escapes_is_shown_and_not_obeyed(yard: Yard) -> None:
    candidate(yard, PENDING.replace("Cables are coiled clockwise", "\x1b[31mred\u202e"))
    out = yard("knowledge", "candidates").ok().out
    assert "\x1b" not in out and "\u202e" not in out and "\\x1b[31mred" in out


def test_a_link_that_leaves_the_repository_is_neither_read_nor_written(yard: Yard) -> None:
    outside = yard.root.parent / "outside.md"
    outside.write_text(PENDING)
    (yard.root / CANDIDATES).mkdir(parents=True)
    (yard.root / CANDIDATES / "coil-cables.md").symlink_to(outside)
    assert yard("knowledge", "promote", "coil-cables", stdin="Seen.\n").code == 12
    assert yard("knowledge", "record", "coil-cables").code == 12
    (yard.root / ".ai/local").symlink_to(yard.root.parent)
    assert yard("decision", "add", "x", "--why", "y").code == 13
    assert outside.read_text() == PENDING and not (yard.root.parent / "state").exists()


def test_a_promotion_killed_anywhere_leaves_whole_files_and_recovery_finishes_it(yard: Yard) -> None:
    import random
    import time

    chance = random.Random(5)
    evidence = yard.write("evidence.md", "Seen.\n")
    names = [f"cable-{number}" for number in range(6)]
    for name in names:
        candidate(yard, PENDING.replace("coil-cables", name), name)
        with evidence.open("rb") as stdin:
            process = yard.process("knowledge", "promote", name, stdin=stdin)
        until = time.monotonic() + chance.uniform(0.1, 0.35)
        while process.poll() is None and time.monotonic() < until:
            pass
        process.kill()
        process.communicate()
    yard("recover", "records").ok()
    assert yard("knowledge", "check", "--json").json()["failing"] == 0
    for name in names:
        places = [folder for folder in (CANDIDATES, CURATED) if (yard.root / folder / f"{name}.md").exists()]
        assert len(places) == 1


def test_a_candidate_beside_its_own_promotion_is_an_interrupted_one_and_no_other_is(yard: Yard) -> None:
    candidate(yard, PENDING)
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("Cables are", "Ropes are"))
    assert yard("recover", "records").ok().out == "recover records: 0 done\n"
    yard.write(f"{CURATED}/coil-cables.md", RECORD + "\n# Evidence\n\nSeen.\n")
    assert "coil-cables was promoted" in yard("recover").ok().out
    yard("recover", "records").ok()
    assert [row["id"] for row in yard.rows("knowledge.promoted")] == ["coil-cables"]
    assert not (yard.root / CANDIDATES / "coil-cables.md").exists()
