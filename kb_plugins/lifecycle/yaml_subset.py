"""The YAML that the lifecycle reads and writes: nested maps by two blanks, lists, and scalars that are always text.

Not YAML: no anchors, no flow maps, no multi-line scalars, no types. `no`, `2026-13-45` and `007` are the text they are.
"""

from __future__ import annotations

import re
from typing import Any

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ ]+(.*))?$")
_PLAIN = re.compile(r"[A-Za-z0-9_./:(+][^\x00-\x1f]*$")
_TYPED = re.compile(r"(?i)(?:y|n|yes|no|on|off|true|false|null|~|[-+]?[0-9][0-9_]*|[-+.0-9][0-9_.]*(?:e[-+]?[0-9]+)?"
                    r"|0[xob][0-9a-f_]+|[-+]?\.(?:inf|nan))$")


class SubsetError(ValueError):
    """The text is outside the subset. `line` is 1-based."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """A document as dict of str, list and dict. Raises SubsetError."""
    rows: list[tuple[int, int, str]] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        if "\t" in line:
            raise SubsetError(number, "a tab")
        body = line.strip(" ")
        if not body or body.startswith("#") or line.rstrip(" ") == "---":
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent % 2:
            raise SubsetError(number, "odd indentation")
        rows.append((number, indent, body))
    value, end = _map(rows, 0, 0)
    if end < len(rows):
        raise SubsetError(rows[end][0], "unexpected indentation" if rows[end][1] else "a list item without a key")
    return value


def front_matter(text: str) -> tuple[dict[str, Any], str] | None:
    """(fields, body) of a document that begins with front matter, or None. Raises SubsetError when it does not parse."""
    parts = split_front(text)
    return None if parts is None else (parse(parts[0]), parts[1])


def split_front(text: str) -> tuple[str, str] | None:
    """(text between the `---` lines, text after them), or None when there is no such block."""
    if text[:4] not in ("---\n", "---\r"):
        return None
    found = re.compile(r"^---[ \r]*(?:\n|\Z)", re.MULTILINE).search(text, 4)
    if found is None:
        return None
    return text[text.index("\n") + 1:found.start()], text[found.end():]


def flat(value: Any, prefix: str = "") -> dict[str, str | list[str]]:
    """Nested fields as dotted keys; a list of scalars stays a list, a list of maps becomes `key.N.field`."""
    result: dict[str, str | list[str]] = {}
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, dict):
            result.update(flat(item, f"{name}."))
        elif isinstance(item, list) and any(isinstance(entry, dict) for entry in item):
            for number, entry in enumerate(item):
                if isinstance(entry, dict):
                    result.update(flat(entry, f"{name}.{number}."))
                else:
                    result[f"{name}.{number}"] = entry
        else:
            result[name] = item
    return result


def quoted(text: str) -> str:
    """A scalar in double quotes; backslash and quote are escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def scalar(text: str) -> str:
    """A scalar as it is, or in quotes where another YAML reader would see something else in it."""
    plain = (_PLAIN.match(text) and ": " not in text and " #" not in text and not text.endswith((":", " "))
             and not _TYPED.match(text))
    return text if plain else quoted(text)


def _map(rows: list[tuple[int, int, str]], at: int, indent: int) -> tuple[dict[str, Any], int]:
    result: dict[str, Any] = {}
    while at < len(rows) and rows[at][1] == indent and not _is_item(rows[at][2]):
        number, _, body = rows[at]
        key, text = _pair(number, body)
        if key in result:
            raise SubsetError(number, f"the key {key} stands twice")
        at += 1
        if text:
            result[key] = _value(text)
        else:
            result[key], at = _block(rows, at, indent)
    return result, at


def _block(rows: list[tuple[int, int, str]], at: int, indent: int) -> tuple[Any, int]:
    """What stands below a key without a value: a list, a map, or nothing."""
    if at >= len(rows):
        return "", at
    _, deeper, body = rows[at]
    if _is_item(body) and deeper in (indent, indent + 2):
        return _items(rows, at, deeper)
    if deeper == indent + 2:
        return _map(rows, at, deeper)
    return "", at


def _items(rows: list[tuple[int, int, str]], at: int, indent: int) -> tuple[list[Any], int]:
    result: list[Any] = []
    while at < len(rows) and rows[at][1] == indent and _is_item(rows[at][2]):
        number, _, body = rows[at]
        text = body[1:].strip(" ")
        if text[:1] not in ('"', "'", "[") and _KEY.match(text) and not re.match(r"[a-z]+:\S", text):
            rows[at] = (number, indent + 2, text)
            entry, at = _map(rows, at, indent + 2)
            result.append(entry)
        else:
            result.append(_value(text) if text else "")
            at += 1
    return result, at


def _is_item(body: str) -> bool:
    return body == "-" or body.startswith("- ")


def _pair(number: int, body: str) -> tuple[str, str]:
    found = _KEY.match(body)
    if not found:
        raise SubsetError(number, "neither `key: value` nor a list item")
    text = (found[2] or "").strip(" ")
    return found[1], "" if text.startswith("#") else text


def _value(text: str) -> Any:
    if text[0] in "\"'":
        closing = _closing(text)
        rest = text[closing + 1:].strip(" ")
        if closing > 0 and (not rest or rest.startswith("#")):
            return _unescaped(text[1:closing], text[0])
    bare = re.split(r" +#", text, maxsplit=1)[0].rstrip(" ")
    if bare.startswith("[") and bare.endswith("]"):
        return [_unwrapped(item.strip(" ")) for item in bare[1:-1].split(",") if item.strip(" ")]
    return bare


def _unwrapped(text: str) -> str:
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return _unescaped(text[1:-1], text[0])
    return text


def _closing(text: str) -> int:
    """The index of the quote that closes the one at 0, or -1."""
    at = 1
    while at < len(text):
        if text[0] == '"' and text[at] == "\\":
            at += 2
        elif text[at] != text[0]:
            at += 1
        elif text[0] == "'" and text[at + 1:at + 2] == "'":
            at += 2
        else:
            return at
    return -1


def _unescaped(text: str, quote: str) -> str:
    return re.sub(r"\\(.)", r"\1", text) if quote == '"' else text.replace("''", "'")
