"""`kb commit` on real repositories: exactly the paths named, whatever they are called."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.conftest import Shell


@pytest.fixture
def repo(sh: Shell) -> Shell:
    sh.git("init", "-q", "-b", "main", "repo")
    sh.write("repo/.gitignore", "*.log\n")
    sh.write("repo/a.md", "a")
    sh.write("repo/b.md", "b")
    sh.git("add", ".", cwd=sh.root / "repo")
    sh.git("commit", "-q", "-m", "first", cwd=sh.root / "repo")
    return sh


def head(sh: Shell) -> list[str]:
    told = sh.git("show", "--pretty=", "--name-only", "--no-renames", "-z", "HEAD", cwd=sh.root / "repo").out
    return sorted(name for name in told.split("\0") if name)


ODD = ["café.md", "two words.md", "new\nline.md", "tab\there.md", "b[a].md", "a*.md", ":(top)x.md", "-dash.md", 'quo"te.md', "日本.md",
       "!bang.md", "back\\slash.md", "a..b.md", "#hash.md"]


@pytest.mark.parametrize("name", ODD)
def test_any_name_lands_alone(repo: Shell, name: str) -> None:
    repo.write("repo/" + name, "x")
    repo.write("repo/ba.md", "a name that a pattern would match")
    done = repo.kb("commit", "-m", "one", "--", name, cwd=repo.root / "repo").ok()
    assert head(repo) == [name] and "committed" in done.out and "left untouched, still dirty (1)" in done.out


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("name", ODD)
def test_any_name_can_be_deleted(repo: Shell, name: str, staged: bool) -> None:
    file = repo.write("repo/" + name, "x")
    repo.kb("commit", "-m", "one", "--", name, cwd=repo.root / "repo").ok()
    file.unlink()
    if staged:
        repo.git("add", "--all", cwd=repo.root / "repo")
    repo.kb("commit", "-m", "gone", "--", name, cwd=repo.root / "repo").ok()
    assert head(repo) == [name] and repo.git("ls-files", "-z", cwd=repo.root / "repo").out.split("\0")[:-1] == [
        ".gitignore", "a.md", "b.md"]


@pytest.mark.parametrize("staged", [True, False])
def test_both_halves_of_a_rename_can_be_named(repo: Shell, staged: bool) -> None:
    os.rename(repo.root / "repo/a.md", repo.root / "repo/ç.md")
    if staged:
        repo.git("add", "--all", cwd=repo.root / "repo")
    repo.write("repo/b.md", "changed")
    done = repo.kb("commit", "a.md", "ç.md", "-m", "moved", cwd=repo.root / "repo").ok()
    assert head(repo) == ["a.md", "ç.md"] and "still dirty (1)" in done.out and "  b.md" in done.out


@pytest.mark.parametrize("staged", [True, False])
def test_one_half_of_a_rename_takes_only_that_half(repo: Shell, staged: bool) -> None:
    os.rename(repo.root / "repo/a.md", repo.root / "repo/ç.md")
    if staged:
        repo.git("add", "--all", cwd=repo.root / "repo")
    repo.kb("commit", "ç.md", "-m", "new name", cwd=repo.root / "repo").ok()
    assert head(repo) == ["ç.md"]


def test_what_another_session_staged_stays_staged(repo: Shell) -> None:
    repo.write("repo/b.md", "theirs")
    repo.git("add", "b.md", cwd=repo.root / "repo")
    repo.write("repo/a.md", "mine")
    repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo").ok()
    assert head(repo) == ["a.md"]
    assert repo.git("diff", "--cached", "--name-only", cwd=repo.root / "repo").out == "b.md\n"


@pytest.mark.parametrize("words", [("",), (" ",), ("a.md", ""), ("nowhere.md",), ("x.log",), ("../outside.md",), ("b.md",),
                                   ("a.md", "../other/c.md")])
def test_a_refusal_is_one_line_and_moves_nothing(repo: Shell, words: tuple[str, ...]) -> None:
    repo.git("init", "-q", "-b", "main", "other")
    for name in ("other/c.md", "outside.md", "repo/x.log", "repo/a.md"):
        repo.write(name, "changed")
    before = repo.git("rev-parse", "HEAD", cwd=repo.root / "repo").out
    done = repo.kb("commit", *words, "-m", "m", cwd=repo.root / "repo")
    assert done.code == 1 and done.out == "" and done.err.startswith("kb: ") and "bug" not in done.err
    assert repo.git("rev-parse", "HEAD", cwd=repo.root / "repo").out == before
    assert repo.git("diff", "--cached", "--name-only", cwd=repo.root / "repo").out == ""


def test_a_link_is_committed_as_a_link_and_its_target_is_not(repo: Shell) -> None:
    repo.write("repo/a.md", "changed")
    (repo.root / "repo/link.md").symlink_to("a.md")
    repo.kb("commit", "link.md", "-m", "a link", cwd=repo.root / "repo").ok()
    assert head(repo) == ["link.md"]


def test_a_repository_reached_through_a_link_is_the_same_repository(repo: Shell) -> None:
    (repo.root / "door").symlink_to("repo")
    repo.write("repo/a.md", "1")
    repo.write("repo/b.md", "2")
    repo.kb("commit", "door/a.md", "repo/b.md", "-m", "both").ok()
    assert head(repo) == ["a.md", "b.md"]


def test_an_index_lock_of_somebody_else_is_waited_for(repo: Shell) -> None:
    repo.write("repo/a.md", "mine")
    lock = repo.write("repo/.git/index.lock", "")
    timer = threading.Timer(0.5, lock.unlink)
    timer.start()
    repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo").ok()
    timer.join()
    assert head(repo) == ["a.md"]


def test_the_commit_call_itself_is_tried_again(repo: Shell, tmp_path: Path) -> None:
    repo.write("repo/a.md", "mine")
    real = next(folder for folder in os.environ["PATH"].split(":") if Path(folder, "git").exists())
    repo.script("bin/git", f"""
for word in "$@"; do
  if [ "$word" = commit ] && [ ! -e {tmp_path}/once ]; then
    touch {tmp_path}/once
    echo "fatal: Unable to create '.git/index.lock': File exists." >&2
    exit 128
  fi
done
exec {real}/git "$@"
""")
    env = {"PATH": f"{repo.root}/bin:{os.environ['PATH']}"}
    repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo", env=env).ok()
    assert (tmp_path / "once").exists() and head(repo) == ["a.md"]


def test_a_hook_that_speaks_of_some_lock_is_told_at_once(repo: Shell) -> None:
    repo.write("repo/a.md", "mine")
    repo.script("repo/.git/hooks/pre-commit", f"echo x >> {repo.root}/runs\necho 'poetry.lock is stale' >&2\nexit 1\n")
    done = repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo")
    assert done.code == 1 and "poetry.lock is stale" in done.err and repo.read("runs") == "x\n"


def test_a_hook_that_adds_a_file_is_reported_after_the_commit(repo: Shell) -> None:
    repo.write("repo/b.md", "swept in")
    repo.write("repo/a.md", "mine")
    repo.script("repo/.git/hooks/pre-commit", "git add b.md\n")
    done = repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo")
    assert (done.code == 1 and "b.md" in done.err) or head(repo) == ["a.md"]


def test_a_hook_may_require_kb_commit(repo: Shell) -> None:
    repo.script("repo/.git/hooks/pre-commit", '[ "$KB_COMMIT" = 1 ] || { echo "use kb commit" >&2; exit 1; }\n')
    repo.write("repo/a.md", "mine")
    assert repo.run("git", "commit", "-qam", "raw", cwd=repo.root / "repo").code != 0
    repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo").ok()


def test_a_hook_that_refuses_is_quoted(repo: Shell) -> None:
    repo.script("repo/.git/hooks/pre-commit", 'echo "no tabs, please" >&2; exit 1\n')
    repo.write("repo/a.md", "mine")
    done = repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo")
    assert done.code == 1 and "no tabs, please" in done.err


@pytest.mark.parametrize("message", ["--amend", "-a", "# a heading", "Zeile\n\nzwei", "%s $(x) `y`"])
def test_any_message_is_the_message(repo: Shell, message: str) -> None:
    repo.write("repo/a.md", message)
    repo.kb("commit", "a.md", "-m", message, cwd=repo.root / "repo").ok()
    assert repo.git("log", "-1", "--format=%B", cwd=repo.root / "repo").out.strip() == message
    assert repo.git("rev-list", "--count", "HEAD", cwd=repo.root / "repo").out == "2\n"


def test_the_first_commit_of_a_repository_can_be_made(sh: Shell) -> None:
    sh.git("init", "-q", "-b", "main", "repo")
    sh.write("repo/a.md", "a")
    sh.write("repo/b.md", "b")
    sh.kb("commit", "repo/a.md", "-m", "first").ok()
    assert head(sh) == ["a.md"]


def test_a_folder_that_is_gone_can_be_committed_staged_or_not(repo: Shell) -> None:
    import shutil

    for staged in (True, False):
        repo.write("repo/deep/er/x.md", "x")
        repo.kb("commit", "deep", "-m", "add", cwd=repo.root / "repo").ok()
        shutil.rmtree(repo.root / "repo/deep")
        if staged:
            repo.git("add", "--all", cwd=repo.root / "repo")
        repo.kb("commit", "deep/er", "-m", "gone", cwd=repo.root / "repo").ok()
        assert head(repo) == ["deep/er/x.md"]


def test_a_folder_may_be_named_with_its_slash(repo: Shell) -> None:
    repo.write("repo/deep/x.md", "x")
    repo.kb("commit", "deep/", "-m", "folder with a slash", cwd=repo.root / "repo").ok()
    assert head(repo) == ["deep/x.md"]
