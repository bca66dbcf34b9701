"""The clock of the lifecycle: KB_NOW, else MAJORDOMUS_NOW, else the present. Everything written is UTC."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

from kb.api import UsageError
from kb.api import now as host_now

_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")


def now() -> datetime:
    """The present moment, aware and in UTC. Raises UsageError when a variable that sets it is no ISO 8601 time."""
    text = os.environ.get("MAJORDOMUS_NOW", "").strip()
    if not text or os.environ.get("KB_NOW", "").strip():
        return host_now()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"MAJORDOMUS_NOW is not an ISO 8601 time: {text}") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def instant(moment: datetime) -> str:
    """`2027-03-01T09:08:07Z`: how every line and record states a time."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def compact(moment: datetime) -> str:
    """`20270301T090807Z`: the same instant in a file name."""
    return moment.strftime("%Y%m%dT%H%M%SZ")


def digits(moment: datetime) -> str:
    """`20270301090807`: the same instant in an id."""
    return moment.strftime("%Y%m%d%H%M%S")


def parse(text: str) -> datetime | None:
    """The moment that a written time names, or None when it names none."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def seconds(text: str) -> int | None:
    """The length of `90s`, `30m`, `12h` or `7d` in seconds, or None for anything else."""
    found = re.fullmatch(r"(\d{1,9})([smhd])", text)
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]] if found else None
