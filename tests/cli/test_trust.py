"""`kb trust`: nothing that arrives with a clone runs before a person approved it as it stands."""

from __future__ import annotations

import json
import sys

import pytest

VERBS = [
    ["check", "."], ["index", "."], ["list", "."], ["route", "pump pressure", "."], ["answer", "pump pressure", "."],
    ["answer", "pump pressure", ".", "--complete"], ["remember", "The pump is flushed.", "."], ["sources", "."],
    ["fleet", "."], ["blocks", "fleet/ada"], ["boot", "."], ["boot", "."], ["ingest", "paper.pdf", "."],
    ["promote", "."], ["consolidate", "ada", "."], ["capture", ".", "--session", "s1"], ["misses", "."],
    ["misses", ".", "--apply", "--gold", "gold.tsv"], ["eval", "gold.tsv", "."], ["eval", "gold.tsv", ".", "--classify"],
    ["handoff", "."], ["handoff", "save", "ada", ".", "--task", "t"], ["abstentions", "."], ["misroutes", "."],
    ["rejections", "."], ["plugins"], ["trust", ".", "--list"], ["serve", "."], ["doctor"], ["knowledge", "status"],
    ["session", "hook", "--provider", "claude-code", "--event", "start"], ["panel", "paper.pdf", ".", "--owner", "ada"],
]
HOOK = json.dumps({"session_id": "s1", "prompt": "pump pressure flush the pump"})


@pytest.fixture
def hostile(fleet):
    """A clone whose every line and adapter would leave a mark."""
    mark = fleet.root / "home" / "pwned"
    for name in ("tools/evil.sh", "tools/extract/pdf.cmd", "tools/extract/pdf.sh", "tools/extract/md.cmd", "kb", "git"):
        fleet.script(name, f"echo $0 >> '{mark}'; echo OWNER: ada; echo COVERAGE: covered\n")
    lines = [f"{role} = tools/evil.sh" for role in ("classifier", "answerer", "promoter", "reviewer", "chat")]
    fleet.write("fleet.txt", fleet.read("fleet.txt") + "\n".join(lines) + f"\nname = $(touch '{mark}')\n")
    fleet.write("paper.pdf", b"%PDF-1.4 nothing\n")
    fleet.write("gold.tsv", "pump pressure\tada/knowledge/pump.md\n")
    return fleet


def test_no_verb_and_no_hook_runs_what_a_hostile_fleet_names(hostile):
    for words in VERBS:
        run = hostile.kb(*words, stdin=HOOK)
        assert not (hostile.root / "home" / "pwned").exists(), (words, run)
        assert "Traceback" not in run.err, run.err


@pytest.mark.parametrize("value", ["sh -c 'touch PWNED'", "../../../../bin/sh -c 'touch PWNED'", "$(touch PWNED)",
                                   "tools/evil.sh; touch PWNED", "`touch PWNED`"])
def test_a_line_nobody_approved_is_refused_with_exit_2_and_names_kb_trust(fleet, value):
    fleet.write("fleet.txt", f"answerer = {value}\n".replace("PWNED", str(fleet.root / "pwned")))
    fleet.kb("index", ".").ok()
    run = fleet.kb("answer", "flush the pump", ".")
    assert run.code == 2 and "kb trust" in run.err and not (fleet.root / "pwned").exists()


def test_trust_shows_what_would_run_and_records_it_elsewhere_than_in_the_fleet(fleet):
    fleet.script("tools/say.sh", "echo yes\n")
    fleet.script("tools/extract/pdf.cmd", "echo text\n")
    fleet.write("fleet.txt", "answerer = tools/say.sh --short\npromoter = cat\n")
    before = sorted(str(p) for p in fleet.root.rglob("*") if "home" not in p.parts)
    out = fleet.kb("trust", ".").ok().out
    assert "answerer = tools/say.sh --short" in out and str(fleet.root / "tools/say.sh") in out
    assert "promoter = cat" in out and "/cat" in out and "tools/extract/pdf.cmd" in out
    assert sorted(str(p) for p in fleet.root.rglob("*") if "home" not in p.parts) == before
    assert "all of it is approved" in fleet.kb("trust", ".").ok().out
    listed = fleet.kb("trust", "--list").ok().out.splitlines()
    assert len(listed) == 3 and all(str(fleet.root) in line and "2026-09-20" in line for line in listed)


@pytest.mark.parametrize(("line", "why"), [
    ('promoter = "unclosed', "cannot be split into words"), ("promoter = ../../bin/sh", "lies outside the fleet"),
    ("promoter = tools/gone.sh", "there is no program"), ("promoter = no-such-program-at-all", "there is no program")])
def test_a_line_that_cannot_run_is_told_and_left_unapproved_while_the_others_are_approved(fleet, line, why):
    fleet.write("fleet.txt", f"answerer = cat\n{line}\n")
    for told in ("\napproved; ", "\nnothing was approved"):
        run = fleet.kb("trust", ".")
        assert run.code == 1 and "cannot run: " in run.out and why in run.out and told in run.out
        assert "runs the" not in run.out and "runs there" not in run.out
    [kept] = fleet.kb("trust", "--list").ok().out.splitlines()
    assert "answerer = cat" in kept
    fleet.write("fleet.txt", "answerer = cat\npromoter = cat\n")
    assert fleet.kb("trust", ".").ok().out.splitlines()[-1].startswith("approved; ")


CHANGES = {
    "the line": lambda sh: sh.write("fleet.txt", "answerer = tools/say.sh --long\n"),
    "the program": lambda sh: sh.script("tools/say.sh", "echo no\n"),
    "a file it names": lambda sh: sh.write("tools/style.txt", "be rude\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_line_or_of_a_file_it_names_asks_again(fleet, change):
    fleet.script("tools/say.sh", "echo yes\n")
    fleet.write("tools/style.txt", "be kind\n")
    fleet.write("fleet.txt", "answerer = tools/say.sh --style=tools/style.txt\n")
    fleet.kb("index", ".").ok()
    assert fleet.kb("answer", "flush the pump", ".").code == 2
    fleet.kb("trust", ".").ok()
    assert fleet.kb("answer", "flush the pump", ".").ok().out.startswith("yes\n")
    CHANGES[change](fleet)
    assert fleet.kb("answer", "flush the pump", ".").code == 2


def test_a_program_found_by_a_link_or_by_path_is_held_to_its_bytes_and_shown(fleet):
    fleet.script("tools/model.sh", "echo first\n")
    (fleet.root / "home/link").symlink_to(fleet.root)
    fleet.kb("index", ".").ok()
    path = {"PATH": f"{fleet.root}/tools:{fleet.env['PATH']}"}
    for line in ("model.sh", f"sh {fleet.root}/home/link/tools/model.sh", f"sh -c '{fleet.root}/tools/model.sh ask'"):
        fleet.write("fleet.txt", f"answerer = {line}\n")
        fleet.script("tools/model.sh", "echo first\n")
        assert "tools/model.sh" in fleet.kb("trust", ".", env=path).ok().out
        assert fleet.kb("answer", "flush the pump", ".", env=path).ok().out.startswith("first")
        fleet.script("tools/model.sh", "echo pwned\n")
        run = fleet.kb("answer", "flush the pump", ".", env=path)
        assert run.code == 2 and "kb trust" in run.err and "pwned" not in run.out


def test_what_was_approved_can_be_taken_back(fleet):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("index", ".").ok()
    fleet.kb("trust", ".").ok()
    fleet.kb("answer", "flush the pump", ".").ok()
    assert "answerer" in fleet.kb("trust", ".", "--forget").ok().out
    assert fleet.kb("answer", "flush the pump", ".").code == 2
    assert fleet.kb("trust", "--list").ok().out == ""


def test_a_copy_of_an_approved_fleet_is_another_fleet(fleet):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("trust", ".").ok()
    fleet.run("cp", "-r", "fleet.txt", "fleet", "home/", timeout=10).ok()
    fleet.kb("index", "home").ok()
    assert fleet.kb("answer", "flush the pump", "home").code == 2


def test_one_line_can_change_without_asking_about_the_others(fleet):
    fleet.write("fleet.txt", "answerer = cat\npromoter = cat\n")
    fleet.kb("index", ".").ok()
    fleet.kb("trust", ".").ok()
    fleet.write("fleet.txt", "answerer = cat\npromoter = tac\n")
    fleet.kb("answer", "flush the pump", ".").ok()


def test_the_environment_approves_for_one_process(fleet):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("index", ".").ok()
    fleet.kb("answer", "flush the pump", ".", env={"KB_TRUST": "1"}).ok()
    assert fleet.kb("answer", "flush the pump", ".").code == 2


def test_an_answerer_that_runs_nothing_needs_no_approval(fleet):
    fleet.write("fleet.txt", "answerer = extractive\n")
    fleet.kb("index", ".").ok()
    out = fleet.kb("answer", "how is the pump flushed", ".").ok().out
    assert "open the drain" in out and "(ada/knowledge/pump.md)" in out
    assert "nothing to approve" in fleet.kb("trust", ".").ok().out


@pytest.mark.parametrize("record", [b"{", b"[]", b"\xff\xfe", b'{"fleets": 3}', b'{"fleets": {"/x": {"answerer": 1}}}'])
def test_a_damaged_record_of_approvals_approves_nothing_and_is_told(fleet, record):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("index", ".").ok()
    fleet.write("home/.config/kb/trust.json", record)
    assert fleet.kb("answer", "flush the pump", ".").code == 2
    run = fleet.kb("trust", ".")
    assert run.code == 1 and "trust.json" in run.err and "Traceback" not in run.err
    assert (fleet.root / "home/.config/kb/trust.json").read_bytes() == record


def test_the_record_of_approvals_is_private(fleet):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("trust", ".").ok()
    assert (fleet.root / "home/.config/kb/trust.json").stat().st_mode & 0o777 == 0o600


def test_list_and_forget_do_not_go_together(fleet):
    assert fleet.kb("trust", "--list", "--forget").code == 2


@pytest.mark.parametrize("intruder", ["tools/json.py", "tools/json/__init__.py"])
def test_a_module_beside_an_approved_python_program_is_not_imported_by_it(fleet, intruder):
    program = "#!/usr/bin/env python3\nimport json, sys\nsys.stdin.read()\nprint(json.dumps('yes'))\n"
    fleet.write("tools/say.py", program).chmod(0o755)
    fleet.write("fleet.txt", "answerer = tools/say.py\n")
    fleet.kb("index", ".").ok()
    fleet.kb("trust", ".").ok()
    fleet.write(intruder, "def dumps(x):\n    return 'pwned'\n")
    assert fleet.kb("answer", "flush the pump", ".").ok().out.startswith('"yes"')


@pytest.mark.parametrize("words", ["trust .", "answer 'flush the pump' .", "capture . --session s1", "capture ."])
def test_stdin_that_is_closed_is_no_terminal_and_no_crash(fleet, words):
    fleet.write("fleet.txt", "answerer = cat\n")
    fleet.kb("index", ".").ok()
    fleet.script("home/kb", f'exec "{sys.executable}" -m kb "$@"\n')
    run = fleet.run("sh", "-c", f"home/kb {words} <&-")
    assert run.code in (0, 2) and "bug in kb" not in run.err


def test_a_folder_that_is_a_program_is_approved_with_every_file_in_it(fleet):
    fleet.write("tools/model/__main__.py", "import sys\nsys.stdin.read()\nprint('first')\n")
    fleet.write("tools/model/words.py", "")
    program = fleet.root / "tools/model"
    fleet.write("fleet.txt", fleet.read("fleet.txt") + f"answerer = {sys.executable} {program}\n")
    fleet.kb("trust", ".").ok()
    for _ in range(2):  # what python compiles beside its files changes nothing
        assert fleet.kb("answer", "flush the pump").ok().out.startswith("first")
    fleet.write("tools/model/words.py", "import os\n")
    assert fleet.kb("answer", "flush the pump").code == 2


def unchecked(source: str) -> bytes:
    """What python compiled from `source`, marked so that no python compares it with the file beside it."""
    import importlib.util
    import marshal

    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(compile(source, "helper.py", "exec"))


def test_what_a_pull_puts_into_a_pycache_never_runs_in_place_of_the_approved_file(fleet):
    import importlib.util

    fleet.write("tools/app/__main__.py", "import sys, helper\nsys.stdin.read()\nprint(helper.WORD)\n")
    helper = fleet.write("tools/app/helper.py", "WORD = 'approved'\n")
    fleet.script("tools/wrapped.sh", f"exec '{sys.executable}' '{fleet.root}/tools/app'\n")
    for line in (f"{sys.executable} {fleet.root}/tools/app", "tools/wrapped.sh"):
        fleet.write("fleet.txt", f"answerer = {line}\n")
        fleet.kb("index", ".").ok()
        fleet.kb("trust", ".").ok()
        assert fleet.kb("answer", "flush the pump").ok().out.startswith("approved")
        assert not (fleet.root / "tools/app/__pycache__").exists()
        cached = importlib.util.cache_from_source(str(helper))[len(str(fleet.root)) + 1:]
        fleet.write(cached, unchecked("WORD = 'pwned'\n"))
        assert fleet.kb("answer", "flush the pump").ok().out.startswith("approved")
        (fleet.root / cached).unlink()
        (fleet.root / cached).parent.rmdir()


PULLS = [  # the line, the files that were approved, and the one that a pull changes or brings
    ("node HERE/tools/model", {"tools/model.js": "console.log('first')"}, "tools/model.js", "console.log('pwned')"),
    ("node -p 'require(process.env.KB_FLEET_ROOT + \"/tools/model\")'", {"tools/model.js": "module.exports = 'first'"},
     "tools/model.js", "module.exports = 'pwned'"),
    ("perl -e 'use lib \"$ENV{KB_FLEET_ROOT}/lib\"; require Model; print Model::word()'",
     {"lib/Model.pm": "package Model; sub word { 'first' } 1;"}, "lib/Model.pm", "package Model; sub word { 'pwned' } 1;"),
    ("env -i PYTHON HERE/tools/model.py", {"tools/model.py": "import json\nprint('first' if hasattr(json, 'loads') else 'pwned')"},
     "tools/json.py", ""),
    ("PYTHON HERE/tools/app", {"tools/app/__main__.py": "from pkg.m import word\nprint(word)", "lib/pkg/m.py": "word = 'first'"},
     "lib/pkg/m.py", "word = 'pwned'"),
    ("make -s -C HERE ask", {"Makefile": "include rules.inc\n", "rules.inc": "ask:\n\techo first\n"}, "rules.inc", "ask:\n\techo pwned\n"),
    ("npm --prefix HERE run -s ask", {"package.json": '{"scripts": {"ask": "echo first"}}'}, ".npmrc", "script-shell=HERE/tools/sh.txt\n"),
]


@pytest.mark.parametrize(("line", "files", "place", "text"), PULLS)
def test_a_pull_never_changes_what_an_approved_line_runs(fleet, line, files, place, text):
    import shutil

    def filled(words):
        return words.replace("HERE", str(fleet.root)).replace("PYTHON", sys.executable)

    program = filled(line).split()[0]
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    for name, words in files.items():
        fleet.write(name, words)
    if "lib/pkg/m.py" in files:
        (fleet.root / "tools/app/pkg").symlink_to("../../lib/pkg")
    fleet.script("tools/sh.txt", "echo pwned\n")
    fleet.write("fleet.txt", f"answerer = {filled(line)}\n")
    fleet.kb("index", ".").ok()
    fleet.kb("trust", ".").ok()
    assert fleet.kb("answer", "flush the pump").ok().out.startswith("first")
    fleet.write(place, filled(text))
    run = fleet.kb("answer", "flush the pump")
    assert run.code == 2 and "kb trust" in run.err and "pwned" not in run.out
