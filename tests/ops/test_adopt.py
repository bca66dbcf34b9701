"""A folder of ordinary notes becomes a base, and no note changes unless a person says so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kb.core.header import parse_header
from kb.core.proposing import plain
from kb.errors import KbError
from kb.ops.adopt import adopt_folder, propose_keys, write_keys
from tests.conftest import Shell


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
    import sys

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
    write_keys(str(vault.root / "vault"), propose_keys(str(vault.root / "vault")))
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


def test_private_folders_exempt_files_and_unreadable_notes_get_no_proposal(sh: Shell) -> None:
    sh.write("vault/agent.txt", "private = journal/\n")
    for name in ("journal/day.md", "README.md", "inbox/drop.md", "records/r.md"):
        sh.write(f"vault/{name}", "# A title here\n\nWords of some length.\n")
    sh.write("vault/latin.md", b"# Caf\xe9\n\ntext\n")
    sh.write("vault/empty.md", "")
    assert propose_keys(str(sh.root / "vault")) == []


def test_a_note_that_changed_since_it_was_read_is_left_alone(vault: Shell) -> None:
    root = str(vault.root / "vault")
    proposals = propose_keys(root)
    vault.write("vault/Alder.md", "# Alder, edited\n")
    assert write_keys(root, proposals) == len(proposals) - 1
    assert vault.read("vault/Alder.md") == "# Alder, edited\n"


def test_a_proposed_note_is_reached_by_its_title_its_aliases_and_its_rare_words(vault: Shell) -> None:
    root = str(vault.root / "vault")
    write_keys(root, propose_keys(root))
    keys = parse_header(vault.read("vault/Alder.md")).keys
    assert {"Alder", "black alder", "Alnus", "river", "charcoal", "gunpowder"} <= set(keys) and len(keys) <= 30


@pytest.mark.parametrize(("text", "words"), [
    ("[[note|shown]]", "note"), ("see [the page](x.md)", "see the page"), ("`code` and **bold**", "code and bold"),
    ("Installing {/installing/}", "Installing"), ("A heading {#anchor .class}", "A heading"), ("<b>x</b>", "x"),
])
def test_markup_does_not_become_a_key(text: str, words: str) -> None:
    assert plain(text) == words


def test_a_fleet_a_home_and_the_whole_disk_are_refused(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(fleet.root / "home"))
    for folder in (str(fleet.root), "/", str(fleet.root / "home"), str(fleet.root / "nowhere")):
        with pytest.raises(KbError):
            adopt_folder(folder)
    assert not (fleet.root / "agent.txt").exists()


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
        proposals = propose_keys(str(root))
        assert write_keys(str(root), proposals) == len(proposals)
        for proposal in proposals:
            old, new = before[proposal.path], (root / proposal.path).read_bytes()
            lines = iter(new.decode("utf-8-sig").split("\n"))
            assert all(line in lines for line in old.decode("utf-8-sig").split("\n")), proposal.path
            assert list(parse_header(new.decode("utf-8-sig")).keys) == list(proposal.keys), proposal.path
        assert propose_keys(str(root)) == []
