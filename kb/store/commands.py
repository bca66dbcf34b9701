"""The one runner of external commands: models and extractors, each a program that reads stdin and writes stdout.

A child gets a private empty folder to stand in (a command line tool that inspects where it was started finds nothing),
its own process group, and a limit on its time and on what it may print. No shell is involved.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from kb.errors import KbError
from kb.store.ending import ending_unwinds, undisturbed
from kb.store.files import cache_home, is_inside

if TYPE_CHECKING:
    from selectors import BaseSelector
    from subprocess import Popen

DEFAULT_TIMEOUT = 120.0
MAX_OUTPUT = 32 * 1024 * 1024
INSIDE = "KB_INSIDE_MODEL"
_TAIL = 2000
_SILENCE = 0.1  # seconds that a pipe held open by a grandchild must be quiet before it is given up
_POLL = 0.05


class CommandFailed(KbError):
    """A command that could not be started, ran out of time, failed, printed nothing or printed too much."""


class TooMuchOutput(CommandFailed):
    """A command that printed more than it may."""


class BadCommand(CommandFailed):
    """A command that can never run as it is written, whatever is installed."""


def split_command(command: str) -> list[str]:
    """The words of a command as a POSIX shell would split them; nothing is expanded. Raises BadCommand."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadCommand(f"the command `{command}` cannot be split into words: {error}") from None
    if not words:
        raise BadCommand("the command is blank")
    return words


def resolve_program(word: str, root: str) -> str:
    """The program that `word` names: a file of the fleet at `root`, an absolute path, else a name found on PATH.

    A relative path that climbs out of the fleet is refused: what it names would depend on where the fleet was put.
    Relative entries of PATH are passed over. Raises BadCommand for that path and for a blank word, CommandFailed when
    there is no such program.
    """
    if not word.strip():
        raise BadCommand("the command names no program")
    inside = os.path.normpath(os.path.join(root, word))
    absolute = word.startswith(os.sep)
    if not absolute and not is_inside(inside, root):
        raise BadCommand(f"the program {word} lies outside the fleet", hint="name it by its absolute path")
    if os.path.isfile(inside):
        return inside
    if os.sep in word:
        raise CommandFailed(f"there is no program {word}" + ("" if absolute else f" in {root}"))
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(folder, word)
        if folder.startswith(os.sep) and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise CommandFailed(f"there is no program {word}, neither in {root} nor on PATH")


def command_words(command: str, root: str) -> list[str]:
    """A command line ready to run: split, and its program resolved. Raises CommandFailed."""
    words = split_command(command)
    return [resolve_program(words[0], root), *words[1:]]


def run_command(words: Sequence[str], *, name: str, root: str = "", stdin: str = "", timeout: float = DEFAULT_TIMEOUT,
                limit: int = MAX_OUTPUT) -> str:
    """Run `words` with `stdin` and return what it printed, as UTF-8 with what is invalid replaced.

    `name` is what messages call it; `root` is told to the child as KB_FLEET_ROOT; `timeout` is in seconds, `limit` in
    bytes. When it is over, by whatever way, nothing of the child's process group is left running.
    Raises CommandFailed on a non-zero exit, blank output, no end in time or too much output, with the tail of stderr.
    """
    import shutil

    scratch, process = "", None
    with ending_unwinds():  # by default a host that ends kb would leave an orphan
        try:
            with undisturbed():
                scratch, process = _start(words, name, root)
            talk = _Conversation(process, stdin.encode("utf-8", "replace"), timeout, limit)
            problem = talk.run()
        finally:
            if process is not None:
                _end(process)
                shutil.rmtree(scratch, ignore_errors=True)
    if problem is None and process.returncode != 0:
        code = process.returncode
        problem = f"failed with exit {code}" if code > 0 else f"was ended by signal {-code}"
    output = talk.out.decode("utf-8", "replace")
    if problem is None and not output.strip():
        problem = "printed nothing"
    if problem is not None:
        kind = TooMuchOutput if len(talk.out) > limit else CommandFailed
        tail = talk.tail.decode("utf-8", "replace").strip()
        raise kind(f"{name} {problem}" + (f": {tail}" if tail else ""))
    return output


def _start(words: Sequence[str], name: str, root: str) -> tuple[str, Popen[bytes]]:
    """The empty folder that a child stands in, and the child. Raises CommandFailed, and leaves no folder then."""
    import subprocess
    import tempfile

    try:
        scratch = tempfile.mkdtemp(prefix="kb-run-")
    except OSError as error:
        raise CommandFailed(f"{name} cannot be started: there is no folder for temporary files: {error.strerror}") from None
    try:
        return scratch, subprocess.Popen(
            list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            cwd=scratch, env=_environment(root), start_new_session=True)
    except (OSError, ValueError) as error:
        os.rmdir(scratch)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandFailed(f"{name} cannot be started: {words[0]}: {reason}") from None


class _Conversation:
    """Writes the child's stdin while it drains stdout and stderr, so that neither side ever waits for the other."""

    def __init__(self, process: Popen[bytes], stdin: bytes, timeout: float, limit: int) -> None:
        self.process, self.pending, self.timeout, self.limit = process, memoryview(stdin), timeout, limit
        self.out = bytearray()
        self.tail = bytearray()

    def run(self) -> str | None:
        """Talk until the child has ended and its pipes are empty. What went wrong, or None."""
        import selectors

        end = time.monotonic() + self.timeout
        ended = False
        with selectors.DefaultSelector() as selector:
            self._open(selector)
            while True:
                left = end - time.monotonic()
                if left <= 0:
                    return f"did not finish within {self.timeout:g} s"
                ended = ended or _has_ended(self.process)
                ready = selector.select(min(left, _SILENCE if ended else _POLL)) if selector.get_map() else []
                for key, _ in ready:
                    self._step(selector, key.fileobj)
                if len(self.out) > self.limit:
                    return f"printed more than {self.limit} bytes"
                if ended and not ready:
                    return None
                if not selector.get_map():
                    if ended:
                        return None
                    time.sleep(min(left, _POLL))

    def _open(self, selector: BaseSelector) -> None:
        import selectors

        process = self.process
        for pipe, event in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, selectors.EVENT_READ),
                            (process.stderr, selectors.EVENT_READ)):
            assert pipe is not None
            if pipe is process.stdin and not self.pending:
                pipe.close()
                continue
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, event)

    def _step(self, selector: BaseSelector, pipe: Any) -> None:
        stream: IO[bytes] = pipe
        if stream is self.process.stdin:
            try:
                self.pending = self.pending[os.write(stream.fileno(), self.pending[:65536]):]
            except BlockingIOError:
                return
            except OSError:  # it reads no more; what it prints still counts
                self.pending = self.pending[:0]
            if not self.pending:
                selector.unregister(stream)
                stream.close()
            return
        try:
            data = os.read(stream.fileno(), 65536)
        except BlockingIOError:
            return
        if not data:
            selector.unregister(stream)
        elif stream is self.process.stdout:
            self.out += data
        else:
            self.tail = (self.tail + data)[-_TAIL:]


def _has_ended(process: Popen[bytes]) -> bool:
    """Whether the child has ended, without reaping it: its number stays its own until its group has been ended."""
    waitid = getattr(os, "waitid", None)
    if waitid is None:
        return process.poll() is not None
    return waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: Popen[bytes]) -> None:
    import signal

    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of nothing but a zombie
            pass
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass


def _environment(root: str) -> dict[str, str]:
    """The caller's environment; KB_INSIDE_MODEL keeps a hook of the child from asking the models again, for ever."""
    environment = {name: value for name, value in os.environ.items() if name != "KB_TRUST"}
    environment[INSIDE] = "1"
    environment["PYTHONSAFEPATH"] = "1"  # or tools/json.py of a later pull would run inside an approved tools/model.py
    environment["PYTHONPYCACHEPREFIX"] = _compiled(root)
    if root:
        environment["KB_FLEET_ROOT"] = root
    return environment


def _compiled(root: str) -> str:
    """Where a child's Python keeps what it compiles: never in the fleet, whose `__pycache__` a pull can fill.

    A file there would run in place of the approved one beside it. In the user's cache it is compiled once, not every time.
    """
    folder = os.path.join(cache_home(), "compiled")
    return os.devnull if root and is_inside(os.path.realpath(folder), os.path.realpath(root)) else folder
