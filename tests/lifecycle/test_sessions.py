"""Episodes: whose they are, how they close, and what a crash or a second closer finds."""

from __future__ import annotations

import os

import pytest

from kb_plugins.lifecycle.layout import safe_key
from kb_plugins.lifecycle.session_records import repository_id, worktree_id
from tests.lifecycle.yard import CANDIDATES, LEDGER, Yard

OPEN = ".ai/local/state/sessions-open"


def test_a_providers_variable_names_the_episode_and_the_pointer_answers_without_one(
        yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    night, day = (yard.start("--provider", "p", "--provider-session", name) for name in ("night", "day"))
    def mine() -> str:
        return str(yard("session", "status", "--json").json()["open"]["session_id"])
    assert mine() == day
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "night")
    assert mine() == night
    monkeypatch.setenv("MAJORDOMUS_PROVIDER_SESSION", "nobody")
    assert mine() == night
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert mine() == day


def test_closing_one_of_two_leaves_the_pointer_at_the_other(yard: Yard) -> None:
    night, day = (yard.start("--provider-session", name) for name in ("night", "day"))
    yard("session", "close").ok()
    assert yard("session", "status", "--json").json()["open"]["session_id"] == night
    assert yard("session", "close", "--provider-session", "nobody").code == 12
    yard("session", "close", "--provider-session", "night").ok()
    assert not os.path.lexists(yard.root / ".ai/local/state/session-current.yaml")
    assert [row["session"] for row in yard.rows("session.closed")] == [day, night]


def test_an_open_file_of_another_checkout_is_shown_and_never_used(yard: Yard) -> None:
    yard.start()
    path = yard.root / f"{OPEN}/hand.yaml"
    path.write_text(path.read_text().replace(str(yard.root.resolve()), "/somewhere/else"))
    said = yard("session", "status", "--json").json()
    assert said["open"] is None and said["others"][0]["foreign"] is True
    assert yard("session", "close").code == 15 and yard("session", "start").code == 15
    yard("decision", "add", "x", "--why", "y").ok()
    assert "session" not in yard.rows("decision.recorded")[0]


def test_an_open_file_that_does_not_parse_is_10(yard: Yard) -> None:
    yard.write(f"{OPEN}/hand.yaml", "\tnot yaml\n")
    assert yard("session", "start").code == 10


@pytest.mark.parametrize(("given", "key"), [("a/b c", "a-b-c"), ("..", "_.."), ("", "hand"), ("///", "hand"),
                                            ("é", "hand"), ("x" * 99, "x" * 64)])
def test_a_providers_id_is_a_safe_file_name(given: str, key: str) -> None:
    assert safe_key(given) == key


@pytest.mark.parametrize(("url", "shown"), [
    ("https://ana:p4ss@example.org/team/yard.git", "https://example.org/team/yard.git"),
    ("git@example.org:team/yard.git", "example.org:team/yard.git"),
    ("ssh://git@example.org:22/yard.git", "ssh://example.org:22/yard.git"),
    ("/srv/git/yard.git", None), ("../yard.git", None), ("file:///srv/yard.git", None), ("C:/yard", None)])
def test_a_record_names_the_remote_without_a_user_or_a_path_of_a_disk(yard: Yard, url: str, shown: str | None) -> None:
    yard.git("remote", "add", "origin", url)
    assert repository_id(yard.disk.checkout) == (shown or f"local:{worktree_id(str(yard.root.resolve()))}")


def test_a_close_that_a_crash_interrupted_is_finished_by_the_next_one(yard: Yard) -> None:
    episode = yard.start()
    path = yard.root / f"{OPEN}/hand.yaml"
    kept, pointer = path.read_bytes(), os.readlink(yard.root / ".ai/local/state/session-current.yaml")
    first = yard("session", "close").ok().out
    path.write_bytes(kept)  # as if the process had died before it removed the file
    os.symlink(pointer, yard.root / ".ai/local/state/session-current.yaml")
    again = yard("session", "close").ok()
    assert again.out == first and "already has a record" in again.err
    assert [row["session"] for row in yard.rows("session.closed")] == [episode]
    path.write_bytes(kept)
    assert "1 found" in yard("recover", "records", "--check").out
    yard("recover", "records").ok()
    assert not path.exists()


def test_two_closers_at_once_leave_one_record_and_one_line(yard: Yard) -> None:
    yard.start()
    processes = [yard.process("session", "close") for _ in range(3)]
    codes = sorted(process.wait() for process in processes)
    for process in processes:
        process.communicate()
    assert codes[0] == 0 and set(codes) <= {0, 12}
    assert len(list((yard.root / ".ai/repo/sessions").glob("*--s-*.md"))) == 1 and len(yard.rows("session.closed")) == 1


def test_eight_starts_at_once_open_one_episode(yard: Yard) -> None:
    processes = [yard.process("session", "start") for _ in range(6)]
    codes = sorted(process.wait() for process in processes)
    for process in processes:
        process.communicate()
    assert codes == [0, 15, 15, 15, 15, 15] and len(yard.rows("session.started")) == 1


def test_a_close_killed_anywhere_leaves_whole_files_and_can_be_repeated(yard: Yard) -> None:
    import random
    import time

    chance = random.Random(3)
    for turn in range(6):
        yard.clock(f"2026-09-20T1{turn}:00:00Z")
        yard("session", "start", "--if-open", "keep").ok()
        yard("decision", "add", f"Berth {turn} is swept", "--why", "x").ok()
        process = yard.process("session", "close")
        until = time.monotonic() + chance.uniform(0.1, 0.4)
        while process.poll() is None and time.monotonic() < until:
            pass
        process.kill()
        process.communicate()
    yard("session", "close", "--if-none", "ignore").ok()
    for path in (yard.root / ".ai").rglob("*.md"):
        assert path.name.startswith(".") or path.read_text().endswith("\n")
    assert yard("knowledge", "check", "--json").json()["failing"] == 0
    assert not yard.log.malformed
    assert len(list((yard.root / CANDIDATES).glob("s-*.md"))) == 6
    closed = [row["session"] for row in yard.rows("session.closed")]
    assert len(closed) == len(set(closed)) and not list((yard.root / OPEN).glob("*.yaml"))


def test_the_local_state_is_kept_out_of_git_without_touching_a_tracked_file(yard: Yard) -> None:
    yard.start()
    yard("start", "Mend", "--scope", "src").ok()
    assert yard.git("status", "--porcelain", "-uall") == ""
    exclude = yard.root / ".git/info/exclude"
    assert exclude.read_text().count(".ai/local/") == 1
    yard("decision", "add", "x", "--why", "y").ok()
    assert exclude.read_text().count(".ai/local/") == 1


def test_a_recovered_episode_leaves_derived_recovered_and_closed_in_that_order(yard: Yard) -> None:
    lost = yard.start("--provider-session", "night")
    yard("decision", "add", "Oil on Mondays", "--why", "x").ok()
    yard.clock("2026-09-21T12:00:00Z")
    own = yard.start()
    assert "silent since" in yard("recover").ok().out and not yard.rows("session.closed")
    assert yard("recover", "episodes", "--check").code == 10
    yard("recover", "episodes").ok()
    assert [(row["event"], row.get("session")) for row in yard.rows()[-3:]] == [
        ("knowledge.derived", lost), ("session.recovered", own), ("session.closed", lost)]
    [record] = (yard.root / ".ai/repo/sessions").glob("*--s-*.md")
    text = record.read_text()
    assert f'title: "Recovered episode {lost}"' in text and "\noutcome: interrupted\n" in text and "\nhead:" not in text
    assert yard("recover", "all").ok().out == "recover all: 0 done\n"
    assert yard("recover", "episodes", "--older-than", "soon").code == 2
    yard.write(".ai/repo/policy.yaml", "version: 1\n")
    assert yard("recover", "episodes").code == 10


def test_the_records_are_listed_shown_and_the_latest_is_the_newest(yard: Yard) -> None:
    names = []
    for hour in (9, 10):
        yard.clock(f"2026-09-20T{hour:02}:00:00Z")
        names.append(yard.start())
        yard("session", "close", stdin=f"Hour {hour}.\n").ok()
    assert [row["session_id"] for row in yard("session", "list", "--json").json()["sessions"]] == names
    assert "Hour 9." in yard("session", "show", names[0]).ok().out and "Hour 10." in yard("session", "latest").ok().out
    assert yard("session", "show", "s-20260101000000-0000").code == 12
    assert yard("session", "show", names[0], "--json").ok().json()["session_id"] == names[0]


def test_a_file_system_without_links_of_either_kind_serves_too(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(os, "symlink", refused)
    episode = yard.start()
    assert yard("session", "status", "--json").json()["open"]["session_id"] == episode
    assert not (yard.root / ".ai/local/state/session-current.yaml").is_symlink()
    yard("session", "close").ok()
    assert len(list((yard.root / ".ai/repo/sessions").glob("*--s-*.md"))) == 1


def test_a_pointer_to_nothing_is_an_orphan(yard: Yard) -> None:
    yard.start()
    (yard.root / f"{OPEN}/hand.yaml").unlink()
    assert yard("session", "status", "--json").json()["open"] is None
    assert "1 found" in yard("recover", "orphans", "--check").out
    yard("recover", "orphans").ok()
    assert yard("recover", "status").ok().out == "recover status: 0 found\n"


def test_majordomus_now_is_the_clock_unless_kb_now_is(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAJORDOMUS_NOW", "2026-01-01T00:00:00Z")
    yard("decision", "add", "one", "--why", "x").ok()
    monkeypatch.delenv("KB_NOW")
    yard("decision", "add", "two", "--why", "x").ok()
    assert [row["ts"] for row in yard.rows()] == ["2026-09-20T12:00:00Z", "2026-01-01T00:00:00Z"]
    monkeypatch.setenv("MAJORDOMUS_NOW", "soon")
    assert yard("decision", "add", "three", "--why", "x").code == 2 and LEDGER


@pytest.mark.parametrize("names", [["GIT_DIR"], ["GIT_DIR", "GIT_WORK_TREE"], ["GIT_INDEX_FILE"], ["GIT_COMMON_DIR"], ["GIT_PREFIX"],
                                   ["GIT_LITERAL_PATHSPECS"], ["GIT_GLOB_PATHSPECS"]])
def test_the_repository_is_the_one_that_is_stood_in_whatever_a_hook_of_another_one_says(
        yard: Yard, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    yard.write("a.md", "mine")
    mine = yard.commit("mine", "a.md")
    other = yard.root.parent / "other"
    yard.git("init", "-q", str(other))
    yard.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=other)
    values = {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / ".git/index", "GIT_COMMON_DIR": other / ".git",
              "GIT_PREFIX": "deep/", "GIT_LITERAL_PATHSPECS": "1", "GIT_GLOB_PATHSPECS": "1"}
    for name in names:
        monkeypatch.setenv(name, str(values[name]))
    yard("session", "start").ok()
    yard("session", "close").ok()
    assert [row["head"] for row in yard.rows()] == [mine[:len(row["head"])] for row in yard.rows()] and not (other / ".ai").exists()
