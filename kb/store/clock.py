"""The one clock. `KB_NOW` (ISO 8601, UTC) replaces it; every date that kb writes is UTC."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from kb.errors import UsageError


def now() -> datetime:
    """The present moment, aware and in UTC; KB_NOW when it is set. Raises UsageError when KB_NOW is not ISO 8601."""
    text = os.environ.get("KB_NOW", "").strip()
    if not text:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"KB_NOW is not an ISO 8601 time: {text}") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def today() -> str:
    """Today's UTC date as YYYY-MM-DD."""
    return now().strftime("%Y-%m-%d")
