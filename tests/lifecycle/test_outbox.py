"""The outbox: nothing on the trunk is dirtied, and nothing that waits is lost or doubled."""

from __future__ import annotations

import pytest

from tests.lifecycle.yard import CANDIDATES, EPISODE, Yard

OUTBOX = ".ai/local/state/outbox"


@pytest.fixture(autouse=True)
def on_trunk(yard: Yard) -> None:
    yard.trunk()


def staged(yard: Yard) -> list[str]:
    top = yard.root / OUTBOX
    return sorted(str(p.relative_to(top)) for p in top.rglob("*") if p.is_file())


def close(yard: Yard) -> str:
    yard("session", "start", "--if-open", "keep").ok()
    return yard("session", "close").ok().err


def branch(yard: Yard) -> None:
    yard.git("switch", "-q", "-c", "feat/winch")


def test_recovery_and_derivation_on_the_trunk_leave_git_status_empty(yard: Yard) -> None:
    yard("session", "start", "--provider-session", "night").ok()
    yard.decide("Oil on Mondays")
    yard.clock("2026-09-22T12:00:00Z")
    yard("session", "start").ok()  # the caller's own: it is never recovered
    yard("recover", "episodes", "--older-than", "12h").ok()
    assert [name.split("/")[0] for name in staged(yard)] == ["candidates", "sessions"]
    assert yard.git("status", "--porcelain", "-uall") == ""


def test_a_candidate_that_the_trunk_already_tracks_unchanged_is_not_staged(yard: Yard) -> None:
    [name] = yard.decide("Oil on Mondays")
    yard.write(f"{CANDIDATES}/{name}.md", yard.read(f"{OUTBOX}/candidates/{name}.md"))
    (yard.root / f"{OUTBOX}/candidates/{name}.md").unlink()
    said = yard("knowledge", "derive", "--episode", EPISODE, "--json").ok().json()
    assert (said["unchanged"], staged(yard)) == ([f"{CANDIDATES}/{name}.md"], [])


def test_what_waits_is_no_candidate_yet(yard: Yard) -> None:
    [name] = yard.decide("Oil on Mondays")
    assert yard("knowledge", "candidates", "--json").ok().json()["total"] == 0
    assert yard("knowledge", "promote", name, stdin="Seen.\n").code == 12
    assert "candidate" not in yard.git("status", "--porcelain", "--ignored=no")


@pytest.mark.parametrize(("status", "stays"), [("candidate", False), ("superseded\nsuperseded_by: other", True)])
def test_a_tracked_candidate_is_replaced_only_while_it_is_one(yard: Yard, status: str, stays: bool) -> None:
    [name] = yard.decide("Oil on Mondays")
    fresh = yard.read(f"{OUTBOX}/candidates/{name}.md")
    branch(yard)
    old = fresh.replace("status: candidate", f"status: {status}").replace("2026-09-18\n", "2026-01-01\n")
    yard.write(f"{CANDIDATES}/{name}.md", old)
    err = close(yard)
    assert yard.read(f"{CANDIDATES}/{name}.md") == (old if stays else fresh) and staged(yard) == []
    assert f"outbox: {name} is already tracked; the staged copy is retired" in err.splitlines() if stays \
        else f"outbox: carried {CANDIDATES}/{name}.md" in err.splitlines()


def test_a_promoted_candidate_and_a_tracked_session_are_retired(yard: Yard) -> None:
    [name] = yard.decide("Oil on Mondays")
    close(yard)
    [session] = [item.split("/")[1] for item in staged(yard) if item.startswith("sessions/")]
    branch(yard)
    yard.write(f".ai/repo/knowledge/curated/{name}.md", "whatever a person made of it\n")
    yard.write(".ai/repo/sessions/renamed.md", yard.read(f"{OUTBOX}/sessions/{session}"))
    err = close(yard)
    assert staged(yard) == [] and err.count("is already tracked; the staged copy is retired") == 2
    assert not (yard.root / f".ai/repo/sessions/{session}").exists()


def test_a_session_whose_name_another_episode_took_stays(yard: Yard) -> None:
    close(yard)
    [session] = [item.split("/")[1] for item in staged(yard)]
    branch(yard)
    yard.write(f".ai/repo/sessions/{session}",
               yard.read(f"{OUTBOX}/sessions/{session}").replace("session_id: s-", "session_id: s-9"))
    err = close(yard)
    assert staged(yard) == [f"sessions/{session}"]
    assert f"outbox: 1 file(s) stay in {OUTBOX}/ (run: majordomus doctor)" in err.splitlines()


def test_each_worktree_drains_its_own_outbox(yard: Yard) -> None:
    yard.decide("Oil on Mondays")
    other = yard.root.parent / "other"
    yard.git("worktree", "add", "-q", "-b", "feat/crane", str(other))
    yard("session", "start", cwd=other).ok()
    yard("session", "close", cwd=other).ok()
    assert len(staged(yard)) == 1 and not list((other / CANDIDATES).glob("s-*.md"))
    assert (other / ".ai/local/state/ledger.jsonl").exists()
    assert yard.git("status", "--porcelain", "-uall", cwd=other).startswith("?? .ai/repo/sessions/")


def test_a_detached_head_and_a_remote_without_a_default_branch_drain_nothing(yard: Yard) -> None:
    yard.decide("Oil on Mondays")
    yard.git("switch", "-q", "--detach")
    close(yard)
    yard.git("switch", "-q", "-c", "feat/winch")
    yard.git("remote", "set-head", "origin", "-d")
    close(yard)
    assert staged(yard) == [f"candidates/{p}" for p in [yard.decide("Oil on Mondays")[0] + ".md"]]


def test_the_remote_that_counts_is_origin_or_the_only_one(yard: Yard) -> None:
    yard.git("remote", "rename", "origin", "hub")
    assert yard.disk.checkout.on_trunk
    yard.git("remote", "add", "fork", "https://example.org/x.git")
    assert not yard.disk.checkout.on_trunk
