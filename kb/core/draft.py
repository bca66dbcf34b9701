"""A note on its way to disk: what it must have, and its exact layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kb.core.display import flat
from kb.core.markdown import Line, front_matter_end, lines_of, scan

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
# The key of a line `key: value` as YAML has it: in quotes, or plain, which begins with none of the marks that open something else.
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')[ \t]*+:(?:[ \t]|$)""")
_PLAIN = re.compile(r"""(?!\d++[.)][ \t])([^\s\-?:,\[\]{}#&*!|>'"%`<+~=][^:]*+(?::(?![ \t]|$)[^:]*+)*+):""")
_WORD = re.compile(r"[\w-]+")
LONGEST_SLUG = 40
SLUG_RULE = "1 to 40 characters of a-z, 0-9 and -, without - at either end"


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """What a note is made of. `keys` are as given, dead ones included; `body` is markdown and may bring its own title."""

    agent: str
    slug: str
    keys: Sequence[str]
    summary: str
    body: str
    folder: str = "knowledge"
    provenance: str = "agent"
    stage: str = "derived"
    captured_from: str | None = None


def is_slug(text: str) -> bool:
    """Whether `text` may name a note or an agent."""
    return len(text) <= LONGEST_SLUG and _SLUG.fullmatch(text) is not None


def render_note(draft: NoteDraft, keys: Sequence[str]) -> str:
    """The whole note: front matter, title, the two labels, body.

    The title is the body's first heading of level one, which then leaves the body, else the slug in words. Front matter
    at the top of the body is merged; what kb writes itself wins.
    """
    front = {"provenance": draft.provenance, "stage": draft.stage}
    if draft.captured_from and draft.captured_from.strip():
        front["captured_from"] = flat(draft.captured_from)
    lines = lines_of(draft.body.removeprefix("\ufeff").replace("\r\n", "\n"))
    while lines and not lines[0].strip():
        del lines[0]
    end = _front_end(lines)
    kept = _foreign_front_matter(lines[:end], set(front))
    title, text = _split_title(lines[end:])
    head = [*(f"{name}: {value}" for name, value in front.items()), *kept]
    return "\n".join(["---", *head, "---", "", _heading(title or draft.slug.replace("-", " ").capitalize()), "",
                      f"**Search for:** {', '.join(f'`{key}`' for key in keys)}", "",
                      f"**Exists to:** {flat(draft.summary).rstrip('.').rstrip()}", "", text, ""])


def _front_end(lines: list[str]) -> int:
    """How many lines of a body are front matter.

    What stands between two rules is text unless it reads as `key: value` lines, and what stands between two braces unless it is
    JSON. Raises ValueError for TOML that cannot be read: `+++` is no mark of markdown, so nothing else can be meant.
    """
    end = front_matter_end(lines)
    if not end:
        return 0
    if lines[0][0] == "+":
        _loaded(lines[:end])
        return end
    if lines[0][0] == "{":
        try:
            _loaded(lines[:end])
        except ValueError:
            return 0
        return end
    inner = [line for line in lines[1:end - 1] if line.strip() and line[0] != "#"]
    if not inner:
        return end if not any(line.strip() for line in lines[1:end - 1]) else 0
    return end if _key(inner[0]) is not None and all(line[0] in " \t-]}" or _key(line) is not None for line in inner) else 0


def _key(line: str) -> str | None:
    """The key of a line that reads as `key: value`, without its quotes; None for any other."""
    quoted = _QUOTED.match(line)
    if quoted:
        return quoted[1][1:-1]
    plain = _PLAIN.match(line)
    return plain[1].rstrip() if plain else None


def _foreign_front_matter(lines: list[str], ours: set[str]) -> list[str]:
    """The lines of a given front matter that we do not write ourselves, with the comments and lines that belong to them."""
    if lines and lines[0][0] != "-":
        given = [(name, value) for name, value in _loaded(lines).items() if name.strip().lower() not in ours]
        comments = [line for line in lines if line.startswith("#")]
        return [*comments, *(f"{name if _WORD.fullmatch(name) else _as_yaml(name)}: {_as_yaml(value)}" for name, value in given)]
    kept: list[str] = []
    keeping = True
    for line in lines[1:-1]:
        key = _key(line)
        if key is not None:
            keeping = key.strip().lower() not in ours
        elif line.startswith("#"):
            keeping = True
        if keeping:
            kept.append(line)
    return kept


def _loaded(lines: list[str]) -> dict[str, Any]:
    """What front matter in TOML or JSON says. Raises ValueError when it cannot be read."""
    import json
    import tomllib

    try:
        said: dict[str, Any] = tomllib.loads("\n".join(lines[1:-1])) if lines[0][0] == "+" else json.loads("\n".join(lines))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return said


def _as_yaml(value: object) -> str:
    """A name or a value of TOML or JSON on one line: JSON is YAML too, and a day or a time stands as it is."""
    import json
    from datetime import date, time

    if isinstance(value, date | time):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()


def _split_title(raw: list[str]) -> tuple[str, str]:
    """(the first heading of level one, "" where there is none; the text without it, in which every line is what it was)."""
    lines = scan("\n".join(raw), front=False)
    for number, line in enumerate(lines):
        if line.kind == "heading" and line.level == 1 and line.text:
            end = number + 1
            while end < len(lines) and lines[end].kind == "underline":
                end += 1
            after = _kinds(lines[end:])
            for apart in ([], [""], ["", "<!-- -->", ""]):  # what followed the heading may go on with what stood before it
                rest = [*raw[:number], *apart, *raw[end:]]
                if _kinds(scan("\n".join(rest), front=False)[number + len(apart):]) == after:
                    break
            return line.text, _without_blank_ends(rest)
    return "", _without_blank_ends(raw)


def _kinds(lines: Sequence[Line]) -> list[tuple[str, int]]:
    return [(line.kind, line.level) for line in lines]


def _heading(title: str) -> str:
    """The line of a title. A run of # at its end would be taken for the mark that closes a heading, unless such a mark follows."""
    line = f"# {title}"
    return line if scan(line)[0].text == title else f"{line} #"


def _without_blank_ends(lines: list[str]) -> str:
    """The lines as text, without blank ones at either end; what the first is indented by stays."""
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[start:]).rstrip()
