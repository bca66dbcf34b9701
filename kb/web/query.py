"""The parameters of a request: the first value of a name counts, and what is not UTF-8 is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

_MOST = 100


class Query(Mapping[str, str]):
    """Parameters by name. A name that is not there reads as "" through `text`."""

    def __init__(self, raw: bytes) -> None:
        self._values: dict[str, str] = {}
        try:
            pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST, errors="replace")
        except ValueError:
            pairs = []
        for name, value in pairs:
            self._values.setdefault(name, value)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str:
        return self._values.get(name, "")

    def number(self, name: str, default: int, least: int = 1, most: int = 1_000_000) -> int:
        """A whole number in range; `default` for anything else."""
        value = self._values.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most:
            return int(value)
        return default
