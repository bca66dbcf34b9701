"""`kb commit` on real repositories: exactly the paths named, whatever they are called."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kb.store.git import OF_ANOTHER_REPOSITORY
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


def test_a_path_that_is_nowhere_is_told_as_it_was_typed(repo: Shell) -> None:
    repo.write("repo/a.md", "changed")
    repo.write("repo/deep/x.md", "x")
    done = repo.kb("commit", "nowhere.md", "-m", "m", cwd=repo.root / "repo/deep")
    assert done.err == "kb: there is no nowhere.md: it is not on disk, and git does not know it\n"


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


def everything(sh: Shell, folder: str = "repo") -> tuple[str, ...]:
    """What is staged and what is not, with all content, and where the branch is."""
    cwd = sh.root / folder
    return tuple(sh.git(*words, cwd=cwd).out for words in (
        ("ls-files", "--stage", "-v", "-z"), ("status", "--porcelain", "-z", "--untracked-files=all"), ("diff", "--binary", "--cached"),
        ("diff", "--binary"), ("log", "--oneline", "--all")))


def refuse_by(sh: Shell, how: str, folder: str = "repo/.git") -> None:
    if how == "signing":
        sh.git("config", "commit.gpgSign", "true", cwd=sh.root / "repo")
        sh.git("config", "gpg.program", "false", cwd=sh.root / "repo")
    elif how == "author":
        sh.env |= {"GIT_AUTHOR_NAME": "", "GIT_COMMITTER_NAME": ""}
    else:
        sh.script(f"{folder}/hooks/{how}", 'echo "not today" >&2\nexit 1\n')


REFUSALS = ["pre-commit", "prepare-commit-msg", "commit-msg", "signing", "author"]


@pytest.mark.parametrize("how", REFUSALS)
def test_what_was_staged_in_part_is_as_it_was_after_a_refusal(repo: Shell, how: str) -> None:
    cwd = repo.root / "repo"
    for name in ("a.md", "new.md"):
        repo.write(f"repo/{name}", "chosen")
        repo.git("add", name, cwd=cwd)
        repo.write(f"repo/{name}", "chosen, and more that is not")
    for name in ("meant.md", "ünsaid\n.md", "deep/er/x.md"):
        repo.write(f"repo/{name}", name)
    repo.write("repo/empty.md", "")
    repo.git("add", "-N", "meant.md", cwd=cwd)
    repo.git("rm", "-q", "--cached", "b.md", cwd=cwd)
    refuse_by(repo, how)
    before = everything(repo)
    done = repo.kb("commit", ".", "-m", "m", cwd=cwd)
    assert done.code == 1 and done.out == "" and everything(repo) == before
    if (cwd / ".git/hooks" / how).exists():
        assert "not today" in done.err
        (cwd / ".git/hooks" / how).unlink()
        repo.kb("commit", ".", "-m", "m", cwd=cwd).ok()
        assert head(repo) == ["a.md", "deep/er/x.md", "empty.md", "meant.md", "new.md", "ünsaid\n.md"]
        assert repo.git("status", "--porcelain", cwd=cwd).out == ""


def test_no_index_is_written_when_a_refusal_concerns_known_files_alone(repo: Shell) -> None:
    repo.write("repo/a.md", "changed")
    refuse_by(repo, "pre-commit")
    before = (repo.root / "repo/.git/index").read_bytes()
    assert repo.kb("commit", "a.md", "-m", "m", cwd=repo.root / "repo").code == 1
    assert (repo.root / "repo/.git/index").read_bytes() == before


def test_an_ignored_path_among_those_named_stages_none_of_them(repo: Shell) -> None:
    for name in ("repo/a.md", "repo/new.md", "repo/x.log"):
        repo.write(name, "changed")
    before = everything(repo)
    done = repo.kb("commit", "a.md", "new.md", "x.log", "-m", "m", cwd=repo.root / "repo")
    assert done.code == 1 and "x.log" in done.err and everything(repo) == before


@pytest.mark.parametrize(("old", "new"), [("d", "d/x.md"), ("d/x.md", "d"), ("d/e/x.md", "d/e"), ("d", "d/e/x.md")])
@pytest.mark.parametrize("refused", [True, False])
def test_a_file_that_became_a_folder_or_the_other_way_round(repo: Shell, old: str, new: str, refused: bool) -> None:
    import shutil

    cwd = repo.root / "repo"
    repo.write(f"repo/{old}", "old")
    repo.kb("commit", "d", "-m", "old", cwd=cwd).ok()
    top = cwd / (min(old, new))
    shutil.rmtree(top) if top.is_dir() else top.unlink()
    repo.write(f"repo/{new}", "new")
    if refused:
        refuse_by(repo, "pre-commit")
    before = everything(repo)
    done = repo.kb("commit", "d", "-m", "new", cwd=cwd)
    if done.code:  # that a folder stands where a file was, git can commit only as a whole
        assert (refused or new.startswith(old)) and done.out == "" and everything(repo) == before
    else:
        assert not refused and head(repo) == sorted([old, new]) and repo.git("status", "--porcelain", cwd=cwd).out == ""


def test_what_another_session_stages_while_a_hook_refuses_stays_staged(repo: Shell) -> None:
    cwd = repo.root / "repo"
    repo.script("repo/.git/hooks/pre-commit", "exit 1\n")
    real = next(folder for folder in os.environ["PATH"].split(":") if Path(folder, "git").exists())
    # the other session comes by right after the commit was refused, and right after the new file was announced
    repo.script("bin/git", f"""
{real}/git "$@"
code=$?
case "$*" in
  *" commit -q "*) echo theirs > b.md; {real}/git add b.md;;
  *--intent-to-add*) echo theirs > also.md; {real}/git add also.md;;
esac
exit $code
""")
    repo.write("repo/new.md", "mine")
    env = {"PATH": f"{repo.root}/bin:{os.environ['PATH']}"}
    assert repo.kb("commit", "new.md", "-m", "m", cwd=cwd, env=env).code == 1
    assert repo.git("status", "--porcelain", cwd=cwd).out == "A  also.md\nM  b.md\n?? new.md\n"


@pytest.mark.parametrize("whom", ["kb", "everything that runs"])
def test_an_interruption_in_the_middle_of_a_hook_leaves_all_as_it_was(repo: Shell, whom: str) -> None:
    cwd = repo.root / "repo"
    os.mkfifo(repo.root / "started")
    repo.script("repo/.git/hooks/pre-commit", f"echo > {repo.root}/started\nexec sleep 60 >&- 2>&-\n")
    repo.write("repo/a.md", "mine")
    repo.write("repo/new.md", "mine")
    before = everything(repo)
    kb = subprocess.Popen([sys.executable, "-m", "kb", "commit", "a.md", "new.md", "-m", "m"], cwd=cwd, env=repo.env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert repo.read("started") == "\n"
    os.kill(kb.pid, signal.SIGINT) if whom == "kb" else os.killpg(kb.pid, signal.SIGINT)
    out, told = kb.communicate(timeout=30)
    assert (kb.returncode, out, told.strip()) == (130, b"", b"kb: interrupted")
    assert everything(repo) == before and not list((cwd / ".git").glob("*.lock"))
    if whom == "kb":
        os.killpg(kb.pid, signal.SIGKILL)  # the hook's own sleep


def test_a_lock_that_is_never_given_back_is_told_and_nothing_moves(repo: Shell) -> None:
    repo.write("repo/new.md", "mine")
    before = everything(repo)
    lock = repo.write("repo/.git/index.lock", "")
    done = repo.kb("commit", "new.md", "-m", "m", cwd=repo.root / "repo")
    assert done.code == 1 and "index.lock" in done.err and lock.exists()
    lock.unlink()
    assert everything(repo) == before


KINDS_OF_INDEX = {"split": ["--split-index"], "version 4": ["--index-version", "4"], "untracked cache": ["--untracked-cache"]}


@pytest.mark.parametrize("refused", [True, False])
@pytest.mark.parametrize("kind", [*KINDS_OF_INDEX, "linked work tree", "submodule", "sha256"])
def test_an_index_of_any_kind_is_followed_or_put_back(sh: Shell, kind: str, refused: bool) -> None:
    sh.git("init", "-q", "-b", "main", *(["--object-format=sha256"] if kind == "sha256" else []), "repo")
    cwd, folder, hooks = sh.root / "repo", "repo", "repo/.git"
    for number in range(60):
        sh.write(f"repo/old/{number}.md", "x")
    sh.git("add", ".", cwd=cwd)
    sh.git("commit", "-q", "-m", "first", cwd=cwd)
    if kind in KINDS_OF_INDEX:
        sh.git("update-index", *KINDS_OF_INDEX[kind], cwd=cwd)
    if kind == "linked work tree":
        sh.git("worktree", "add", "-q", "-b", "side", "../linked", cwd=cwd)
        cwd, folder = sh.root / "linked", "linked"
    if kind == "submodule":
        sh.git("init", "-q", "-b", "main", "outer")
        sh.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../repo", "inner", cwd=sh.root / "outer")
        cwd, folder, hooks = sh.root / "outer/inner", "outer/inner", "outer/.git/modules/inner"
    sh.write(f"{folder}/old/1.md", "staged")
    sh.git("add", "old/1.md", cwd=cwd)
    sh.write(f"{folder}/old/1.md", "changed")
    sh.write(f"{folder}/old/new.md", "new")
    sh.write(f"{folder}/old/2.md", "theirs")
    sh.git("add", "old/2.md", cwd=cwd)
    if refused:
        refuse_by(sh, "pre-commit", hooks)
    before = everything(sh, folder)
    files = sorted(os.listdir(sh.root / "repo/.git"))
    done = sh.kb("commit", "old/1.md", "old/new.md", "-m", "m", cwd=cwd)
    if refused:
        assert done.code == 1 and everything(sh, folder) == before
        assert [name for name in sorted(os.listdir(sh.root / "repo/.git")) if not name.startswith("sharedindex")] == [
            name for name in files if not name.startswith("sharedindex")]
    else:
        assert done.ok() and sh.git("status", "--porcelain", cwd=cwd).out == "M  old/2.md\n"


def conflict(repo: Shell, how: str) -> None:
    """a.md in conflict, b.md changed besides."""
    cwd = repo.root / "repo"
    repo.git("checkout", "-q", "-b", "side", cwd=cwd)
    repo.write("repo/a.md", "side")
    repo.git("commit", "-qam", "side", cwd=cwd)
    repo.git("checkout", "-q", "main", cwd=cwd)
    if how == "stash":
        repo.write("repo/a.md", "stashed")
        repo.git("stash", "-q", cwd=cwd)
    repo.write("repo/a.md", "main")
    repo.git("commit", "-qam", "main", cwd=cwd)
    if how == "am":
        repo.write("patch", repo.git("format-patch", "-1", "--stdout", "side", cwd=cwd).out)
    words = {"merge": ["merge", "side"], "cherry-pick": ["cherry-pick", "side"], "revert": ["revert", "--no-edit", "HEAD~1"],
             "rebase": ["rebase", "side"], "rebase by apply": ["rebase", "--apply", "side"], "am": ["am", "-3", "../patch"],
             "stash": ["stash", "pop"], "squash": ["merge", "--squash", "side"]}[how]
    if how == "revert":
        repo.write("repo/a.md", "later")
        repo.git("commit", "-qam", "later", cwd=cwd)
    assert repo.run("git", *words, cwd=cwd).code != 0 and "a.md" in repo.git("ls-files", "-u", cwd=cwd).out
    repo.write("repo/new.md", "new")


@pytest.mark.parametrize("how", ["merge", "cherry-pick", "revert", "rebase", "rebase by apply", "am", "stash", "squash"])
def test_a_conflict_is_never_committed_and_its_three_sides_stay(repo: Shell, how: str) -> None:
    conflict(repo, how)
    before = everything(repo)
    for words in (("a.md",), (".",), ("new.md", "a.md")):
        done = repo.kb("commit", *words, "-m", "m", cwd=repo.root / "repo")
        assert done.code == 1 and done.out == "" and done.err.count("\n") == 1 and everything(repo) == before
        if how in ("stash", "squash"):
            assert "conflict in a.md" in done.err and "git add" in done.err
        else:
            name = how.partition(" ")[0]
            assert f"{name} is unfinished" in done.err and f"git {name} --abort" in done.err


@pytest.mark.parametrize("how", ["merge", "cherry-pick", "revert", "rebase"])
def test_nothing_lands_in_the_middle_of_an_operation_settled_or_not(repo: Shell, how: str) -> None:
    conflict(repo, how)
    repo.write("repo/a.md", "settled")
    repo.git("add", "a.md", cwd=repo.root / "repo")
    before = everything(repo)
    for name in ("a.md", "new.md"):
        done = repo.kb("commit", name, "-m", "m", cwd=repo.root / "repo")
        assert done.code == 1 and f"{how} is unfinished" in done.err and everything(repo) == before


def test_a_conflict_in_a_file_that_is_not_named_is_left_as_it_is(repo: Shell) -> None:
    conflict(repo, "stash")
    before = everything(repo)
    done = repo.kb("commit", "new.md", "-m", "m", cwd=repo.root / "repo")
    assert (done.code == 1 and everything(repo) == before) or head(repo) == ["new.md"]
    assert "a.md" in repo.git("ls-files", "-u", cwd=repo.root / "repo").out


def test_a_settled_conflict_of_a_stash_can_be_committed(repo: Shell) -> None:
    conflict(repo, "stash")
    repo.write("repo/a.md", "settled")
    repo.git("add", "a.md", cwd=repo.root / "repo")
    repo.kb("commit", "a.md", "-m", "m", cwd=repo.root / "repo").ok()
    assert head(repo) == ["a.md"]


def test_what_lies_beside_the_first_file_of_a_folder_is_still_dirty(repo: Shell) -> None:
    cwd = repo.root / "repo"
    for name in ("d/a.md", "d/b.md", "d/e/c.md", "z/y.md"):
        repo.write(f"repo/{name}", name)
    done = repo.kb("commit", "d/a.md", "-m", "one", cwd=cwd).ok()
    assert done.out.partition("\n\n")[2] == "left untouched, still dirty (3):\n  d/b.md\n  d/e/\n  z/\n"
    (cwd / "d/a.md").unlink()
    done = repo.kb("commit", "d/a.md", "-m", "the folder is untracked again", cwd=cwd).ok()
    assert done.out.partition("\n\n")[2] == "left untouched, still dirty (2):\n  d/\n  z/\n"
    done = repo.kb("commit", "d", "z", "-m", "all", cwd=cwd).ok()
    assert done.out.endswith("\n\nnothing else was dirty\n")


def test_a_repository_that_git_will_not_work_in_is_told_in_the_words_of_git(repo: Shell) -> None:
    repo.write("repo/a.md", "mine")
    done = repo.kb("commit", "repo/a.md", "-m", "m", env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert done.code == 1 and "dubious ownership" in done.err and "is in no git" not in done.err
    os.rename(repo.root / "repo/.git/HEAD", repo.root / "repo/.git/gone")
    done = repo.kb("commit", "repo/a.md", "-m", "m")
    assert done.code == 1 and f"{repo.root}/repo/.git" in done.err and "not a git repository" in done.err
    repo.write("linked/.git", "gitdir: /nowhere\n")
    repo.write("linked/a.md", "a")
    done = repo.kb("commit", "linked/a.md", "-m", "m")
    assert done.code == 1 and "not a git repository: /nowhere" in done.err and "is in no git" not in done.err
    repo.git("init", "-q", "--bare", "bare.git")
    done = repo.kb("commit", "bare.git/config", "-m", "m")
    assert done.code == 1 and ("cannot use bare repository" in done.err or "must be run in a work tree" in done.err)
    repo.write("alone/a.md", "a")
    assert "alone/a.md is in no git repository" in repo.kb("commit", "alone/a.md", "-m", "m").err


@pytest.mark.parametrize("names", [["GIT_DIR"], ["GIT_DIR", "GIT_WORK_TREE"], ["GIT_INDEX_FILE"], ["GIT_COMMON_DIR"],
                                   ["GIT_OBJECT_DIRECTORY"], ["GIT_PREFIX"], ["GIT_GLOB_PATHSPECS"], ["GIT_ICASE_PATHSPECS"]])
def test_the_repository_is_that_of_the_path_whatever_the_environment_says(repo: Shell, names: list[str]) -> None:
    repo.git("init", "-q", "-b", "main", "other")
    repo.write("other/a.md", "theirs")
    repo.write("repo/a.md", "mine")
    values = {"GIT_DIR": "other/.git", "GIT_WORK_TREE": "other", "GIT_INDEX_FILE": "other/.git/index", "GIT_COMMON_DIR": "other/.git",
              "GIT_OBJECT_DIRECTORY": "other/.git/objects", "GIT_PREFIX": "deep/", "GIT_GLOB_PATHSPECS": "1", "GIT_ICASE_PATHSPECS": "1"}
    env = {name: values[name] if values[name] in ("1", "deep/") else str(repo.root / values[name]) for name in names}
    repo.kb("commit", "a.md", "-m", "mine", cwd=repo.root / "repo", env=env).ok()
    assert head(repo) == ["a.md"] and repo.git("status", "--porcelain", cwd=repo.root / "repo").out == ""
    assert repo.git("status", "--porcelain", cwd=repo.root / "other").out == "?? a.md\n"


def test_a_bare_repository_inside_a_clone_runs_nothing(repo: Shell) -> None:
    mark = repo.root / "pwned"
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("objects/.keep", ""), ("refs/.keep", ""), ("a.md", "a"), ("config", (
            f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n"
            f"\tfsmonitor = \"echo x >> '{mark}'; false\"\n"))):
        repo.write(f"repo/sub/{name}", text)
    run = repo.kb("commit", "a.md", "-m", "m", cwd=repo.root / "repo/sub")
    assert run.code == 1 and not mark.exists() and "Traceback" not in run.err
    repo.run("git", "status", cwd=repo.root / "repo/sub")
    assert mark.exists()  # or this test shows nothing


def test_a_hook_of_one_repository_can_commit_to_another(repo: Shell) -> None:
    repo.git("init", "-q", "-b", "main", "log")
    repo.script("repo/.git/hooks/pre-commit", f"date > {repo.root}/log/log.md\n"
                f"cd {repo.root}/log && {sys.executable} -m kb commit log.md -m logged\n")
    repo.write("repo/a.md", "mine")
    repo.git("commit", "-q", "-m", "raw", "a.md", cwd=repo.root / "repo")
    assert head(repo) == ["a.md"]
    assert repo.git("log", "--format=%s", "--name-only", cwd=repo.root / "log").out == "logged\n\nlog.md\n"


def test_every_name_that_git_calls_local_is_unset_but_the_settings() -> None:
    told = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True).stdout.split()
    assert set(told) - {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"} <= OF_ANOTHER_REPOSITORY


SETTINGS = {
    "log.showRoot": "false", "log.showSignature": "true", "core.quotePath": "true", "color.ui": "always", "color.status": "always",
    "status.short": "true", "status.branch": "true", "status.showStash": "true", "status.renames": "copies", "status.relativePaths": "true",
    "status.showUntrackedFiles": "no", "status.submoduleSummary": "true", "diff.renames": "copies", "diff.relative": "true",
    "diff.noprefix": "true", "diff.ignoreSubmodules": "all", "diff.external": "false", "commit.cleanup": "strip", "commit.verbose": "true",
    "commit.template": "template.txt", "core.splitIndex": "true", "core.untrackedCache": "true", "core.editor": "false",
    "core.pager": "false", "core.abbrev": "40", "format.pretty": "%an", "add.ignoreErrors": "true", "i18n.logOutputEncoding": "latin1"}


@pytest.mark.parametrize("others", [{}, {"commit.cleanup": "scissors", "core.commentChar": "S", "status.showUntrackedFiles": "all"},
                                    {"commit.cleanup": "verbatim", "status.renames": "false", "diff.mnemonicPrefix": "true"}])
def test_no_setting_of_the_user_changes_what_is_read_or_written(sh: Shell, others: dict[str, str]) -> None:
    sh.git("init", "-q", "-b", "main", "repo")
    cwd = sh.root / "repo"
    for name, value in (SETTINGS | others).items():
        sh.git("config", name, value, cwd=cwd)
    message = "# Scope\n\nSaid in full\n# ------------------------ >8 ------------------------\nand the end"
    sh.write("repo/template.txt", "a template\n")
    sh.write("repo/schön/ü b.md", "u")
    sh.write("repo/schön/rest.md", "r")
    first = sh.kb("commit", "schön/ü b.md", "-m", message, cwd=cwd).ok()
    assert first.out.splitlines()[1:] == ["  schön/ü b.md", "", "left untouched, still dirty (2):", "  schön/rest.md", "  template.txt"]
    assert sh.git("cat-file", "commit", "HEAD", cwd=cwd).out.partition("\n\n")[2] == message + "\n"
    os.rename(cwd / "schön/ü b.md", cwd / "schön/two.md")
    sh.git("add", "--all", cwd=cwd)
    second = sh.kb("commit", "two.md", "-m", "m", cwd=cwd / "schön").ok()
    assert second.out.splitlines()[1:] == [
        "  schön/two.md", "", "left untouched, still dirty (3):", "  schön/rest.md", "  schön/ü b.md", "  template.txt"]
    sh.script("repo/.git/hooks/pre-commit", "echo h > hooked.md; git add hooked.md\n")
    sh.write("repo/schön/two.md", "again")
    third = sh.kb("commit", "schön/two.md", "-m", "m", cwd=cwd)
    assert third.code == 1 and "also holds hooked.md" in third.err


def test_the_first_commit_is_looked_through_for_what_a_hook_swept_in(sh: Shell) -> None:
    sh.git("init", "-q", "-b", "main", "repo")
    sh.git("config", "log.showRoot", "false", cwd=sh.root / "repo")
    sh.write("repo/a.md", "a")
    sh.write("repo/b.md", "b")
    sh.script("repo/.git/hooks/pre-commit", "git add b.md\n")
    done = sh.kb("commit", "a.md", "-m", "m", cwd=sh.root / "repo")
    assert done.code == 1 and "also holds b.md" in done.err


def commit_of(sh: Shell) -> list[str]:
    """The last commit: a letter and a name for each file."""
    told = sh.git("show", "--pretty=", "--name-status", "--no-renames", "-z", "HEAD", cwd=sh.root / "repo").out.split("\0")[:-1]
    return sorted(f"{letter} {name}" for letter, name in zip(told[::2], told[1::2], strict=True))


@pytest.mark.parametrize("name", ["a.md", *ODD])
@pytest.mark.parametrize("ignored", [True, False])
def test_a_file_that_was_taken_out_of_the_index_and_kept_on_disk_goes_when_it_is_named(repo: Shell, name: str, ignored: bool) -> None:
    cwd = repo.root / "repo"
    repo.write(f"repo/{name}", "private")
    repo.kb("commit", "-m", "too early", "--", ".", cwd=cwd).ok()
    repo.git("rm", "-q", "--cached", "--", f":(literal){name}", cwd=cwd)
    if ignored:
        repo.write("repo/.git/info/exclude", "*.md\n")
    repo.write("repo/b.md", "theirs, and staged")
    repo.git("add", "-f", "b.md", cwd=cwd)
    repo.write("repo/b.md", "theirs, and not")
    repo.kb("commit", "-m", "out", "--", name, cwd=cwd).ok()
    assert commit_of(repo) == [f"D {name}"] and repo.read(f"repo/{name}") == "private"
    assert repo.git("status", "--porcelain", "-z", cwd=cwd).out == "MM b.md\0" + ("" if ignored else f"?? {name}\0")


def test_what_is_taken_out_lands_with_whatever_else_is_named(repo: Shell) -> None:
    cwd = repo.root / "repo"
    for name in ("gone.md", "old.md", "private/x.md", "private/y.md"):
        repo.write(f"repo/{name}", name)
    repo.kb("commit", ".", "-m", "first", cwd=cwd).ok()
    repo.git("rm", "-q", "-r", "--cached", "private", "a.md", cwd=cwd)
    repo.git("rm", "-q", "gone.md", cwd=cwd)
    (cwd / "old.md").unlink()
    repo.write("repo/.gitignore", "*.log\nprivate/\n")
    repo.write("repo/a.md", "and changed since")
    repo.write("repo/new.md", "new")
    repo.write("repo/other.md", "new too")
    repo.kb("commit", "a.md", "private", "gone.md", "old.md", ".gitignore", "new.md", "-m", "out", cwd=cwd).ok()
    assert commit_of(repo) == ["A new.md", "D a.md", "D gone.md", "D old.md", "D private/x.md", "D private/y.md", "M .gitignore"]
    assert repo.git("status", "--porcelain", cwd=cwd).out == "?? a.md\n?? other.md\n"


def test_of_a_folder_what_is_taken_out_and_ignored_goes_and_the_rest_is_taken_up(repo: Shell) -> None:
    cwd = repo.root / "repo"
    repo.git("rm", "-q", "--cached", "a.md", cwd=cwd)
    done = repo.kb("commit", ".", "-m", "nothing", cwd=cwd)
    assert done.code == 1 and "nothing has changed" in done.err and "a.md" in done.err
    assert repo.git("status", "--porcelain", cwd=cwd).out == "D  a.md\n?? a.md\n"
    repo.git("rm", "-q", "--cached", "b.md", cwd=cwd)
    repo.write("repo/.gitignore", "*.log\na.md\n")
    repo.kb("commit", ".", "-m", "out", cwd=cwd).ok()
    assert commit_of(repo) == ["D a.md", "M .gitignore"] and repo.git("status", "--porcelain", cwd=cwd).out == ""
    assert repo.read("repo/a.md") == "a"


def test_a_repository_that_was_taken_in_by_mistake_can_be_taken_out(repo: Shell) -> None:
    cwd = repo.root / "repo"
    repo.write("repo/inner/x.md", "x")
    repo.git("init", "-q", "-b", "main", cwd=cwd / "inner")
    repo.git("add", ".", cwd=cwd / "inner")
    repo.git("commit", "-q", "-m", "inner", cwd=cwd / "inner")
    repo.git("-c", "advice.addEmbeddedRepo=false", "add", "inner", cwd=cwd)
    repo.git("commit", "-q", "-m", "by mistake", cwd=cwd)
    repo.git("rm", "-q", "--cached", "inner", cwd=cwd)
    repo.write("repo/.gitignore", "*.log\ninner/\n")
    repo.kb("commit", ".", "-m", "out", cwd=cwd).ok()
    assert commit_of(repo) == ["D inner", "M .gitignore"] and (cwd / "inner/x.md").exists()


@pytest.mark.parametrize("how", REFUSALS)
def test_a_refusal_leaves_what_was_taken_out_as_it_was(repo: Shell, how: str) -> None:
    cwd = repo.root / "repo"
    repo.git("rm", "-q", "--cached", "a.md", cwd=cwd)
    repo.write("repo/b.md", "changed")
    repo.write("repo/new.md", "new")
    refuse_by(repo, how)
    before, index = everything(repo), (cwd / ".git/index").read_bytes()
    done = repo.kb("commit", "a.md", "b.md", "new.md", "-m", "m", cwd=cwd)
    assert done.code == 1 and done.out == "" and everything(repo) == before
    assert (cwd / ".git/index").read_bytes() == index and not (cwd / ".git/index.lock").exists()


def test_nobody_commits_between_and_a_hook_sees_what_is_committed(repo: Shell) -> None:
    cwd = repo.root / "repo"
    repo.git("rm", "-q", "--cached", "a.md", cwd=cwd)
    repo.write("repo/b.md", "staged by somebody")
    repo.git("add", "b.md", cwd=cwd)
    repo.script("repo/.git/hooks/pre-commit", f"""
git diff --cached --name-only > {repo.root}/seen
env -u GIT_INDEX_FILE git commit -q --no-verify -m theirs -- b.md 2> {repo.root}/theirs
exit 0
""")
    repo.kb("commit", "a.md", "-m", "out", cwd=cwd).ok()
    assert repo.read("seen") == "a.md\n" and "index.lock" in repo.read("theirs")
    assert commit_of(repo) == ["D a.md"] and repo.git("status", "--porcelain", cwd=cwd).out == "M  b.md\n?? a.md\n"


def test_a_lock_of_somebody_else_is_waited_for_when_a_file_is_taken_out(repo: Shell) -> None:
    repo.git("rm", "-q", "--cached", "a.md", cwd=repo.root / "repo")
    lock = repo.write("repo/.git/index.lock", "")
    timer = threading.Timer(0.5, lock.unlink)
    timer.start()
    repo.kb("commit", "a.md", "-m", "out", cwd=repo.root / "repo").ok()
    timer.join()
    assert commit_of(repo) == ["D a.md"]


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize(("old", "new", "named"), [
    ("d", "d/x.md", "d"), ("d", "d/x.md", "d/x.md"), ("d", "d/x.md", "d/"), ("d", "d/e/x.md", "d/e"), ("d", "d/x.md", "."),
    ("d/x.md", "d", "d"), ("d/e/x.md", "d/e", ".")])
def test_a_file_and_a_folder_that_change_places_land(repo: Shell, old: str, new: str, named: str, staged: bool) -> None:
    import shutil

    cwd = repo.root / "repo"
    repo.write(f"repo/{old}", "old")
    repo.kb("commit", "d", "-m", "old", cwd=cwd).ok()
    top = cwd / min(old, new)
    shutil.rmtree(top) if top.is_dir() else top.unlink()
    repo.write(f"repo/{new}", "new")
    if staged:
        repo.git("add", "--all", cwd=cwd)
    done = repo.kb("commit", named, "-m", "new", cwd=cwd).ok()
    assert done.err == "" and commit_of(repo) == sorted([f"D {old}", f"A {new}"])
    assert repo.git("status", "--porcelain", cwd=cwd).out == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("whom", ["kb", "everything that runs"])
@pytest.mark.parametrize("out", [True, False])
def test_being_told_to_end_leaves_all_as_it_was(repo: Shell, number: signal.Signals, whom: str, out: bool) -> None:
    cwd = repo.root / "repo"
    os.mkfifo(repo.root / "started")
    repo.script("repo/.git/hooks/pre-commit", f"echo > {repo.root}/started\nexec sleep 60 >&- 2>&-\n")
    (repo.root / "tmp").mkdir()
    repo.write("repo/b.md", "mine")
    repo.write("repo/new.md", "mine")
    if out:
        repo.git("rm", "-q", "--cached", "a.md", cwd=cwd)
    before = everything(repo)
    words = ["a.md", "b.md", "new.md"] if out else ["b.md", "new.md"]
    kb = subprocess.Popen([sys.executable, "-m", "kb", "commit", *words, "-m", "m"], cwd=cwd, start_new_session=True,
                          env={**repo.env, "TMPDIR": str(repo.root / "tmp")}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert repo.read("started") == "\n"
    os.kill(kb.pid, number) if whom == "kb" else os.killpg(kb.pid, number)
    told = kb.communicate(timeout=30)
    assert (kb.returncode, *told) == (128 + number, b"", b"")
    assert everything(repo) == before and not list((cwd / ".git").glob("*.lock")) and not list((repo.root / "tmp").iterdir())
    if whom == "kb":
        os.killpg(kb.pid, signal.SIGKILL)  # the hook's own sleep


def test_a_hang_up_that_the_caller_ignores_stays_ignored(repo: Shell) -> None:
    repo.script("repo/.git/hooks/pre-commit", "kill -HUP $KB_PID\n")
    repo.write("repo/a.md", "mine")
    repo.run("sh", "-c", 'trap "" HUP; export KB_PID=$$; exec "$@"', "sh", sys.executable, "-m", "kb", "commit", "a.md", "-m", "m",
             cwd=repo.root / "repo").ok()
    assert head(repo) == ["a.md"]
