"""Proposed notes as a promoter writes them, and where one may stand: pure, and forgiving about decoration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kb.core.display import uncoloured
from kb.core.draft import SLUG_RULE, is_slug
from kb.core.shelves import SKIPPED_FOLDERS, kind_of

DEFAULT_FOLDER = "knowledge"
NOTHING, NAMED = "NOTHING", "PROPOSAL"
_LABELS = ("slug", "folder", "summary", "keys", "sources", "body")
_LONGEST_FOLDER, _LONGEST_SLUG = 120, 200  # of a slug this much is kept, to say what was refused
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LEADING = re.compile(r"^[\s>#*`-]+")
MOST_KEYS = 150
MOST_KEY, MOST_SUMMARY, MOST_BODY = 200, 1000, 100_000  # characters
_CLOSED = frozenset({"inbox", "sources"})
_MEMORY = "a note from a model goes among the memory of its base"


class Proposal(NamedTuple):
    """A note that was proposed, and nothing of why: the second reader is not to be argued with.

    source:  what it was distilled from, as the note will name it.
    sources: the sessions it cites, when it compares sessions.
    """

    agent: str
    slug: str
    folder: str
    summary: str
    keys: tuple[str, ...]
    body: str
    source: str = ""
    sources: tuple[str, ...] = ()


class Reply(NamedTuple):
    """A promoter's reply: what it proposes, what it began and left incomplete, and whether it said that there is nothing."""

    proposals: tuple[Proposal, ...]
    incomplete: tuple[str, ...]
    nothing: bool


def parse_reply(text: str, agent: str, source: str = "") -> Reply:
    """The blocks of a reply. Text around them is passed over; a block ends at `END`, at the next block, or with the reply.

    A block without slug, summary, keys or body is no proposal, nor is a second one of a name; `incomplete` says why.
    """
    lines = _CONTROLS.sub("", uncoloured(text).replace("\r\n", "\n")).split("\n")
    proposals: list[Proposal] = []
    incomplete: list[str] = []
    blocks, outside = _blocks(lines)
    for block in blocks:
        fields = _fields(block)
        lacking = [name for name in ("slug", "summary", "keys", "body") if not fields[name]]
        if lacking:
            incomplete.append(f"{fields['slug'] or 'a proposal'} has no {' and no '.join(lacking)}")
            continue
        if any(fields["slug"] == known.slug for known in proposals):
            incomplete.append(f"{fields['slug']} is proposed twice in one reply")
            continue
        proposals.append(Proposal(agent, fields["slug"], fields["folder"] or DEFAULT_FOLDER, fields["summary"],
                                  _list(fields["keys"]), fields["body"], source, _list(fields["sources"])))
    nothing = not blocks and any(NOTHING in re.findall(r"[A-Z]+", line.upper()) for line in outside)
    return Reply(tuple(proposals), tuple(incomplete), nothing)


def why_not_there(folder: str) -> str | None:
    """Why a model may not put a note into `folder` of a base, or None when it may.

    It may name a folder of the memory kind below the base, and neither the deposit nor the bibliography.
    """
    parts = folder.rstrip("/").split("/")
    folded = [part.casefold() for part in parts]
    if len(folder) > _LONGEST_FOLDER or not folder.strip():
        return "the folder it names is no folder"
    if any(not part.strip() or part in (".", "..") or part.startswith(".") or not part.isprintable()
           or set(part) & set('\\:*?"<>|') for part in parts):
        return f"the folder {folder} is not a plain folder below the base"
    if kind_of("/".join(folded) + "/note.md") != "memory":
        return f"the folder {folder} is of another kind: {_MEMORY}"
    if folded[0] in _CLOSED or "inbox" in folded or any(part in SKIPPED_FOLDERS for part in folded):
        return f"the folder {folder} is not for notes: {_MEMORY}"
    return None


def why_not_called(slug: str) -> str | None:
    """Why a note may not have this name, or None when it may."""
    return None if is_slug(slug) else f"the name {slug[:80]} is not legal: {SLUG_RULE}"


def why_not_found_by(keys: Sequence[str]) -> str | None:
    """Why a note may not have these keys, or None: hundreds of them would claim the questions of everybody else."""
    return f"it names {len(keys)} keys, and {MOST_KEYS} is the most" if len(keys) > MOST_KEYS else None


def why_not_so_long(summary: str, keys: Sequence[str], body: str) -> str | None:
    """Why a note may not be this long, or None when it may: a model that repeats itself floods the library, and its map."""
    for what, length, most in (("summary", len(summary), MOST_SUMMARY), ("longest key", max(map(len, keys), default=0), MOST_KEY),
                               ("body", len(body), MOST_BODY)):
        if length > most:
            return f"its {what} has {length} characters, and {most} is the most"
    return None


def plain_folder(folder: str) -> str:
    """A folder that `why_not_there` allows, without a slash at the end."""
    return folder.rstrip("/")


def _blocks(lines: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """The lines of each block, and the lines outside of them."""
    blocks: list[list[str]] = []
    outside: list[str] = []
    block: list[str] | None = None
    for number, line in enumerate(lines):
        if _is_opening(lines, number, block):
            block = []
            blocks.append(block)
        elif block is None:
            outside.append(line)
        elif _bare(line) == "END":
            block = None
        else:
            block.append(line)
    return blocks, outside


def _is_opening(lines: Sequence[str], number: int, block: list[str] | None) -> bool:
    """Whether a line opens a block. Inside another one, and not in capitals, it must be followed by a slug: a text may hold
    the word."""
    head = _bare(lines[number])
    if not re.fullmatch(r"(?i:proposal)(?: [0-9]+)?", head):
        return False
    if block is None and head.startswith(NAMED):
        return True
    following = next((line for line in lines[number + 1:] if line.strip()), "")
    return _labelled(following)[0] == "slug"


def _fields(block: Sequence[str]) -> dict[str, str]:
    """The labelled lines above `body:`, the first of each; a list of keys may wrap. All that follows it is body."""
    fields = dict.fromkeys(_LABELS, "")
    last = ""
    for number, line in enumerate(block):
        label, value = _labelled(line)
        if label == "body":
            fields["body"] = "\n".join(([value] if value else []) + list(block[number + 1:])).strip()
            break
        if label:
            last = "" if fields[label] else label
            fields[label] = fields[label] or value
        elif last in ("keys", "summary", "sources") and line.strip():
            fields[last] += " " + line.strip()
    fields["body"] = _unfenced(fields["body"])
    fields["slug"] = fields["slug"].strip("` \"'")[:_LONGEST_SLUG].removesuffix(".md")
    fields["slug"] = "" if fields["slug"] == "-" else fields["slug"]
    fields["folder"] = fields["folder"].strip("` \"'")
    fields["summary"] = " ".join(fields["summary"].split()).rstrip(".").rstrip()
    return fields


def _labelled(line: str) -> tuple[str, str]:
    """(label, value) of `label: value`, bold or listed or in any case; ("", "") of any other line."""
    head, colon, value = line.partition(":")
    label = _LEADING.sub("", head).strip(" *_`").lower()
    if not colon or label not in _LABELS:
        return "", ""
    return label, value.strip().removeprefix("**").removesuffix("**").strip()


def _bare(line: str) -> str:
    return line.strip().strip("#*`_ ").rstrip(":")


def _unfenced(body: str) -> str:
    """A body that is wrapped in one fence, without the fence."""
    lines = body.split("\n")
    if len(lines) > 2 and re.fullmatch(r"```(?:markdown|md)?", lines[0].strip()) and lines[-1].strip() == "```":
        inner = lines[1:-1]
        if not any(line.strip().startswith("```") for line in inner):
            return "\n".join(inner).strip()
    return body


def _list(text: str) -> tuple[str, ...]:
    items = (item.strip().strip("`\"'[]").strip() for item in text.split(","))
    return tuple(dict.fromkeys(item for item in items if item))
