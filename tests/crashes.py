"""A real kb process that is killed at a chosen step."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

from tests.conftest import Shell

# Runs kb, and kills its own process just before the n-th step that changes the disk or starts git.
DRIVER = """
import os, signal, subprocess, sys
left = [int(sys.argv.pop(1))]
def dying(act):
    def step(*args, **named):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*args, **named)
    return step
real_open = os.open
def opening(path, flags, *rest, **named):
    writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    return (dying(real_open) if writes else real_open)(path, flags, *rest, **named)
os.open = opening
for name in ("write", "replace", "rename", "unlink", "mkdir", "fsync", "rmdir"):
    setattr(os, name, dying(getattr(os, name)))
subprocess.run = dying(subprocess.run)
from kb.cli.main import run
sys.argv[0] = "kb"
run()
"""


def crashes(sh: Shell, *words: str, stdin: str = "", reset: Iterator[None] | None = None, stride: int = 1) -> Iterator[int]:
    """Run kb again and again, each time killed `stride` steps later, until a run lives to its end. Yields the step."""
    env = {**sh.env, "PYTHONDONTWRITEBYTECODE": "1"}
    for step in range(1, 400, stride):
        if reset is not None:
            next(reset)
        done = subprocess.run([sys.executable, "-c", DRIVER, str(step), *words], input=stdin.encode(), capture_output=True,
                              cwd=sh.root, env=env, timeout=60)
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0, done.stderr.decode()
            assert step > 3, "nothing was ever killed"
            return
        yield step
    raise AssertionError("it never came to its end")
