"""The one clock. `KB_NOW` (ISO 8601, UTC) replaces it; every date that kb writes is UTC."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from kb.errors import UsageError


def now() -> datetime:
    """The present moment, aware and in UTC; KB_NOW when it is set. Raises UsageError when KB_NOW is not ISO 8601."""
    text = os.environ.get("KB_NOW", "").strip()
    return moment_of("KB_NOW", text) if text else datetime.now(UTC)


def moment_of(name: str, text: str) -> datetime:
    """The moment that `text` names, aware and in UTC. Raises UsageError, which begins with `name`, when it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name} is not an ISO 8601 time: {text}") from None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"{name} is before the year 1 or after 9999 in UTC: {text}") from None


def instant(moment: datetime) -> str:
    """`2027-03-01T09:08:07Z`, for a moment in UTC. Years have four digits, which strftime does not give them."""
    return moment.replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def today() -> str:
    """Today's UTC date as YYYY-MM-DD."""
    return now().date().isoformat()
