"""Files: atomic writes, locks between processes, reading."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kb.errors import KbError
from kb.store.files import locked, read_text, write_atomic


def test_a_write_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_atomic(tmp_path / "deep/er/a.txt", "one")
    write_atomic(tmp_path / "deep/er/a.txt", b"two\r\n")
    assert (tmp_path / "deep/er/a.txt").read_bytes() == b"two\r\n" and os.listdir(tmp_path / "deep/er") == ["a.txt"]


def test_permissions_are_kept_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(target)
    write_atomic(tmp_path / "link.txt", "new")
    assert (target.read_text(), target.stat().st_mode & 0o777, (tmp_path / "link.txt").is_symlink()) == ("new", 0o640, True)


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        write_atomic(tmp_path / "a", "x")
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_write_names_the_file_that_it_was_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as replaced:
        write_atomic(tmp_path / "folder", "x")
    assert (replaced.value.filename, replaced.value.filename2) == (str(tmp_path / "folder"), None)
    (tmp_path / "link.md").symlink_to(tmp_path / "note.md")
    code = ("import resource, sys\nfrom kb.store.files import write_atomic\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
            "try:\n    write_atomic(sys.argv[1], 'more than ten bytes')\nexcept OSError as error:\n    print(error.filename)")
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path / "link.md")], capture_output=True, text=True, check=True).stdout
    assert told == f"{tmp_path}/note.md\n" and sorted(os.listdir(tmp_path)) == ["folder", "link.md"]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfa\r\nb", b"a\r\nb"])
def test_a_byte_order_mark_is_stripped_and_line_ends_stay(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    assert read_text(tmp_path / "a") == "a\r\nb"


def test_a_lock_held_by_another_process_is_waited_for_and_then_told(tmp_path: Path) -> None:
    code = ("import sys; from kb.store.files import locked\n"
            "with locked(sys.argv[1]):\n    print('held', flush=True); sys.stdin.read()")
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "log.txt")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdin is not None and holder.stdout.readline() == "held\n"
    with pytest.raises(KbError, match="in use"), locked(tmp_path / "log.txt", wait=0.05):
        pass
    holder.stdin.close()
    holder.wait()
    holder.stdout.close()
    with locked(tmp_path / "log.txt", wait=5):
        pass


def test_a_lock_dies_with_the_process_that_held_it(tmp_path: Path) -> None:
    code = "import sys, os; from kb.store.files import locked\nwith locked(sys.argv[1]): os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "log.txt")], check=False)
    with locked(tmp_path / "log.txt", wait=1):
        pass
