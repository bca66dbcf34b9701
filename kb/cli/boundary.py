"""From a command line to an exit code: what click, an operation or a bug raises becomes one line on stderr."""

from __future__ import annotations

import io
import os
import sys

import click

from kb.cli.group import root
from kb.core.display import printable
from kb.errors import ExitCode, KbError


def guarded(words: list[str]) -> int:
    """Run the command group on `words`. No traceback for a user's mistake; one with KB_DEBUG=1 for a bug of ours."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII locale or a lone surrogate never crashes the output
            stream.reconfigure(errors="backslashreplace")
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
        say(str(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return 130
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush stays quiet
        return ExitCode.OK
    except Exception as error:  # noqa: BLE001 - the boundary: whatever is left is a bug, told in one line
        if os.environ.get("KB_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        else:
            say(f"this is a bug in kb: {type(error).__name__}: {error}; run it again with KB_DEBUG=1 for the traceback")
        return ExitCode.FAILURE


def say(message: str) -> None:
    """One line on stderr, with control characters shown and not obeyed."""
    try:
        sys.stderr.write(f"kb: {printable(message, lines=True)}\n")
    except OSError:
        pass
