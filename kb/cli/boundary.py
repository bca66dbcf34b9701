"""From a command line to an exit code: what click, an operation or a bug raises becomes one line on stderr."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from kb.cli.group import provider_of, root
from kb.core.display import printable
from kb.errors import ExitCode, KbError, PluginError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what a write to stdout may say, and no look-up does
_DISK = (*_FULL, errno.EROFS, errno.EACCES, errno.EPERM)  # what a disk says of a file, whatever the program does right


def guarded(words: list[str]) -> int:
    """Run the command group on `words`. No traceback for a user's mistake; one with KB_DEBUG=1 for a bug of ours."""
    # a descriptor that the caller closed is no stream at all, and nothing below expects that
    sys.stdout, sys.stderr = sys.stdout or open(os.devnull, "w"), sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII locale or a lone surrogate never crashes the output
            stream.reconfigure(errors="backslashreplace")
    _wait_for_pipes()
    out = sys.stdout
    try:
        code = root.main(args=words, prog_name="kb", standalone_mode=False)
        sys.stdout.flush()
        return int(code) if isinstance(code, int) else ExitCode.OK
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KbError as error:
        if isinstance(error, PluginError) and error.__cause__ is not None and os.environ.get("KB_DEBUG") == "1":
            import traceback

            traceback.print_exception(error.__cause__)  # for whoever mends the plugin
        say(str(error))
        return error.exit_code
    except SystemExit as leave:
        if sys.stdout is not out:
            return unwritten(BrokenPipeError())  # click puts another stream in its place when the reader has left
        if leave.code is None or isinstance(leave.code, int):
            raise
        say(str(leave.code))  # Python would print it as it stands, escape sequences and all
        return ExitCode.FAILURE
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return 130
    except OSError as error:
        if isinstance(error, BrokenPipeError) or (error.filename is None and error.errno in _FULL):
            return unwritten(error)
        if _folder_is_gone():
            say("the current folder is gone; change to one that exists")
            return ExitCode.FAILURE
        if error.filename is not None and error.errno in _DISK:
            say(f"cannot read or write {_named(error.filename)}: {error.strerror}")
            return ExitCode.FAILURE
        return _bug(error, words)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever is left is a bug, told in one line
        return _bug(error, words)


def _wait_for_pipes() -> None:
    """Make the standard descriptors wait. A caller may hand over a pipe that does not: a read of it would look like the end of
    the input while the writer is still busy, and a long output would end in its middle."""
    for descriptor in (0, 1, 2):
        with suppress(OSError):  # it is closed, or no such thing can be set on it
            if not os.get_blocking(descriptor):
                os.set_blocking(descriptor, True)


@contextmanager
def until_the_reader_leaves() -> Iterator[None]:
    """Print for a reader who may leave early (`| head`): that ends the printing, and leaves the exit code to what follows."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush stays quiet


def unwritten(error: OSError) -> int:
    """The exit code when stdout took no more: 0 when its reader has left, else 1 and a line that says why."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush stays quiet
    if isinstance(error, BrokenPipeError):
        return ExitCode.OK
    say(f"cannot write the output: {error.strerror}")
    return ExitCode.FAILURE


def _folder_is_gone() -> bool:
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _named(filename: str | bytes | int) -> str:
    """The file of an OSError as text: a descriptor gives its number."""
    return os.fsdecode(filename) if isinstance(filename, str | bytes) else f"descriptor {filename}"


def _bug(error: Exception, words: list[str]) -> int:
    from kb.blame import reason

    plugin = provider_of(words[0]) if words else None
    if os.environ.get("KB_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    else:
        who = "this is a bug in kb" if plugin is None else f"the verb {words[0]} of plugin {plugin} failed"
        say(f"{who}: {reason(error)}; run it again with KB_DEBUG=1 for the traceback")
    return ExitCode.FAILURE if plugin is None else ExitCode.PLUGIN


def say(message: str) -> None:
    """One line on stderr, whatever names and replies the message quotes; control characters are shown and not obeyed."""
    try:
        sys.stderr.write(f"kb: {printable(' '.join(line.strip() for line in message.splitlines()))}\n")
    except OSError:
        pass
