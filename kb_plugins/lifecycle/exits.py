"""The exit codes of the lifecycle, and the failures that carry them."""

from __future__ import annotations

from kb.api import KbError

INVALID = 10
DRIFT = 11
ABSENT = 12
UNWRITABLE = 13
CONFLICT = 15


def invalid(message: str, hint: str | None = None) -> KbError:
    """What was given, or what stands on disk, is not acceptable: exit 10."""
    return KbError(message, hint=hint, exit_code=INVALID)


def absent(message: str, hint: str | None = None) -> KbError:
    """The thing named does not exist: exit 12."""
    return KbError(message, hint=hint, exit_code=ABSENT)


def unwritable(message: str, hint: str | None = None) -> KbError:
    """Nothing could be written, or an internal rule of the ledger was broken: exit 13."""
    return KbError(message, hint=hint, exit_code=UNWRITABLE)


def conflict(message: str, hint: str | None = None) -> KbError:
    """Something is already there, or belongs to another checkout: exit 15."""
    return KbError(message, hint=hint, exit_code=CONFLICT)
