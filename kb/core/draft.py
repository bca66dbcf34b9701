"""A note on its way to disk: what it must have, and its exact layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb.core.display import flat
from kb.core.markdown import front_matter_end, lines_of, scan

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_FIELD = re.compile(r"[^\W_][\w.-]*[ \t]*:(?:[ \t]|$)")  # `key: value`; a sentence with a colon in it is none
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
    body = draft.body.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = lines_of(body)
    end = _front_end(lines)
    kept = _foreign_front_matter(lines[1:max(end - 1, 1)], set(front))
    title, text = _split_title("\n".join(lines[end:]))
    head = [*(f"{name}: {value}" for name, value in front.items()), *kept]
    return "\n".join(["---", *head, "---", "", f"# {title or draft.slug.replace('-', ' ').capitalize()}", "",
                      f"**Search for:** {', '.join(f'`{key}`' for key in keys)}", "",
                      f"**Exists to:** {flat(draft.summary).rstrip('.').rstrip()}", "", text.strip(), ""])


def _front_end(lines: list[str]) -> int:
    """How many lines of a body are front matter: what stands between two rules is text unless it reads as `key: value` lines."""
    end = front_matter_end(lines)
    inner = [line for line in lines[1:max(end - 1, 1)] if line.strip() and line[0] != "#"]
    if not inner:
        return end if not any(line.strip() for line in lines[1:max(end - 1, 1)]) else 0
    return end if _FIELD.match(inner[0]) and all(_FIELD.match(line) or line[0] in " \t-" for line in inner) else 0


def _foreign_front_matter(lines: list[str], ours: set[str]) -> list[str]:
    """The lines of a given front matter that we do not write ourselves, with the comments and lines that belong to them."""
    kept: list[str] = []
    keeping = True
    for line in lines:
        if _FIELD.match(line):
            keeping = line.partition(":")[0].strip().lower() not in ours
        elif line.startswith("#"):
            keeping = True
        if keeping:
            kept.append(line)
    return kept


def _split_title(text: str) -> tuple[str, str]:
    lines = scan(text)
    raw = lines_of(text)
    for number, line in enumerate(lines):
        if line.kind == "heading" and line.level == 1 and line.text:
            end = number + 1
            while end < len(lines) and lines[end].kind == "underline":
                end += 1
            return line.text, "\n".join([*raw[:number], *raw[end:]])
    return "", text
