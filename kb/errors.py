"""The one error type that crosses a boundary, and the exit codes it turns into."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a finished command tells its caller. Plugins may return other codes; these four are the host's."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    PLUGIN = 3


class KbError(Exception):
    """A failure that a person can act on: one line on stderr, an MCP error, or a page. Never a traceback.

    `message` says what is wrong, `hint` what to do about it; `exit_code` is what the process returns.
    """

    exit_code: int = ExitCode.FAILURE

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(KbError):
    """The words of the command are wrong: exit 2, nothing was done."""

    exit_code = ExitCode.USAGE


class PluginError(KbError):
    """A plugin that the verb needs is off or broken: exit 3."""

    exit_code = ExitCode.PLUGIN
