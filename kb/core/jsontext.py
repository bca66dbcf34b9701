"""JSON as every surface prints it: one line, six decimals, whole floats as integers, no infinity, raw non-ASCII."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(value: Any) -> str:
    """`value` as one line of JSON. Named tuples and dataclasses become objects, in the order of their fields."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    if any("\ud800" <= c <= "\udfff" for c in text) or "\x7f" in text:
        text = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" or c == "\x7f" else c for c in text)
    return text


def plain(value: Any) -> Any:
    """`value` made of dict, list, str, int, bool and None only, floats already rounded."""
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, str | int | bool) or value is None:
        return value
    names = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None)
    if names is not None and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value]


def rounded(value: float) -> int | float | None:
    """Six decimals, half away from zero; a whole number as int; None for infinity and NaN."""
    if not math.isfinite(value):
        return None
    from decimal import ROUND_HALF_UP, Decimal

    exact = Decimal(repr(value)).quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP)
    return int(exact) if exact == exact.to_integral_value() else float(exact)
