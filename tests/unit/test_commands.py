"""The runner of external commands, against real processes that misbehave in every way we know of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb.store.commands import CommandFailed, command_words, resolve_program, run_command, split_command

PYTHON = sys.executable


def python(code: str) -> list[str]:
    return [PYTHON, "-c", code]


def ends(pid: int) -> bool:
    """Whether a process that was sent a signal is gone, or a zombie, within a few seconds: a signal takes a moment."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
    return False


# ------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(("command", "words"), [
    ("prog -q --fast", ["prog", "-q", "--fast"]),
    ('"/opt/my tools/x" -q', ["/opt/my tools/x", "-q"]),
    ('prog "" x', ["prog", "", "x"]),
    ("prog '#7' \"a # b\"", ["prog", "#7", "a # b"]),
    ("prog   a\tb", ["prog", "a", "b"]),
    ("prog a\\ b", ["prog", "a b"]),
    ("prog $(id) ; rm -rf ~ | x > y && z", ["prog", "$(id)", ";", "rm", "-rf", "~", "|", "x", ">", "y", "&&", "z"]),
])
def test_a_command_is_split_like_a_shell_would_and_nothing_is_expanded(command, words):
    assert split_command(command) == words


@pytest.mark.parametrize("command", ["", "   ", "prog 'never closed"])
def test_a_command_without_words_is_refused(command):
    with pytest.raises(CommandFailed):
        split_command(command)


def test_a_file_of_the_fleet_wins_over_path_and_a_bare_name_is_found_there(tmp_path):
    (tmp_path / "sh").write_text("#!/bin/true\n")
    assert resolve_program("sh", str(tmp_path)) == str(tmp_path / "sh")
    assert resolve_program("cat", str(tmp_path)).endswith("/cat")


@pytest.mark.parametrize("word", ["../../../../bin/sh", "tools/../../x", "tools/none.sh", "no-such-program-anywhere"])
def test_a_program_that_climbs_out_or_is_not_there_is_refused(tmp_path, word):
    with pytest.raises(CommandFailed):
        resolve_program(word, str(tmp_path))


def test_a_relative_entry_of_path_never_finds_a_program_in_the_current_folder(tmp_path, monkeypatch):
    evil = tmp_path / "kb-evil"
    evil.write_text("#!/bin/sh\necho evil\n")
    evil.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    with pytest.raises(CommandFailed):
        resolve_program("kb-evil", "/nonexistent")


# ------------------------------------------------------------------------------------------ what a child gets


def test_the_prompt_arrives_whole_and_the_reply_comes_back_whole():
    text = "grüße, おはよう 🐘\n" * 50_000
    assert run_command(["cat"], name="m", stdin=text) == text


def test_a_child_stands_in_its_own_empty_private_folder_that_is_gone_afterwards():
    code = "import os; print(os.getcwd(), os.listdir(), oct(os.stat('.').st_mode & 0o777))"
    out = run_command(python(code), name="m")
    place, rest = out.split(" ", 1)
    assert rest.strip() == "[] 0o700" and not os.path.exists(place)
    assert place != run_command(python("import os; print(os.getcwd())"), name="m").strip()


def test_a_child_is_told_the_fleet_and_that_it_is_inside_a_call_and_does_not_inherit_the_approval(monkeypatch):
    monkeypatch.setenv("KB_TRUST", "1")
    code = "import os; print([os.environ.get(n) for n in ('KB_FLEET_ROOT', 'KB_INSIDE_MODEL', 'KB_TRUST')])"
    out = run_command(python(code), name="m", root="/a/fleet")
    assert out.strip() == "['/a/fleet', '1', None]"


def test_python_keeps_what_it_compiles_in_the_users_cache_and_never_in_the_fleet(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home/.cache"))
    code = "import sys; print(sys.pycache_prefix)"
    assert run_command(python(code), name="m", root="/a/fleet").strip() == str(tmp_path / "home/.cache/kb/compiled")
    assert run_command(python(code), name="m", root=str(tmp_path / "home")).strip() == os.devnull


# ------------------------------------------------------------------------------------------ children that misbehave


def test_a_child_that_never_reads_its_stdin_is_heard_all_the_same():
    assert run_command(["echo", "yes"], name="m", stdin="x" * 5_000_000) == "yes\n"


def test_a_child_that_answers_before_it_reads_does_not_deadlock():
    code = "import sys; sys.stdout.write('y' * 3_000_000); sys.stdout.flush(); print(len(sys.stdin.read()))"
    assert run_command(python(code), name="m", stdin="x" * 3_000_000).endswith("y3000000\n")


def test_a_child_that_floods_stderr_does_not_block_and_only_the_tail_is_told():
    code = "import sys; sys.stderr.write('noise ' * 500_000 + 'no credit left'); sys.exit(3)"
    with pytest.raises(CommandFailed) as error:
        run_command(python(code), name="the judge")
    assert "the judge failed with exit 3" in str(error.value) and str(error.value).endswith("no credit left")
    assert len(str(error.value)) < 2200


def test_a_child_that_floods_stdout_is_ended():
    started = time.monotonic()
    with pytest.raises(CommandFailed, match="more than 100000 bytes"):
        run_command(["yes"], name="m", limit=100_000, timeout=30)
    assert time.monotonic() - started < 10


def test_a_child_that_never_writes_is_ended_at_the_timeout_with_all_that_it_started(tmp_path):
    script = f"sleep 60 & echo $! > {tmp_path}/pid; echo stuck >&2; sleep 60"
    started = time.monotonic()
    with pytest.raises(CommandFailed, match=r"did not finish within 0\.5 s: stuck"):
        run_command(["sh", "-c", script], name="m", timeout=0.5)
    assert time.monotonic() - started < 5
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_grandchild_that_keeps_the_pipes_open_neither_delays_the_answer_nor_outlives_it(tmp_path):
    started = time.monotonic()
    script = f"sleep 60 & echo $! > {tmp_path}/pid; echo done"
    assert run_command(["sh", "-c", script], name="m", timeout=30) == "done\n"
    assert time.monotonic() - started < 5
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_child_that_closes_its_pipes_and_stays_is_ended_at_the_timeout():
    with pytest.raises(CommandFailed, match="did not finish"):
        run_command(["sh", "-c", "exec >&- 2>&- <&-; sleep 60"], name="m", timeout=0.5)


def test_a_daemon_that_left_the_group_does_not_delay_the_answer(tmp_path):
    started = time.monotonic()
    run_command(["sh", "-c", f"setsid sleep 20 & echo $! > {tmp_path}/pid; echo done"], name="m", timeout=30)
    assert time.monotonic() - started < 5
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_bytes_that_are_no_utf8_are_replaced():
    assert run_command(["printf", r"caf\351 \377"], name="m") == "caf� �"


@pytest.mark.parametrize("script", ["true", "echo", "printf ' \\n\\t'"])
def test_blank_output_is_a_failure(script):
    with pytest.raises(CommandFailed, match="printed nothing"):
        run_command(["sh", "-c", script], name="m")


def test_output_of_a_child_that_failed_is_no_answer():
    with pytest.raises(CommandFailed, match="exit 4"):
        run_command(["sh", "-c", "echo Yes.; exit 4"], name="m")


def test_a_child_that_dies_by_a_signal_is_told_so():
    with pytest.raises(CommandFailed, match="signal 9"):
        run_command(["sh", "-c", "echo Yes.; kill -9 $$"], name="m")


def test_what_cannot_be_started_is_told_in_one_line(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("no program\n")
    for words in ([str(plain)], [str(tmp_path)], ["a\0b"]):
        with pytest.raises(CommandFailed, match="cannot be started"):
            run_command(words, name="m")


def test_a_host_that_ends_kb_ends_the_model_too(tmp_path):
    code = (f"from kb.store.commands import run_command\n"
            f"run_command(['sh', '-c', 'echo $$ > {tmp_path}/pid; exec sleep 60'], name='m')")
    kb = subprocess.Popen(python(code))
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    kb.terminate()
    assert kb.wait(10) == 143
    assert ends(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_while_the_model_is_being_started_ends_the_model_too(tmp_path, number, code):
    told = f"""
import os, signal, subprocess, tempfile
tempfile.tempdir = {str(tmp_path)!r}
started = subprocess.Popen.__init__
def start(self, *words, **settings):
    started(self, *words, **settings)
    open({str(tmp_path / "pid")!r}, "w").write(str(self.pid))
    os.kill(os.getpid(), signal.{number})
subprocess.Popen.__init__ = start
from kb.store.commands import run_command
try:
    run_command(["sleep", "60"], name="m")
except KeyboardInterrupt:
    raise SystemExit(130)
"""
    assert subprocess.run(python(told), timeout=30, check=False).returncode == code
    assert ends(int((tmp_path / "pid").read_text()))
    assert [path.name for path in tmp_path.iterdir()] == ["pid"], "the folder it stood in is gone"


def test_nothing_is_left_open_or_running_after_many_calls():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        run_command(["cat"], name="m", stdin="x")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_command_of_the_fleet_is_found_from_any_folder(tmp_path, monkeypatch):
    tool = tmp_path / "fleet" / "tools" / "say it.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    tool.chmod(0o755)
    monkeypatch.chdir("/")
    words = command_words("'tools/say it.sh' '' 'a b' #x", str(tmp_path / "fleet"))
    assert run_command(words, name="m") == "|a b|#x|"
