"""A folder of ordinary notes becomes a base, and no note changes unless a person says so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb.app import open_app
from kb.core.display import flat, printable
from kb.core.header import parse_header
from kb.core.manifest import parse_manifest
from kb.core.proposing import plain
from kb.errors import KbError
from kb.ops.adopt import adopt_folder, propose_keys, write_keys
from kb.ops.check import check
from kb.store.fleet import open_fleet
from tests.conftest import Run, Shell


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def vault(sh: Shell) -> Shell:
    sh.write("vault/Alder.md", "---\naliases: [black alder, Alnus]\ntags:\n  - tree/wet\n  - river\n---\n# Alder\n\n## Where it grows\n\n"
                               "The alder stands in water. Its charcoal was gunpowder. #catkins\n")
    sh.write("vault/deep/Birch notes.md", "The birch is white, and the birch bark burns wet.\n")
    sh.write("vault/keyed.md", "# Keyed\n\n**Search for:** a key of mine\n\nText.\n")
    return sh


def test_adopting_adds_a_card_and_a_map_and_touches_no_note(vault: Shell) -> None:
    before = snapshot(vault.root / "vault")
    told = vault.kb("init", "--adopt", "vault").ok().out
    after = snapshot(vault.root / "vault")
    assert {name: after.pop(name) for name in ("agent.txt", "MAP.md")} and after == before
    assert "2 notes have no Search for line" in told and "--keys" in told


def test_adopting_twice_changes_nothing_the_second_time(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    before = snapshot(vault.root / "vault")
    assert "is a base already" in vault.kb("init", "--adopt", "vault").ok().out
    assert snapshot(vault.root / "vault") == before


def test_a_map_or_card_of_the_persons_own_is_kept(vault: Shell) -> None:
    vault.write("vault/INDEX.md", "# Mine\n")
    vault.write("vault/agent.txt", "name = Mine\n")
    adopt_folder(str(vault.root / "vault"))
    assert vault.read("vault/INDEX.md") == "# Mine\n" and vault.read("vault/agent.txt") == "name = Mine\n"
    assert not (vault.root / "vault/MAP.md").exists()


def test_keys_are_shown_as_a_diff_and_not_written_without_a_word_from_a_person(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    before = snapshot(vault.root / "vault")
    told = vault.kb("init", "--adopt", "vault", "--keys", stdin="y\n").ok().out
    assert "--- a/Alder.md" in told and "+**Search for:** Alder, black alder, Alnus, tree wet, river, catkins" in told
    assert "none is written" in told and "keyed.md" not in told
    assert snapshot(vault.root / "vault") == before


def test_what_the_diff_shows_is_what_yes_writes(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    before = snapshot(vault.root / "vault")
    shown = vault.kb("init", "--adopt", "vault", "--keys").ok().out
    told = vault.kb("init", "--adopt", "vault", "--keys", "--yes").ok().out
    assert "wrote 2 key lines" in told
    after = snapshot(vault.root / "vault")
    added = [line[1:] for line in shown.split("\n") if line.startswith("+") and not line.startswith("+++")]
    for name, old in before.items():
        lines = iter(after[name].decode().split("\n"))
        assert all(line in lines for line in old.decode().split("\n")), f"{name} lost a line"
    assert all(any(line in after[name].decode() for name in before) for line in added)
    assert after["keyed.md"] == before["keyed.md"]
    assert vault.kb("route", "black alder", "vault").ok().out.count("Alder.md")


def test_on_a_terminal_a_person_is_asked(vault: Shell) -> None:
    pty = pytest.importorskip("pty")
    for answer, written in ((b"n\n", False), (b"y\n", True)):
        parent, child = pty.openpty()
        process = subprocess.Popen([sys.executable, "-m", "kb", "init", "--adopt", "vault", "--keys"], stdin=child,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=vault.root, env=vault.env)
        os.write(parent, answer)
        told = process.communicate(timeout=60)[0].decode()
        os.close(child)
        os.close(parent)
        assert process.returncode == 0 and "Write these 2 lines?" in told
        assert ("**Search for:**" in vault.read("vault/deep/Birch notes.md")) is written


def test_a_note_keeps_its_byte_order_mark_and_its_line_ends(vault: Shell) -> None:
    old = "\ufeff---\r\ntitle: A: B\r\n---\r\n# Willow\r\n\r\nThe willow bends.\r\n".encode()
    file = vault.write("vault/willow.md", old)
    adopt_folder(str(vault.root / "vault"))
    write_keys(str(vault.root / "vault"), propose_keys(str(vault.root / "vault")).proposals)
    new = file.read_bytes()
    assert new.startswith("\ufeff---\r\ntitle: A: B\r\n---\r\n# Willow\r\n\r\n**Search for:** ".encode())
    assert new.endswith(b"\r\n\r\nThe willow bends.\r\n") and b"\n" not in new.replace(b"\r\n", b"")


@pytest.mark.parametrize("front", [
    "date: 2026-13-45", "title: A: B", "stage: no", "aliases: 010", "tags: 12:30:00", "on: true", "aliases: &a [*a]",
    "aliases: !!python/object/apply:os.system ['touch pwned']", "aliases: {a: b}", "aliases: [[x], {y: z}, null, true, 3]",
    "\tbad: [", "aliases: 'open", "aliases: a\naliases: b", "- a\n- list", "just words",
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c]\naliases: [*d,*d]",
    "aliases: \u0000x", "tags: '#one, #two'",
])
def test_any_front_matter_is_read_as_far_as_it_can_be(sh: Shell, front: str) -> None:
    sh.write("vault/a.md", f"---\n{front}\n---\n# Alder and birch\n\nText about bark.\n")
    told = sh.kb("init", "--adopt", "vault", "--keys", "--yes")
    assert told.code == 0 and "bug" not in told.err
    text = sh.read("vault/a.md")
    assert text.startswith(f"---\n{front}\n---\n# Alder and birch\n\n**Search for:** Alder and birch")
    assert len(text) < 2000 and not (sh.root / "pwned").exists()


@pytest.mark.parametrize("front", [
    "+++\ntitle = \"Hugo\"\ndate = 2026-01-01\ntags = ['sea']\n+++\n", "{\n  \"title\": \"Hugo\",\n  \"tags\": [\"sea\"]\n}\n",
    "---\ntitle: Hugo\ntags: [sea]\n...\n", "---\r\ntitle: Hugo\r\ntags: [sea]\r\n---\r\n", "\ufeff+++\ntags = ['sea']\n+++\n"])
@pytest.mark.parametrize("body", ["Walrus and plankton.\n", "# Walrus\n\nPlankton.\n", "\n- Walrus\n"])
def test_front_matter_of_any_tool_stays_at_the_top_and_its_words_are_no_keys(sh: Shell, front: str, body: str) -> None:
    sh.write("vault/a.md", (front + body).encode())
    sh.kb("init", "--adopt", "vault", "--keys", "--yes").ok()
    text = (sh.root / "vault/a.md").read_bytes().decode()
    assert text.startswith(front) and "**Search for:**" in text
    keys = {key.lower() for key in parse_header(text.removeprefix("\ufeff")).keys}
    assert {"walrus", "sea"} <= keys and not keys & {"title", "date", "tags", "hugo", "2026"}


def test_private_folders_exempt_files_and_unreadable_notes_get_no_proposal(sh: Shell) -> None:
    sh.write("vault/agent.txt", "private = journal/\n")
    for name in ("journal/day.md", "README.md", "inbox/drop.md", "records/r.md"):
        sh.write(f"vault/{name}", "# A title here\n\nWords of some length.\n")
    sh.write("vault/latin.md", b"# Caf\xe9\n\ntext\n")
    sh.write("vault/empty.md", "")
    found = propose_keys(str(sh.root / "vault"))
    assert (found.proposals, found.empty, found.unreadable) == ((), ("empty.md",), (("latin.md", "it is not UTF-8"),))


def test_a_note_that_changed_since_it_was_read_is_left_alone(vault: Shell) -> None:
    root = str(vault.root / "vault")
    proposals = propose_keys(root).proposals
    vault.write("vault/Alder.md", "# Alder, edited\n")
    done = write_keys(root, proposals)
    assert (done.written, done.changed, done.failed) == (("deep/Birch notes.md",), ("Alder.md",), ())
    assert vault.read("vault/Alder.md") == "# Alder, edited\n"


def test_the_hash_of_a_proposal_is_of_the_bytes_that_were_proposed_for(vault: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit between reading a note and showing its diff was never shown, so it is not written over."""
    def edited(path: str, text: str, *rest: object) -> list[str]:
        vault.write(f"vault/{path}", text + "A thought added meanwhile.\n")
        return ["some key"]

    monkeypatch.setattr("kb.ops.adopt.propose", edited)
    root = str(vault.root / "vault")
    done = write_keys(root, propose_keys(root).proposals)
    assert done.written == () and done.changed == ("Alder.md", "deep/Birch notes.md")
    assert vault.read("vault/Alder.md").endswith("A thought added meanwhile.\n")


def test_two_runs_at_once_give_each_note_one_key_line(sh: Shell) -> None:
    for number in range(60):
        sh.write(f"vault/n{number}.md", f"# Note {number} on willow\n\nThe willow bends {number} times.\n")
    sh.kb("init", "--adopt", "vault").ok()
    runs = [subprocess.Popen([sys.executable, "-m", "kb", "init", "--adopt", "vault", "--keys", "--yes"], cwd=sh.root, env=sh.env,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(run.communicate(timeout=120)[1], run.returncode) for run in runs] == [(b"", 0)] * 3
    assert {sh.read(f"vault/n{number}.md").count("Search for") for number in range(60)} == {1}


def at_the_question(vault: Shell, meanwhile: Callable[[], object]) -> tuple[int, str]:
    """Exit code and output of `--keys` on a terminal: `meanwhile` happens when kb asks, and then the answer is yes."""
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "kb", "init", "--adopt", "vault", "--keys"], stdin=child, cwd=vault.root,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=vault.env)
    assert process.stdout is not None
    told = b""
    while b"Write " not in told:
        part = os.read(process.stdout.fileno(), 65536)
        assert part, told
        told += part
    meanwhile()
    os.write(parent, b"y\n")
    told += process.communicate(timeout=60)[0]
    os.close(child)
    os.close(parent)
    return process.returncode, told.decode()


def test_what_happens_to_a_note_before_the_answer_is_respected(vault: Shell) -> None:
    vault.write("vault/Cedar.md", "# Cedar\n\nA cedar smells.\n")
    place = vault.root / "vault"

    def meanwhile() -> None:
        (place / "Alder.md").unlink()
        vault.write("vault/Cedar.md", "# Cedar\n\n**Search for:** mine\n")

    code, told = at_the_question(vault, meanwhile)
    assert code == 0 and "wrote 1 key line." in told and "2 notes changed or went away" in told and "Alder.md and Cedar.md" in told
    assert not (place / "Alder.md").exists() and vault.read("vault/Cedar.md") == "# Cedar\n\n**Search for:** mine\n"
    assert "**Search for:**" in vault.read("vault/deep/Birch notes.md")


def test_a_folder_gone_before_the_answer_stops_no_other_note(vault: Shell) -> None:
    code, told = at_the_question(vault, lambda: shutil.rmtree(vault.root / "vault/deep"))
    assert code == 0 and "wrote 1 key line." in told and "1 note changed or went away since it was read" in told
    assert not (vault.root / "vault/deep").exists()


# -- a disk that does not take what is written -------------------------------------------------------------------------


def as_nobody(sh: Shell, *words: str) -> Run:
    """kb without the right to pass over permissions, which root has."""
    if os.geteuid():
        return sh.kb(*words)
    bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    if shutil.which("setpriv") is None or sh.run(*bare, "true").code:
        pytest.skip("root passes over permissions here")
    return sh.run(*bare, sys.executable, "-m", "kb", *words)


def limited(sh: Shell, size: int, *words: str) -> Run:
    """kb on a disk that takes no file of more than `size` bytes."""
    limit = ("import os, resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
             "os.execv(sys.argv[2], sys.argv[2:])")
    return sh.run(sys.executable, "-c", limit, size, sys.executable, "-m", "kb", *words)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def test_a_read_only_vault_is_refused_in_one_line(vault: Shell) -> None:
    with read_only(vault.root / "vault"):
        done = as_nobody(vault, "init", "--adopt", "vault")
    assert done.code == 1 and "bug" not in done.err and done.err.count("\n") == 1
    assert f"cannot write {vault.root}/vault/MAP.md: Permission denied" in done.err


def test_a_read_only_folder_stops_no_note_outside_of_it(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    with read_only(vault.root / "vault/deep"):
        done = as_nobody(vault, "init", "--adopt", "vault", "--keys", "--yes")
    assert done.code == 1 and "wrote 1 key line." in done.out
    assert done.err == "kb: 1 written, 1 could not be: deep/Birch notes.md: Permission denied\n"
    assert "**Search for:**" in vault.read("vault/Alder.md")
    assert "wrote 1 key line." in vault.kb("init", "--adopt", "vault", "--keys", "--yes").ok().out


def test_a_write_protected_note_is_not_replaced(vault: Shell) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    before = (vault.root / "vault/Alder.md").read_bytes()
    (vault.root / "vault/Alder.md").chmod(0o444)
    done = as_nobody(vault, "init", "--adopt", "vault", "--keys", "--yes")
    assert done.code == 1 and "1 written, 1 could not be: Alder.md: it is read-only" in done.err
    assert (vault.root / "vault/Alder.md").read_bytes() == before


@pytest.mark.parametrize("trouble", ["read-only", "file", "link"])
def test_where_no_lock_can_be_had_every_note_is_told_and_none_is_written(vault: Shell, trouble: str) -> None:
    vault.kb("init", "--adopt", "vault").ok()
    before = snapshot(vault.root / "vault")
    place = vault.root / "vault/.kb"
    if trouble == "file":
        place.write_text("")
    elif trouble == "link":
        place.symlink_to(vault.root / "home")
    if trouble == "read-only":
        with read_only(vault.root / "vault"):
            done = as_nobody(vault, "init", "--adopt", "vault", "--keys", "--yes")
    else:
        done = vault.kb("init", "--adopt", "vault", "--keys", "--yes")
    assert done.code == 1 and "0 written, 2 could not be: Alder.md: " in done.err and "bug" not in done.err
    assert {name: data for name, data in snapshot(vault.root / "vault").items() if name != ".kb"} == before
    assert list((vault.root / "home").glob(".write*")) == []


def test_a_disk_that_is_full_after_the_map_keeps_nothing(vault: Shell) -> None:
    before = snapshot(vault.root / "vault")
    for size in (0, 150):  # the map is smaller than that, the card is not
        done = limited(vault, size, "init", "--adopt", "vault")
        assert done.code == 1 and "bug" not in done.err and "nothing was changed" in done.err
        assert done.err.startswith(f"kb: cannot write {vault.root}/vault/{'agent.txt' if size else 'MAP.md'}: ")
        assert snapshot(vault.root / "vault") == before


def test_on_a_full_disk_the_notes_that_fit_are_written_and_the_others_named(vault: Shell) -> None:
    vault.write("vault/long.md", "# Long\n\n" + "A long tale of the river. " * 200)
    vault.kb("init", "--adopt", "vault").ok()
    before = vault.read("vault/long.md")
    done = limited(vault, 4000, "init", "--adopt", "vault", "--keys", "--yes")
    assert done.code == 1 and "wrote 2 key lines." in done.out and "2 written, 1 could not be: long.md: " in done.err
    assert vault.read("vault/long.md") == before and not list((vault.root / "vault").glob(".long*"))


def test_nothing_is_written_when_the_diff_could_not_be_shown(vault: Shell) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no device here is always full")
    vault.kb("init", "--adopt", "vault").ok()
    before = snapshot(vault.root / "vault")
    line = f"exec {shlex.quote(sys.executable)} -m kb init --adopt vault --keys --yes > /dev/full"
    done = vault.run("sh", "-c", line)
    assert done.code == 1 and "cannot write the output" in done.err
    assert snapshot(vault.root / "vault") == before


@pytest.mark.parametrize("name", ["agent.txt", "MAP.md", "INDEX.md"])
def test_a_folder_in_the_place_of_a_file_is_refused(vault: Shell, name: str) -> None:
    (vault.root / "vault" / name).mkdir()
    before = snapshot(vault.root / "vault")
    done = vault.kb("init", "--adopt", "vault")
    assert done.code == 1 and f"vault/{name} is no file" in done.err
    assert snapshot(vault.root / "vault") == before


# -- what is left, what is private, and what a folder may be called ----------------------------------------------------


def test_notes_that_get_no_proposal_are_counted_and_named(sh: Shell) -> None:
    for number in range(8):
        sh.write(f"vault/empty{number}.md", "\n" * number)
    sh.write("vault/of the.md", "# The\n\nAnd so on.\n")
    sh.write("vault/latin.md", b"# Caf\xe9\n")
    told = sh.kb("init", "--adopt", "vault", "--keys").ok().out
    assert "8 notes are empty and got no proposal: empty0.md, empty1.md, empty2.md and 5 more" in told
    assert "1 note is without a word that could be a key and got no proposal: of the.md" in told
    assert "1 note cannot be read and got no proposal: latin.md: it is not UTF-8" in told
    assert "has keys" not in told


def test_only_where_every_note_has_keys_is_that_said(sh: Shell) -> None:
    sh.write("keyed/a.md", "# A\n\n**Search for:** willow\n")
    assert "Every note has keys already." in sh.kb("init", "--adopt", "keyed", "--keys").ok().out
    (sh.root / "none").mkdir()
    assert "There is no note here" in sh.kb("init", "--adopt", "none", "--keys").ok().out


def test_what_the_default_hides_is_told_with_the_line_that_opens_it(vault: Shell) -> None:
    vault.write("vault/projects/boat.md", "# Boat\n\nThe keel is of larch.\n")
    vault.write("vault/projects/deep/hull.md", "# Hull\n\nThe hull is of oak.\n")
    vault.write("vault/knowledge/records/x.md", "# X\n\nNot at the root.\n")
    told = vault.kb("init", "--adopt", "vault").ok().out
    assert "2 notes in projects/ are private until agent.txt says otherwise" in told
    line = re.findall(r"`(private = [^`]*)`", told)[0]
    assert "# private = profile/, projects/, records/\n" in vault.read("vault/agent.txt")
    vault.kb("index", "vault").ok()
    assert "boat.md" not in vault.kb("route", "--hybrid", "larch keel", "vault").ok().out
    vault.write("vault/agent.txt", vault.read("vault/agent.txt") + line + "\n")
    vault.kb("index", "vault").ok()
    assert "boat.md" in vault.kb("route", "--hybrid", "larch keel", "vault").ok().out
    assert "until agent.txt" not in vault.kb("init", "--adopt", "vault").ok().out


def test_all_three_private_folders_can_be_opened_by_one_line(vault: Shell) -> None:
    for name in ("profile", "projects", "records"):
        vault.write(f"vault/{name}/a-{name}.md", "# Larch\n\nThe keel is of larch.\n")
    told = vault.kb("init", "--adopt", "vault").ok().out
    assert "3 notes in profile/, projects/ and records/ are private" in told
    card = vault.read("vault/agent.txt") + re.findall(r"`(private = [^`]*)`", told)[0] + "\n"
    vault.write("vault/agent.txt", card)
    assert "until agent.txt" not in vault.kb("init", "--adopt", "vault").ok().out
    assert vault.kb("list", "vault").ok().out.count("vault/p") == 2


@pytest.mark.parametrize("name", [
    "C# notes", "it's # x", "a\nprivate = .", "a\n# b", "a \u2014 b", "\u2014", "z[[q]]", "[a](b.md)", "esc\x1b[1m", "<!-- x", "`a", "~~~",
    b"caf\xe9", "\u202eabc", "a\u2028b", "= b", "name = x", "Search for: x", "'#", "a\rb", "\u00e9t\u00e9 2024", "- a", "#", "x" * 255])
def test_a_folder_of_any_name_gets_a_card_and_a_map_without_a_finding(sh: Shell, name: str | bytes) -> None:
    folder = sh.root / "in" / os.fsdecode(name)
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# Willow\n\n**Search for:** " + ", ".join(f"willow{n}" for n in range(12)) + "\n")
    adopt_folder(str(folder))
    card = parse_manifest((folder / "agent.txt").read_text(encoding="utf-8"))
    assert set(card.values) <= {"name", "links"} and card.last("links") == "vault"
    plain = printable(flat(os.fsdecode(name)))
    assert card.last("name") in (plain[:1].upper() + plain[1:], None) and (card.last("name") is not None or "#" in plain)
    findings = check(open_app([str(folder)], True)).findings
    assert [finding for finding in findings if finding.file in ("MAP.md", "agent.txt")] == []
    assert open_fleet([str(folder)]).bases[0].privacy.whole is False


def test_a_proposed_note_is_reached_by_its_title_its_aliases_and_its_rare_words(vault: Shell) -> None:
    root = str(vault.root / "vault")
    write_keys(root, propose_keys(root).proposals)
    keys = parse_header(vault.read("vault/Alder.md")).keys
    assert {"Alder", "black alder", "Alnus", "river", "charcoal", "gunpowder"} <= set(keys) and len(keys) <= 30


@pytest.mark.parametrize(("text", "words"), [
    ("[[note|shown]]", "note"), ("see [the page](x.md)", "see the page"), ("`code` and **bold**", "code and bold"),
    ("Installing {/installing/}", "Installing"), ("A heading {#anchor .class}", "A heading"), ("<b>x</b>", "x"),
])
def test_markup_does_not_become_a_key(text: str, words: str) -> None:
    assert plain(text) == words


def test_a_note_is_proposed_no_word_that_it_does_not_hold(sh: Shell) -> None:
    text = ("# Using `add_one`\n\nSet FOAM_TELEMETRY before add_one runs. \u00c1gua e a\u00e7\u00e3o_nova, sa<b>w</b>dust, half**way**.\n\n"
            "## The snake_case of [[things]]here\n")
    sh.write("vault/on_names.md", text)
    keys = propose_keys(str(sh.root / "vault")).proposals[0].keys
    held = set(re.findall(r"[^\W_]+", (text + " on names").lower()))
    assert {word for key in keys for word in re.findall(r"[^\W_]+", key.lower())} <= held
    assert "Using add_one" in keys and "TELEMETRY" in keys and "\u00e1gua" in keys


def test_a_fleet_a_home_and_the_whole_disk_are_refused(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(fleet.root / "home"))
    for folder in (str(fleet.root), "/", str(fleet.root / "home"), str(fleet.root / "nowhere")):
        with pytest.raises(KbError):
            adopt_folder(folder)
    assert not (fleet.root / "agent.txt").exists()


def test_a_home_is_refused_by_every_way_that_leads_to_it_as_the_index_refuses_it(sh: Shell) -> None:
    sh.write("w/a.md", "# A\n\nText.\n")
    (sh.root / "link").symlink_to(sh.root / "w")
    for home, named in (("link", "w"), ("w", "link"), ("link", "link"), ("w/", "w/../w"), ("w", "w")):
        for words in (("init", "--adopt"), ("index",)):
            done = sh.kb(*words, named, env={"HOME": f"{sh.root}/{home}"})
            assert done.code == 1 and "home directory" in done.err, (home, named, words)
    assert sorted(path.name for path in (sh.root / "w").iterdir()) == ["a.md"]


def test_the_usage_of_init_and_the_help_lead_to_adopting(sh: Shell) -> None:
    assert "kb init --adopt <folder>" in sh.kb("init").err
    assert "--adopt" in sh.kb("--help").ok().out


@pytest.mark.parametrize("words", [("--adopt", "vault", "name"), ("--keys",), ("--yes", "zed"), ("--adopt", "vault", "--person")])
def test_options_that_do_not_go_together_are_usage_errors(vault: Shell, words: tuple[str, ...]) -> None:
    before = snapshot(vault.root / "vault")
    assert vault.kb("init", *words).code == 2
    assert snapshot(vault.root / "vault") == before


def test_no_word_of_a_real_vault_is_lost(sh: Shell, data: Path) -> None:
    for source in sorted((data / "vaults").iterdir()):
        files = sorted(source.rglob("*.md"))[:40]
        if not files:
            continue
        for file in files:
            sh.write(f"{source.name}/{file.relative_to(source)}", file.read_bytes())
        root = sh.root / source.name
        before = snapshot(root)
        adopt_folder(str(root))
        proposals = propose_keys(str(root)).proposals
        assert len(write_keys(str(root), proposals).written) == len(proposals)
        for proposal in proposals:
            old, new = before[proposal.path], (root / proposal.path).read_bytes()
            lines = iter(new.decode("utf-8-sig").split("\n"))
            assert all(line in lines for line in old.decode("utf-8-sig").split("\n")), proposal.path
            assert list(parse_header(new.decode("utf-8-sig")).keys) == list(proposal.keys), proposal.path
        assert propose_keys(str(root)).proposals == ()
