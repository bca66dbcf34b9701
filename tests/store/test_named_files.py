"""A line of fleet.txt is approved together with every file of the fleet that it starts or names, however it spells them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.store import trust

# FT is the fleet, OUT a folder beside it: OUT/fleet, OUT/tools and OUT/kbmodel are links into the fleet.
SPELLINGS = [
    "tools/model.sh", "./tools/model.sh ask", "tools/../tools//model.sh", "FT/tools/model.sh", "//FT/tools/model.sh",
    "sh FT/tools/model.sh", "sh /FT/tools/model.sh", "sh //FT/tools/model.sh", "sh FT/./tools/../tools/model.sh",
    "OUT/fleet/tools/model.sh", "sh OUT/fleet/tools/model.sh", "sh OUT/tools/model.sh", "OUT/kbmodel", "sh OUT/kbmodel",
    "sh OUT/fleet/../fleet/tools/model.sh", "sh OUT/deep/../tools/model.sh", "sh OUT/hop/model.sh",
    "kbmodel", "nice kbmodel ask", "sh -c 'kbmodel ask'", "env A=1 kbmodel", "model.sh", "env X=1 model.sh",
    "sh -c 'FT/tools/model.sh ask'", "sh -c 'exec FT/tools/model.sh'", "sh -c 'true;FT/tools/model.sh|cat'",
    "sh -c '(FT/tools/model.sh)'", "sh -c '\"FT/tools/model.sh\" ask'", "sh -c \"sh -c 'FT/tools/model.sh ask'\"",
    "sh -c 'FT/tools/mo\\del.sh'", "sh -c 'FT/tools/mo\"de\"l.sh'", "sh -c 'cd FT && ./tools/model.sh'",
    "sh -c 'cd FT/tools && ./model.sh'", "sh -c 'cd OUT/fleet; cd tools; sh model.sh'", "sh -c 'cd FT; cd tools; . ./model.sh'",
    "sh -c 'PATH=FT/tools model.sh'", "env PATH=FT/tools:/bin model.sh", "env X=1 FT/tools/model.sh", "env -C FT sh tools/model.sh",
    "env -C FT/tools sh model.sh", "env -S 'sh FT/tools/model.sh'", "run --config=FT/tools/model.sh", "run -fFT/tools/model.sh",
    "run --config=tools/model.sh", "run file://FT/tools/model.sh", "run a,FT/tools/model.sh,b", "run @FT/tools/model.sh",
    "run -IFT/tools", "run --include=FT/tools/", "sh $KB_FLEET_ROOT/tools/model.sh", "sh -c 'sh \"$KB_FLEET_ROOT\"/tools/model.sh'",
    "sh -c 'cd ${KB_FLEET_ROOT}; for f in t*/m*; do sh $f; done'", "sh -c 'sh FT/t*/model.sh'", "sh -c 'sh FT/tools/*'",
    "sh ~/fleet/tools/model.sh", "sh -c '. ~/kbmodel'", "sh -c 'x=tools; sh $HOME/fleet/$x/model.sh'", "sh $HOME/fleet/tools/model.sh",
    "find FT -name model.sh -exec sh {} +", "make -C FT", "python3 FT", "sh /proc/self/root/FT/tools/model.sh",
    "python3 -c 'import os; os.execv(\"FT/tools/\" + \"model.sh\", [])'",
    "perl -e 'exec(\"sh\", \"FT/tools/model.sh\")'", "xargs -a /dev/null sh `FT/tools/model.sh`",
]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """(fleet, folder beside it): the fleet's path holds a blank, PATH and HOME lead into it by links."""
    fleet, out = tmp_path / "my ft", tmp_path / "out"
    (fleet / "tools").mkdir(parents=True)
    (fleet / "tools/model.sh").write_text("#!/bin/sh\necho first\n")
    (fleet / "tools/model.sh").chmod(0o755)
    (fleet / "fleet/ada/knowledge").mkdir(parents=True)
    (fleet / "fleet/ada/knowledge/pump.md").write_text("# Pump\n")
    (out / "deep").mkdir(parents=True)
    for name, target in (("fleet", fleet), ("tools", fleet / "tools"), ("kbmodel", fleet / "tools/model.sh"), ("hop", out / "tools")):
        (out / name).symlink_to(target)
    monkeypatch.setenv("PATH", f"{out}:{out / 'tools'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(out))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("KB_TRUST", raising=False)
    return fleet, out


def line_of(spelling: str, fleet: Path, out: Path) -> str:
    """The spelling with the fleet's path in it, quoted as its place in the line asks for."""
    inside = "'" in spelling
    path = str(fleet).replace(" ", "\\ ") if not inside or "\"FT" not in spelling else str(fleet)
    return spelling.replace("//FT", "/" + path).replace("FT", path).replace("OUT", str(out))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_program_that_changes_asks_again_however_the_line_spells_it(places: tuple[Path, Path], spelling: str) -> None:
    fleet, out = places
    root, line = str(fleet), line_of(spelling, fleet, out)
    item = trust.runnable(root, "answerer", line)
    assert "tools/model.sh" in item.files, line
    trust.approve(root, [item])
    assert trust.is_approved(root, trust.runnable(root, "answerer", line))
    (fleet / "tools/model.sh").write_text("#!/bin/sh\necho second\n")
    assert not trust.is_approved(root, trust.runnable(root, "answerer", line))


@pytest.mark.parametrize("line", ["cat", "sh -c 'cat'", "claude -p --model x", "claude -p 'answer from the fleet, ada and the tools'",
                                  "/bin/sh -c 'tr a b'", "curl -d @- http://localhost:11434/api", "sh FT/../elsewhere/x.sh", "run \0 x"])
def test_a_note_that_changes_never_asks_again(places: tuple[Path, Path], line: str) -> None:
    fleet, out = places
    line = line_of(line, fleet, out)
    before = trust.runnable(str(fleet), "answerer", line)
    (fleet / "fleet/ada/knowledge/pump.md").write_text("# Pump, changed\n")
    assert trust.runnable(str(fleet), "answerer", line).digest == before.digest


def test_a_path_with_blanks_inside_a_quoted_word_is_found_whole(places: tuple[Path, Path]) -> None:
    fleet, _ = places
    (fleet / "tools/my model").write_text("x")
    assert "tools/my model" in trust.runnable(str(fleet), "answerer", f"run \"--with='{fleet}/tools/my model'\"").files


def test_a_link_of_the_fleet_is_approved_with_what_it_leads_to(places: tuple[Path, Path]) -> None:
    fleet, out = places
    (out / "other").write_text("one\n")
    (fleet / "tools/link").symlink_to(out / "other")
    before = trust.runnable(str(fleet), "answerer", "tools/link")
    assert before.files == ("tools/link",)
    (fleet / "tools/link").unlink()
    (fleet / "tools/link").symlink_to(out / "tools/model.sh")
    after = trust.runnable(str(fleet), "answerer", "tools/link")
    assert after.files == ("tools/link", "tools/model.sh") and after.digest != before.digest


def test_a_hostile_line_is_looked_through_in_moments(places: tuple[Path, Path]) -> None:
    import time

    fleet, _ = places
    started = time.monotonic()
    for line in ("run " + "a/" * 20_000, "run " + "x " * 20_000, "run '" + "a=b:" * 10_000 + "'", "run \"" + "'a' " * 5_000 + "\""):
        trust.runnable(str(fleet), "answerer", line)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("first", ["#!FT/tools/model.sh", "#!/usr/bin/env -S sh FT/tools/model.sh", "#!OUT/tools/model.sh"])
def test_the_interpreter_of_a_script_is_approved_with_it(places: tuple[Path, Path], first: str) -> None:
    fleet, out = places
    fleet = fleet.rename(fleet.with_name("ft"))  # a first line cannot name a path with blanks
    (out / "tools").unlink()
    (out / "tools").symlink_to(fleet / "tools")
    for name in ("tools/say", "tools/extract/pdf.cmd"):
        (fleet / name).parent.mkdir(exist_ok=True)
        (fleet / name).write_text(first.replace("FT", str(fleet)).replace("OUT", str(out)) + "\nwords\n")
    assert "tools/model.sh" in trust.runnable(str(fleet), "answerer", "tools/say").files
    assert "tools/model.sh" in trust.adapter(str(fleet), "tools/extract/pdf.cmd").files


# What runs a file that no word names. The fleet holds every one of LOOSE; a line that cannot be told exactly stands for all of them.
LOOSE = ["lib/Model.pm", "lib/model.inc", "rules.inc", ".npmrc", "package.json", "tools/model.js", "tools/model/index.js",
         "tools/model.json", "Makefile", "lib/__pycache__/x.cpython-311.pyc", "lib/native.so", "tools/no-ending"]


@pytest.fixture
def loose(places: tuple[Path, Path]) -> Path:
    fleet, _ = places
    fleet = fleet.rename(fleet.with_name("ft"))
    for name in [*LOOSE, "tools/one.py", "tools/one.js"]:
        (fleet / name).parent.mkdir(parents=True, exist_ok=True)
        (fleet / name).write_text("x\n")
    return fleet


@pytest.mark.parametrize("line", [
    "node FT/tools/model", "node FT/tools/absent", "/usr/bin/node FT/tools/mod", "nice node FT/tools/model", "frob FT/tools/absent",
    "node -p 'require(process.env.KB_FLEET_ROOT + \"/tools/model\")'", "node --print 1", "node --eval=1", "node -r x y", "deno eval 1",
    "perl -pe 1", "perl -n x", "perl -MModel FT/tools/one.py", "perl5.36 -IFT/lib x", "ruby -rmodel x", "php -r 1", "lua5.4 -l model",
    "awk 'BEGIN { getline }'", "Rscript -e 1", "julia -E 1", "osascript -e 1", "python3 -m model", "python3 -X dev FT/tools/one.py",
    "python3 -E FT/tools/one.py", "python3 -I FT/tools/model", "python3", "env -i python3 FT/tools/one.py",
    "env -u PYTHONSAFEPATH python3 FT/tools/one.py", "env PYTHONSAFEPATH= python3 FT/tools/one.py", "sudo python3 FT/tools/one.py",
    "env NODE_OPTIONS=--require=FT/tools/one.js claude", "npm --prefix FT run -s ask", "make -s -C FT ask", "make -C FT/tools ask",
    "make -f FT/Makefile", "just -f FT/Makefile", "uv run FT/tools/one.py", "npx --prefix FT/tools x"])
def test_a_line_whose_files_cannot_be_told_stands_for_every_program(loose: Path, line: str) -> None:
    (loose / "fleet/notes.txt").write_text("x\n")
    files = set(trust.runnable(str(loose), "answerer", line.replace("FT", str(loose))).files)
    assert files >= {*LOOSE, "tools/one.py", "tools/one.js"}, line
    assert not any(name.endswith((".md", ".txt")) for name in files)


@pytest.mark.parametrize("line", ["node FT/tools/one.js", "python3 FT/tools/one.js", "python3 -I FT/tools/one.js",
                                  "nice node FT/tools/one.js -p", "tools/one.js --fast", "env node FT/tools/one.js"])
def test_an_interpreter_that_is_given_a_file_stands_for_that_file(loose: Path, line: str) -> None:
    assert trust.runnable(str(loose), "answerer", line.replace("FT", str(loose))).files == ("tools/one.js",)


@pytest.mark.parametrize(("line", "everything"), [
    ("claude -p --model x", False), ("npx claude -p", False), ("env A=1 claude -p", False), ("uvx llm -m x", False), ("cat", False),
    ("#!/bin/sh", False), ("#!/usr/bin/env python3", False), ("#!/usr/bin/env -S python3 -I", False),
    ("#!/usr/bin/python3 -I", False), ("#!/usr/bin/env -S python3 -E", True), ("#!/usr/bin/env -S -i python3", True),
    ("#!/usr/bin/perl -w", True), ("#!/usr/bin/env -S PYTHONSAFEPATH= python3", True), ("#!/usr/bin/env -S make -f", True)])
def test_what_touches_nothing_of_the_fleet_or_one_script_of_it_stays_so(loose: Path, line: str, everything: bool) -> None:
    if line.startswith("#!"):
        (loose / "tools/one.py").write_text(line + "\n")
        line = "tools/one.py"
    assert ("lib/Model.pm" in trust.runnable(str(loose), "answerer", line).files) == everything


def test_a_linked_folder_counts_by_its_files_or_by_where_it_leads(loose: Path) -> None:
    root, app = str(loose), loose / "tools/app"
    (loose / "lib/pkg").mkdir()
    (loose / "lib/pkg/m.py").write_text("1\n")
    app.mkdir()
    (app / "__main__.py").write_text("import pkg.m\n")
    (app / "pkg").symlink_to("../../lib/pkg")
    (loose / "lib/pkg/round").symlink_to("..")
    line = f"python3 {app}"
    before = trust.runnable(root, "answerer", line)
    assert {"lib/pkg/m.py", "tools/app/pkg/m.py"} <= set(before.files) and len(before.files) < 40
    (loose / "lib/pkg/m.py").write_text("2\n")
    assert trust.runnable(root, "answerer", line).digest != before.digest
    (app / "pkg").unlink()
    for name in ("one", "two"):
        (loose.parent / name).mkdir()
    (app / "pkg").symlink_to(loose.parent / "one")
    before = trust.runnable(root, "answerer", line)
    (app / "pkg").unlink()
    (app / "pkg").symlink_to(loose.parent / "two")
    assert trust.runnable(root, "answerer", line).digest != before.digest
    (app / "pkg").unlink()
    (app / "pkg").symlink_to("../..")
    assert "lib/Model.pm" in trust.runnable(root, "answerer", line).files


def test_what_kb_writes_in_a_fleet_never_asks_again(loose: Path) -> None:
    before = trust.runnable(str(loose), "answerer", "sh -c 'sh $KB_FLEET_ROOT/tools/no-ending'")
    for name in ("kb-misses.txt", "fleet/ada/inbox/raw/paper.pdf", "fleet/ada/.kb/index.db", ".kb/hooks.log", ".kb-promote.lock",
                 "fleet/ada/knowledge/.pump.md.12.ab.tmp", "fleet/ada/knowledge/.pump.md.lock", "fleet/ada/knowledge/new.md"):
        (loose / name).parent.mkdir(parents=True, exist_ok=True)
        (loose / name).write_text("x\n")
    assert trust.runnable(str(loose), "answerer", "sh -c 'sh $KB_FLEET_ROOT/tools/no-ending'").digest == before.digest
