"""A tool's arguments held against its schema, before the tool runs.

Checked are these words of JSON Schema, at any depth: type (one or a list), enum, const, minimum, maximum, exclusiveMinimum,
exclusiveMaximum, minLength, maxLength, pattern, minItems, maxItems, items, properties, required, additionalProperties (false,
which it is at the top whatever the schema says). Lengths are in characters, and 2.0
is an integer, which a tool gets as 2. A required string at the top is not blank. Any other word ($ref, anyOf, format, ...) is
for the reader of the schema: a tool that uses one checks it itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kb.core.display import flat
from kb.mcp.protocol import INVALID_PARAMS, RpcError
from kb.specs import Tool

_SHOWN = 80  # characters of a name that a message repeats
_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "must be a string"), "boolean": ((bool,), "must be true or false"),
    "integer": ((int,), "must be a whole number"), "number": ((int, float), "must be a number"),
    "array": ((list,), "must be a list"), "object": ((dict,), "must be an object"), "null": ((type(None),), "must be null"),
}


def check_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool is to get them. Raises RpcError -32602 for what the schema does not allow, with the name, and the
    number or the choices."""
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    for key in tool.input_schema.get("required", []):
        value = given.get(key)
        if properties.get(key, {}).get("type") == "string" and (not isinstance(value, str) or not value.strip()):
            raise RpcError(INVALID_PARAMS, f"missing or empty argument: {key}; give it as a string")
        if key not in given:
            raise RpcError(INVALID_PARAMS, f"missing argument: {key}")
    for key, value in given.items():
        rule = properties.get(key)
        if rule is None:
            legal = ", ".join(properties) or "none"
            raise RpcError(INVALID_PARAMS, f"{tool.name} has no argument {shortened(key)}; it takes: {legal}")
        problem = _problem(rule, value)
        if problem:
            raise RpcError(INVALID_PARAMS, f"{key} {problem}")
    return {key: _whole(properties[key], value) for key, value in given.items()}


def shortened(name: str) -> str:
    """A name that a caller gave, on one line and short enough to be repeated to them."""
    return flat(name) if len(name) <= _SHOWN else flat(name[:_SHOWN]) + "..."


def _problem(rule: Any, value: Any) -> str | None:
    """What is wrong with a value, to be read after its name; None when nothing is. A rule of `true` allows everything."""
    if not isinstance(rule, Mapping):
        return "is not allowed" if rule is False else None
    problem = _type_problem(rule.get("type"), value)
    if problem:
        return problem
    if "enum" in rule and not any(_equal(value, one) for one in rule["enum"]):
        return f"must be one of: {', '.join(str(one) for one in rule['enum'])}"
    if "const" in rule and not _equal(value, rule["const"]):
        return f"must be {rule['const']}"
    if isinstance(value, str):
        return _text_problem(rule, value)
    if isinstance(value, list):
        return _list_problem(rule, value)
    if isinstance(value, dict):
        return _object_problem(rule, value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_problem(rule, value)
    return None


def _type_problem(kinds: Any, value: Any) -> str | None:
    known = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind in _TYPES]
    if not known or any(_is(value, kind) for kind in known):
        return None
    return " or ".join(_TYPES[kind][1] for kind in known)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind][0])


def _whole(rule: Any, value: Any) -> Any:
    """`value` with an int for every 2.0 that the rule calls an integer: what a client wrote is one number, however it wrote it."""
    if not isinstance(rule, Mapping):
        return value
    if isinstance(value, float) and value.is_integer():
        kinds = rule.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return int(value) if "integer" in kinds and "number" not in kinds else value
    if isinstance(value, list):
        return [_whole(rule.get("items"), item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(rule.get("properties", {}).get(key), item) for key, item in value.items()}
    return value


def _equal(one: Any, other: Any) -> bool:
    """JSON tells 1 from true; Python does not."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _number_problem(rule: Mapping[str, Any], value: float) -> str | None:
    low, high = rule.get("minimum"), rule.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        return _range(low, high, "")
    low, high = rule.get("exclusiveMinimum"), rule.get("exclusiveMaximum")
    if low is not None and value <= low:
        return f"must be more than {low}"
    return f"must be less than {high}" if high is not None and value >= high else None


def _text_problem(rule: Mapping[str, Any], value: str) -> str | None:
    import re

    low, high = rule.get("minLength"), rule.get("maxLength")
    if (low is not None and len(value) < low) or (high is not None and len(value) > high):
        return f"{_range(low, high, ' characters long')}, and it has {len(value):,}"
    pattern = rule.get("pattern")
    return f"must match {pattern}" if pattern is not None and not re.search(pattern, value) else None


def _list_problem(rule: Mapping[str, Any], value: list[Any]) -> str | None:
    low, high = rule.get("minItems"), rule.get("maxItems")
    if (low is not None and len(value) < low) or (high is not None and len(value) > high):
        return f"{_range(low, high, ' items long')}, and it has {len(value):,}"
    for number, item in enumerate(value, start=1) if "items" in rule else ():
        problem = _problem(rule["items"], item)
        if problem:
            return f"item {number} {problem}"
    return None


def _object_problem(rule: Mapping[str, Any], value: Mapping[str, Any]) -> str | None:
    properties = rule.get("properties", {})
    for key in rule.get("required", ()):
        if key not in value:
            return f"has no {key}"
    for key, item in value.items():
        if key not in properties and rule.get("additionalProperties") is False:
            return f"has no member {shortened(key)}; it takes: {', '.join(properties) or 'none'}"
        problem = _problem(properties.get(key), item)
        if problem:
            return f"member {key} {problem}"
    return None


def _range(low: Any, high: Any, unit: str) -> str:
    if low is None:
        return f"must be at most {high:,}{unit}"
    return f"must be at least {low:,}{unit}" if high is None else f"must be from {low} to {high}{unit}"
