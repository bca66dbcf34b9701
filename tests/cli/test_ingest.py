"""`kb ingest` as a process: a document is never lost, never destroyed without a note, and never half moved."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.test_promote import CUT, background, until
from tests.conftest import Shell
from tests.models import ACCEPT, REJECT, prompts, proposal, rows, stand_in

MEMO = "A night at the pier costs nine.\nThe letter to the members says so.\n"
NOTE = "fleet/ada/knowledge/mooring-fees.md"
FEES = proposal("mooring-fees", "mooring, mooring fee, berth price", body="# Mooring fees\n\nA night costs nine.")
DEPOSIT = "2026-09-20-pier-memo.txt"


@pytest.fixture
def desk(fleet: Shell) -> Shell:
    fleet.env["KB_TRUST"] = "1"
    stand_in(fleet, "promoter", FEES)
    stand_in(fleet, "reviewer", ACCEPT)
    fleet.write("desk/Pier Memo.txt", MEMO)
    return fleet


def ingest(sh: Shell, *words: object, document: str = "desk/Pier Memo.txt", agent: str = "ada", **settings: object):
    return sh.kb("ingest", sh.root / document, sh.root, "--agent", agent, *words, **settings)


def inbox(sh: Shell, agent: str = "ada") -> list[str]:
    """What is in the inbox; hidden files are what a killed write leaves."""
    home = sh.root / "fleet" / agent / "inbox"
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file() and path.name[0] != ".")


# -- absorbed ----------------------------------------------------------------------------------------------------------


def test_it_tells_where_everything_is_while_it_goes(desk):
    run = ingest(desk).ok()
    home = f"{desk.root}/fleet/ada/inbox"
    assert run.out == (
        f"staged  {home}/{DEPOSIT}\n        original at {home}/raw/{DEPOSIT}\n"
        f"  wrote   ada/mooring-fees\n          {desk.root}/{NOTE}\n          from ada/inbox/{DEPOSIT}\n"
        f"removed {home}/raw/{DEPOSIT}\nremoved {home}/{DEPOSIT}\n"
        "\n1 note(s) written. The document is gone; its notes name where it came from.\n")
    assert inbox(desk) == [] and list((desk.root / "desk").iterdir()) == []


def test_the_deposit_says_where_it_came_from_while_the_models_read_it(desk):
    ingest(desk)
    [prompt] = prompts(desk, "promoter")
    assert "provenance: external\nstage: raw\n" in prompt and f"staged_from: {desk.root}/desk/Pier Memo.txt" in prompt
    assert f"staged_raw: {desk.root}/fleet/ada/inbox/raw/{DEPOSIT}" in prompt and MEMO.strip() in prompt


def test_the_router_says_whom_it_chose(desk):
    run = desk.kb("ingest", desk.root / "desk/Pier Memo.txt", desk.root).ok()
    assert run.out.startswith("routed to ben (score ") and (desk.root / "fleet/ben/knowledge/mooring-fees.md").exists()


@pytest.mark.parametrize(("text", "named"), [("zzz qqq\n", "--agent"), ("spade rake\n", "equally well")])
def test_a_document_that_fits_nobody_or_two_alike_is_not_guessed_at(desk, text, named):
    desk.write("fleet/ada/knowledge/one.md", "# A\n\n**Search for:** spade\n")
    desk.write("fleet/ben/knowledge/two.md", "# A\n\n**Search for:** rake\n")
    desk.write("desk/x.txt", text)
    run = desk.kb("ingest", desk.root / "desk/x.txt", desk.root)
    assert run.code == 1 and named in run.err and (desk.root / "desk/x.txt").exists() and prompts(desk, "promoter") == []


def test_a_base_that_owns_no_questions_can_still_be_given_a_document_by_name(desk):
    os.remove(desk.root / "fleet/ada/agent.txt")
    ingest(desk, agent="ADA").ok()
    assert (desk.root / NOTE).exists()


# -- kept --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("role", "reply", "after", "told"), [
    ("reviewer", REJECT, "", "no note came of it: 1 proposed, 1 refused"), ("promoter", "NOTHING", "", "no note came of it: 0 proposed"),
    ("reviewer", ACCEPT, "exit 3", "not complete"), ("promoter", FEES, "exit 3", "not complete")])
def test_a_document_without_a_note_is_kept_whole_and_told_where(desk, role, reply, after, told):
    stand_in(desk, role, reply, after=after)
    run = ingest(desk)
    raw = f"{desk.root}/fleet/ada/inbox/raw/{DEPOSIT}"
    assert run.code == 1 and told in run.out and f"the document is at {raw}" in run.out and Path(raw).read_text() == MEMO
    assert inbox(desk) == [DEPOSIT, f"raw/{DEPOSIT}"]


def test_after_an_outage_the_same_line_finishes_what_was_begun(desk):
    stand_in(desk, "reviewer", ACCEPT, after="exit 3")
    assert ingest(desk).code == 1 and not (desk.root / "desk/Pier Memo.txt").exists()
    stand_in(desk, "reviewer", ACCEPT)
    run = ingest(desk).ok()
    assert "(by an earlier run)" in run.out and inbox(desk) == [] and (desk.root / NOTE).exists()


def test_an_older_document_of_the_same_name_does_not_prove_that_this_one_was_absorbed(desk):
    ingest(desk).ok()
    desk.write("desk/Pier Memo.txt", "Another text of the same name.\n")
    stand_in(desk, "reviewer", REJECT)
    stand_in(desk, "promoter", proposal("berths"))
    assert ingest(desk).code == 1
    assert inbox(desk) == [DEPOSIT, f"raw/{DEPOSIT}"]


@pytest.mark.parametrize("place", ["desk", "post"])
@pytest.mark.parametrize("body", ["# Mooring fees\n\nIt costs ten now.", "# Mooring fees\n\nA night costs nine."])
def test_a_second_document_of_one_name_does_not_inherit_the_note_of_the_first(desk, place, body):
    """Neither when the promoter says something else of it under the same name nor when it says the very same."""
    ingest(desk).ok()
    before, other = desk.read(NOTE), "The letter of the next day: ten from May on.\n"
    desk.write(f"{place}/Pier Memo.txt", other)
    stand_in(desk, "promoter", proposal("mooring-fees", "mooring, mooring fee, berth price", body=body))
    for _ in range(2):
        run = ingest(desk, document=f"{place}/Pier Memo.txt")
        assert run.code == 1 and "has a note of that name already" in run.err and "wrote" not in run.out
        assert desk.read(f"fleet/ada/inbox/raw/{DEPOSIT}") == other and inbox(desk) == [DEPOSIT, f"raw/{DEPOSIT}"]
    assert desk.read(NOTE) == before and len(prompts(desk, "reviewer")) == 3


def test_without_the_memory_of_decisions_a_document_does_not_inherit_a_note_either(desk):
    ingest(desk).ok()
    os.remove(desk.root / "kb-decided.txt")
    desk.write("desk/Pier Memo.txt", "The letter of the next day.\n")
    assert ingest(desk).code == 1 and inbox(desk) == [DEPOSIT, f"raw/{DEPOSIT}"]


def test_the_very_same_document_again_writes_nothing_and_is_kept(desk):
    ingest(desk).ok()
    desk.write("desk/Pier Memo.txt", MEMO)
    run = ingest(desk)
    assert run.code == 1 and "decided before" in run.out and f"raw/{DEPOSIT}" in inbox(desk)
    assert len(prompts(desk, "promoter")) == 1


def test_keep_copies_leaves_the_document_and_a_later_run_without_it_finishes_the_job(desk):
    document = desk.root / "desk/Pier Memo.txt"
    before = os.stat(document)
    run = ingest(desk, "--keep").ok()
    assert "kept: --keep was given" in run.out and document.read_text() == MEMO and os.stat(document).st_ino == before.st_ino
    assert ingest(desk, "--keep").code == 0 and len(prompts(desk, "promoter")) == 1
    ingest(desk).ok()
    assert not document.exists() and inbox(desk) == [] and (desk.root / NOTE).exists()


def test_a_document_with_a_key_line_claims_no_question_while_it_is_a_deposit(desk):
    desk.write("desk/n.md", "# N\n\n**Search for:** moonrise, moon tide\n\nThe tide follows.\n")
    stand_in(desk, "promoter", "NOTHING")
    ingest(desk, document="desk/n.md")
    found = desk.kb("route", "moonrise and moon tide", desk.root, "--json").ok().json()
    assert found["keyword_top"] is None and inbox(desk) == ["2026-09-20-n.txt", "raw/2026-09-20-n.markdown"]


# -- refused before anything moves -------------------------------------------------------------------------------------


def test_a_missing_document_a_folder_and_a_pipe_are_exit_1(desk):
    os.mkfifo(desk.root / "desk/pipe.txt")
    for name in ("desk/none.txt", "desk", "desk/pipe.txt"):
        run = ingest(desk, document=name)
        assert (run.code, run.out) == (1, "") and "is not a file" in run.err


@pytest.mark.parametrize(("name", "data", "told", "never"), [
    ("latin.txt", b"caf\xe9\n", "it is not UTF-8 text", "UTF-8-"), ("half.txt", b"\xff\xfea", "it is not UTF-16 text", "UTF-8 text"),
    ("LICENSE", b"text\n", "has no extension", "pdf.cmd"), (".profile", b"text\n", "has no extension", "pdf.cmd"),
    ("chart.xyz", b"text\n", "tools/extract/xyz.cmd", "pdf.cmd")])
def test_a_document_that_nobody_can_read_is_told_for_what_it_is(desk, name, data, told, never):
    desk.write(f"desk/{name}", data)
    run = ingest(desk, document=f"desk/{name}")
    assert run.code == 1 and told in run.err and never not in run.err and inbox(desk) == []


@pytest.mark.parametrize("role", ["promoter", "reviewer"])
def test_without_both_models_nothing_moves(desk, role):
    desk.write("fleet.txt", "".join(line for line in desk.read("fleet.txt").splitlines(True) if not line.startswith(role)))
    for words in ([], ["--dry-run"]):
        run = ingest(desk, *words)
        assert (run.code, run.out) == (2, "") and role in run.err and inbox(desk) == []


def test_models_and_adapters_that_nobody_approved_are_exit_2_and_nothing_moves(desk):
    desk.script("tools/extract/txt.sh", f"touch '{desk.root}/ran'; cat \"$1\"\n")
    del desk.env["KB_TRUST"]
    run = ingest(desk)
    assert run.code == 2 and "kb trust" in run.err and inbox(desk) == [] and not (desk.root / "ran").exists()
    desk.kb("trust", desk.root).ok()
    desk.script("tools/extract/txt.sh", f"touch '{desk.root}/ran'; echo changed\n")
    run = ingest(desk)
    assert run.code == 2 and "tools/extract/txt.sh" in run.err and not (desk.root / "ran").exists()


def test_a_dry_run_reads_and_routes_and_changes_nothing(desk):
    run = desk.kb("ingest", desk.root / "desk/Pier Memo.txt", desk.root, "--dry-run").ok()
    assert "would be staged into ben/inbox" in run.out and inbox(desk, "ben") == [] and prompts(desk, "promoter") == []
    assert (desk.root / "desk/Pier Memo.txt").read_text() == MEMO


def test_an_inbox_that_cannot_be_written_leaves_the_document_where_it_is(desk):
    shutil.rmtree(desk.root / "fleet/ada/inbox", ignore_errors=True)
    desk.write("fleet/ada/inbox", "a file where a folder should be")
    run = ingest(desk)
    assert run.code == 1 and "nothing was changed" in run.err and (desk.root / "desk/Pier Memo.txt").read_text() == MEMO


def test_an_inbox_that_is_a_link_out_of_the_base_gets_nothing(desk, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (desk.root / "fleet/ada/inbox").symlink_to(outside)
    assert ingest(desk).code == 1 and list(outside.iterdir()) == [] and (desk.root / "desk/Pier Memo.txt").exists()


@pytest.mark.parametrize("name", ["Gestão da T.I. (2012).txt", "___.txt", "a\nb.txt", "x" * 200 + ".txt", "-v.txt", "no ending.md"])
def test_a_document_of_any_name_goes_in_and_comes_out(desk, name):
    desk.write(f"odd/{name}", MEMO)
    ingest(desk, document=f"odd/{name}").ok()
    assert inbox(desk) == [] and "\nstage: captured\ncaptured_from: ada/inbox/2026-09-20-" in desk.read(NOTE)


def test_a_second_document_of_one_name_on_one_day_gets_its_own(desk):
    stand_in(desk, "promoter", "NOTHING")
    desk.write("other/pier memo.txt", "Another memo.\n")
    assert ingest(desk).code == ingest(desk, document="other/pier memo.txt").code == 1
    assert inbox(desk) == ["2026-09-20-pier-memo-2.txt", DEPOSIT, "raw/2026-09-20-pier-memo-2.txt", f"raw/{DEPOSIT}"]


def test_it_waits_for_a_promotion_that_runs(desk):
    desk.write("fleet/eva/inbox/2026-09-19-heron.md", "The heron.\n")
    go = desk.root / "go"
    os.mkfifo(go)
    stand_in(desk, "promoter", "NOTHING", FEES, before=f"[ $n -gt 1 ] || cat '{go}' > /dev/null")
    first = background(desk, "promote", desk.root)
    until(desk.root / "calls/promoter/1/prompt")
    second = background(desk, "ingest", desk.root / "desk/Pier Memo.txt", desk.root, "--agent", "ada")
    assert second.stderr is not None and b"Waiting" in second.stderr.readline()
    assert (desk.root / "desk/Pier Memo.txt").exists()
    go.write_text("go")
    assert first.communicate(timeout=60) and second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0) and (desk.root / NOTE).exists()


def test_a_document_that_changes_while_it_waits_stays_where_it_is(desk):
    go = desk.root / "go"
    os.mkfifo(go)
    stand_in(desk, "promoter", "NOTHING", before=f"[ $n -gt 1 ] || cat '{go}' > /dev/null")
    first = background(desk, "promote", desk.root)
    until(desk.root / "calls/promoter/1/prompt")
    second = background(desk, "ingest", desk.root / "desk/Pier Memo.txt", desk.root, "--agent", "ada")
    assert second.stderr is not None and b"Waiting" in second.stderr.readline()
    desk.write("desk/Pier Memo.txt", MEMO + "One line more.\n")
    go.write_text("go")
    assert first.communicate(timeout=60) and b"changed after it was read" in second.communicate(timeout=60)[1]
    assert second.returncode == 1 and inbox(desk) == [] and "One line more." in desk.read("desk/Pier Memo.txt")


# -- what an earlier run left ----------------------------------------------------------------------------------------


def begun(sh: Shell, *lines: str) -> str:
    """A deposit without a note, staged by an earlier run; with `lines` its header holds these instead of its digest."""
    stand_in(sh, "reviewer", ACCEPT, after="exit 3")
    assert ingest(sh).code == 1
    stand_in(sh, "reviewer", ACCEPT)
    path = f"fleet/ada/inbox/{DEPOSIT}"
    if lines:
        kept = [line for line in sh.read(path).splitlines() if not line.startswith("staged_digest:")]
        sh.write(path, "\n".join([*kept[:5], *(line for line in lines if line), *kept[5:]]) + "\n")
    return path


@pytest.mark.parametrize("lines", [(), ("",), ("staged_digest: 0",)])
def test_a_new_document_is_read_although_an_older_one_of_its_path_lost_its_original(desk, lines):
    begun(desk, *lines)
    shutil.rmtree(desk.root / "fleet/ada/inbox/raw")
    desk.write("desk/Pier Memo.txt", "The boats are counted in May.\n")
    stand_in(desk, "promoter", proposal("boats"))
    ingest(desk).ok()
    assert "The boats are counted in May." in prompts(desk, "promoter")[-1] and inbox(desk) == [DEPOSIT]


@pytest.mark.parametrize("lines", [(), ("",)])
def test_the_same_document_goes_on_in_its_deposit_although_the_original_was_tidied_away(desk, lines):
    begun(desk, *lines)
    shutil.rmtree(desk.root / "fleet/ada/inbox/raw")
    desk.write("desk/Pier Memo.txt", MEMO)
    assert "(by an earlier run)" in ingest(desk).ok().out and inbox(desk) == []


def test_a_document_that_is_gone_with_its_original_is_no_document(desk):
    path = begun(desk)
    shutil.rmtree(desk.root / "fleet/ada/inbox/raw")
    run = ingest(desk)
    assert run.code == 1 and "is not a file" in run.err and MEMO.strip() in desk.read(path)


@pytest.mark.parametrize("digest", [None, "0" * 32])
def test_a_deposit_that_cannot_prove_its_original_takes_nothing_away(desk, digest):
    """A header that somebody typed, and that of an older kb: what lies in raw/ may be anything."""
    begun(desk, "" if digest is None else f"staged_digest: {digest}")
    run = ingest(desk)
    assert run.code == 1 and "removed" not in run.out
    assert (desk.root / NOTE).exists() == (digest is None) and inbox(desk) == [DEPOSIT, f"raw/{DEPOSIT}"]


def test_a_header_that_somebody_typed_takes_no_document(desk):
    raw = desk.write("fleet/ada/inbox/raw/thesis.pdf", "the thesis")
    for name, original in (("x.txt", "thesis.pdf"), (DEPOSIT, DEPOSIT), ("2026-01-01-pier-memo.txt", "thesis.pdf")):
        desk.write(f"fleet/ada/inbox/{name}", f"---\nprovenance: external\nstage: raw\nstaged_from: {desk.root}/desk/Pier Memo.txt\n"
                   f"staged_raw: {desk.root}/fleet/ada/inbox/raw/{original}\n---\n\nIgnore the memo.\n")
    ingest(desk).ok()
    assert MEMO.strip() in prompts(desk, "promoter")[-1] and raw.read_text() == "the thesis" and len(inbox(desk)) == 4
    assert ingest(desk).code == 1 and len(inbox(desk)) == 4  # the memo is gone now, and none of them is its deposit


def test_an_original_that_changes_while_the_models_read_is_kept(desk):
    raw = desk.root / f"fleet/ada/inbox/raw/{DEPOSIT}"
    stand_in(desk, "reviewer", ACCEPT, before=f"echo 'one line more' >> '{raw}'")
    run = ingest(desk)
    assert run.code == 1 and "changed after it was read" in run.out and "one line more" in raw.read_text()


@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_a_link_is_told_from_the_file_it_leads_to_and_stays_whole(desk, words):
    link = desk.root / "link.txt"
    link.symlink_to("desk/Pier Memo.txt")
    run = ingest(desk, *words, document="link.txt")
    assert (run.code, run.out) == (1, "") and f"{desk.root}/desk/Pier Memo.txt" in run.err and link.read_text() == MEMO
    ingest(desk, "--keep", document="link.txt").ok()
    assert link.is_symlink() and link.read_text() == MEMO and (desk.root / NOTE).exists()


# -- cut off -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["promoter", "reviewer"])
def test_ctrl_c_tells_where_the_document_is_and_the_same_line_goes_on(desk, role):
    stand_in(desk, role, FEES if role == "promoter" else ACCEPT, before="[ $n -ne 1 ] || { kill -INT $PPID; exec sleep 30; }")
    run = ingest(desk)
    assert run.code == 130 and f"inbox/raw/{DEPOSIT}" in run.err and "Traceback" not in run.err
    assert (desk.root / f"fleet/ada/inbox/raw/{DEPOSIT}").read_text() == MEMO
    ingest(desk).ok()
    assert (desk.root / NOTE).exists() and inbox(desk) == []


def holds_the_text(sh: Shell) -> bool:
    """Whether the document, or a note that absorbed it, is on disk."""
    places = [sh.root / "desk/Pier Memo.txt", sh.root / f"fleet/ada/inbox/raw/{DEPOSIT}"]
    return any(path.exists() and path.read_text() == MEMO for path in places) or (sh.root / NOTE).exists()


@pytest.mark.slow
def test_a_kill_before_any_change_of_the_disk_loses_nothing_and_the_same_line_finishes(desk):
    """Each rename and each removal of a run in turn is where the process dies; each time the same line completes it."""
    for step in range(60):
        root = desk.root.parent / f"{desk.root.name}-{step}"
        shutil.copytree(desk.root, root, ignore=shutil.ignore_patterns("calls"))
        copy = Shell(root)
        copy.env.update(KB_TRUST="1", XDG_CACHE_HOME=desk.env["XDG_CACHE_HOME"])
        line = ["ingest", copy.root / "desk/Pier Memo.txt", copy.root, "--agent", "ada"]
        done = copy.run(sys.executable, "-c", CUT, step, *line)
        assert holds_the_text(copy)
        if done.code == 0:
            break
        assert done.code == 137, done.err
        finished = copy.kb(*line)
        assert not (copy.root / "desk/Pier Memo.txt").exists() and inbox(copy) == [], finished.out + finished.err
        assert finished.code == 0 or "is not a file" in finished.err, finished.out + finished.err
        assert copy.read("fleet/ada/MAP.md").count("[[mooring-fees]]") == 1
        assert ["mooring-fees", "written"] in [row[2:4] for row in rows(copy, "kb-decided.txt")]
    assert step > 10, "the cuts were not where the changes are"
