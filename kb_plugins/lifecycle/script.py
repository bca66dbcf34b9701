"""The console script `majordomus`: the same commands under the names of the page, without the catalogue around them."""

from __future__ import annotations

import sys


def run() -> None:
    """Run one command line and leave with its exit code."""
    sys.exit(main(sys.argv[1:]))


def main(words: list[str]) -> int:
    """The exit code of one command line. Errors are one line on stderr; a traceback only with KB_DEBUG=1."""
    import io
    import os

    import click

    from kb.api import KbError
    from kb_plugins.lifecycle.cli.root import majordomus

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = majordomus.main(args=words, prog_name="majordomus", standalone_mode=False)
        sys.stdout.flush()
        return int(code) if isinstance(code, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KbError as error:
        _say(str(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return 130
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - so that the interpreter's last flush stays quiet
        return 0
    except Exception as error:  # the boundary: whatever is left is a bug, told in one line
        if os.environ.get("KB_DEBUG") == "1":
            raise
        _say(f"this is a bug: {type(error).__name__}: {error}; run it again with KB_DEBUG=1 for the traceback")
        return 1


def _say(message: str) -> None:
    from kb.api import printable

    try:
        sys.stderr.write(f"majordomus: {printable(message, lines=True)}\n")
    except OSError:
        pass
