"""The counted logs beside fleet.txt: one row type and one format each."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

from kb.core.counted import LogFormat, count_of, field, tabbed

_LOOKED = "looked like:"


def same_words(text: str) -> str:
    """The key under which two spellings of one text count as one: trimmed, composed, lower case."""
    return unicodedata.normalize("NFC", field(text)).lower()


def _tabbed_line(row: Any) -> str:
    """A counted row with tabs between its fields: the count, then every other field flattened."""
    return "\t".join((str(row.times), *map(field, row[1:])))


def _counted(old: Any, new: Any) -> dict[str, Any]:
    """What two reports of one thing come to: how often, first and last seen."""
    return {"times": old.times + new.times, "first": min(old.first, new.first), "last": max(old.last, new.last)}


# -- misses ------------------------------------------------------------------------------------------------------------


class LoggedMiss(NamedTuple):
    """A question that was not answered, how often, on which days (UTC), and the vocabulary offered back last."""

    times: int
    first: str
    last: str
    question: str
    looked_like: tuple[str, ...] = ()


def _read_miss(line: str) -> LoggedMiss | None:
    parts = line.split(None, 3)
    count = count_of(parts[0])
    if len(parts) < 4 or count is None:
        return None
    return LoggedMiss(count, parts[1], parts[2], parts[3].rstrip())


def _looked(row: LoggedMiss, line: str) -> LoggedMiss | None:
    text = line.strip()
    if not text.startswith(_LOOKED):
        return None
    return row._replace(looked_like=tuple(w for part in text[len(_LOOKED):].split(",") if (w := part.strip())))


def _miss_line(row: LoggedMiss) -> str:
    line = f"{row.times:<4} {field(row.first)} {field(row.last)} {field(row.question)}"
    words = [w for word in row.looked_like if (w := field(word).replace(",", " ").strip())]
    return f"{line}\n     {_LOOKED} {', '.join(words)}" if words else line


MISSES: LogFormat[LoggedMiss] = LogFormat(
    file="kb-misses.txt",
    header=(
        "Questions that this library could not answer, most asked first.",
        "",
        "One row per question: how often, first day, last day, the question as it was first spelled.",
        "`looked like:` is the vocabulary that the library offered back, by spelling, the last time.",
        "",
        "Private: a question can say as much as an answer. Do not commit this file.",
        "`kb misses` reads it back beside the files that nearly answered, and proposes an alias.",
        "A line may be deleted once its question is answered.",
    ),
    read=_read_miss, line=_miss_line, key=lambda row: same_words(row.question),
    merge=lambda old, new: old._replace(**_counted(old, new), looked_like=new.looked_like),
    order=lambda row: (-row.times, field(row.question)), continue_=_looked, spaced=True)


# -- misroutes ---------------------------------------------------------------------------------------------------------


class Misroute(NamedTuple):
    """A message that went to `chose` and belonged to `owner` (`-`: to nobody)."""

    times: int
    first: str
    last: str
    chose: str
    owner: str
    message: str
    why: str = ""


def _read_misroute(line: str) -> Misroute | None:
    parts = tabbed(line, 6, 7)
    count = count_of(parts[0]) if parts else None
    if parts is None or count is None or not parts[5]:
        return None
    return Misroute(count, parts[1], parts[2], parts[3].lower(), parts[4].lower(), parts[5], parts[6])


MISROUTES: LogFormat[Misroute] = LogFormat(
    file="kb-misroutes.txt",
    header=(
        "Messages that went to the wrong agent, as someone reported them.",
        "Tabs between: count, first day, last day, chosen agent, rightful agent (- for nobody), message, why.",
        "Private: do not commit this file. `kb misroutes` reads it back.",
    ),
    read=_read_misroute, line=_tabbed_line,
    key=lambda row: (row.message, row.chose, row.owner),
    merge=lambda old, new: old._replace(**_counted(old, new), why=new.why or old.why),
    order=lambda row: -row.times)


# -- abstentions -------------------------------------------------------------------------------------------------------


class Abstention(NamedTuple):
    """A subject that nobody owns. `nearest` is an agent or `-`; `contenders` what the bases scored then."""

    times: int
    first: str
    last: str
    coverage: str
    nearest: str
    subject: str
    message: str
    reason: str = ""
    contenders: str = ""


def _read_abstention(line: str) -> Abstention | None:
    parts = tabbed(line, 7, 9)
    count = count_of(parts[0]) if parts else None
    if parts is None or count is None or not (parts[5] or parts[6]):
        return None
    return Abstention(count, *parts[1:])


ABSTENTIONS: LogFormat[Abstention] = LogFormat(
    file="kb-abstentions.txt",
    header=(
        "Subjects that no agent of this fleet owns, as the classifier named them at boot.",
        "Tabs between: count, first day, last day, coverage, nearest agent (- for nobody),",
        "subject, message, reason, contenders.",
        "Private: do not commit this file. `kb abstentions` reads it back.",
    ),
    read=_read_abstention, line=_tabbed_line,
    key=lambda row: same_words(row.subject) or same_words(row.message),
    merge=lambda old, new: new._replace(**_counted(old, new), subject=old.subject),
    order=lambda row: (-row.times, field(row.subject)))


# -- rejections --------------------------------------------------------------------------------------------------------


class Rejection(NamedTuple):
    """A proposed note that a review refused: whose, which, through which lens, and why the last time."""

    times: int
    first: str
    last: str
    agent: str
    slug: str
    lens: str
    reason: str = ""


def _read_rejection(line: str) -> Rejection | None:
    parts = tabbed(line, 7, 7)
    count = count_of(parts[0]) if parts else None
    return Rejection(count, *parts[1:]) if parts and count is not None else None


REJECTIONS: LogFormat[Rejection] = LogFormat(
    file="kb-rejections.txt",
    header=(
        "Notes that were proposed and refused. What is refused again and again is a gap, not a bad proposal.",
        "Tabs between: count, first day, last day, agent, slug, lens, reason.",
        "Private: a refusal quotes the note that it refused. Do not commit this file. `kb rejections` reads it back.",
    ),
    read=_read_rejection, line=_tabbed_line,
    key=lambda row: (row.agent, row.slug, row.lens),
    merge=lambda old, new: old._replace(**_counted(old, new), reason=new.reason or old.reason),
    order=lambda row: -row.times)


# -- aliases that the measurement refused ------------------------------------------------------------------------------


class AliasRejection(NamedTuple):
    """An alias line (`alias = canonical`) that did not pass, and why the last time."""

    times: int
    first: str
    last: str
    line: str
    reason: str = ""


def _read_alias(line: str) -> AliasRejection | None:
    parts = tabbed(line, 4, 5)
    count = count_of(parts[0]) if parts else None
    return AliasRejection(count, *parts[1:]) if parts and count is not None and parts[3] else None


ALIAS_REJECTIONS: LogFormat[AliasRejection] = LogFormat(
    file="kb-alias-rejections.txt",
    header=(
        "Alias lines that were proposed, measured against a gold file, and not written.",
        "Tabs between: count, first day, last day, alias line, reason.",
        "Private: do not commit this file.",
    ),
    read=_read_alias, line=_tabbed_line,
    key=lambda row: row.line,
    merge=lambda old, new: old._replace(**_counted(old, new), reason=new.reason or old.reason),
    order=lambda row: -row.times)
