"""The clock of the lifecycle: KB_NOW, else MAJORDOMUS_NOW, else the present. Everything written is UTC."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from kb.api import instant as instant
from kb.api import moment_of
from kb.api import now as host_now

_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")


def now() -> datetime:
    """The present moment, aware and in UTC. Raises UsageError when a variable that sets it is no ISO 8601 time."""
    text = os.environ.get("MAJORDOMUS_NOW", "").strip()
    if not text or os.environ.get("KB_NOW", "").strip():
        return host_now()
    return moment_of("MAJORDOMUS_NOW", text)


def ago(seconds: int) -> datetime:
    """The moment that many seconds before the present one; the first of the year 1 when it lies before that."""
    try:
        return now() - timedelta(seconds=seconds)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def day(moment: datetime) -> str:
    """`2027-03-01`: the date of the instant."""
    return moment.date().isoformat()


def compact(moment: datetime) -> str:
    """`20270301T090807Z`: the instant in a file name."""
    return instant(moment).replace("-", "").replace(":", "")


def digits(moment: datetime) -> str:
    """`20270301090807`: the instant in an id."""
    return compact(moment).replace("T", "").removesuffix("Z")


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
