"""Source records: what was read, how its bibliography line reads, and the same as CSL JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"  # no 0, 1 or O: a key is read aloud and typed
KEY_LENGTH = 10
TYPES = ("book", "chapter", "article", "report", "webpage", "recording")
STATUSES = ("full", "partial", "metadata", "unreachable")
FIELDS = ("type", "title", "author", "year", "container", "volume", "pages", "publisher", "url", "doi", "isbn", "lang",
          "retrieved_on", "retrieval_status", "replaces", "note")

_KEY = re.compile(f"[{ALPHABET}]{{{KEY_LENGTH}}}")
_DOI = re.compile(r"10\.\d{4,9}/\S+", re.ASCII)
_BLANK = re.compile(r"\s")
_YEAR = re.compile(r"-?\d{1,4}", re.ASCII)
_PARTIAL_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_READ = {"full": "read in full", "partial": "read in part", "metadata": "catalogue record only, not read",
         "unreachable": "could not be reached"}
_CSL_TYPES = {"book": "book", "chapter": "chapter", "article": "article-journal", "report": "report", "webpage": "webpage",
              "recording": "motion_picture"}
_CSL_FIELDS = (("container", "container-title"), ("volume", "volume"), ("pages", "page"), ("publisher", "publisher"),
               ("url", "URL"), ("doi", "DOI"), ("isbn", "ISBN"), ("lang", "language"), ("note", "note"))


class Record(NamedTuple):
    """One source. `values` holds every field but the authors; an absent field is not in it."""

    key: str
    values: Mapping[str, str]
    authors: tuple[str, ...] = ()

    def get(self, field: str) -> str | None:
        return self.values.get(field)

    @property
    def title(self) -> str:
        return self.values["title"]

    @property
    def replaces(self) -> str | None:
        return self.values.get("replaces")


class BrokenRecord(NamedTuple):
    """A file of sources/ that is no record, and why. Without a name it is the folder itself."""

    name: str
    problem: str


def is_key(text: str) -> bool:
    """Whether `text` is ten characters of the alphabet."""
    return _KEY.fullmatch(text) is not None


def key_rule() -> str:
    """What a key is, as a sentence for messages."""
    return f"a key is {KEY_LENGTH} characters of {ALPHABET}"


def parse_record(name: str, text: str) -> Record | BrokenRecord:
    """The record in `text`, whose key is the stem of the file called `name`. Field names are read in any case; the first
    value of a field wins, and every author counts."""
    stem = name[:-4] if name.endswith(".txt") else name
    values: dict[str, str] = {}
    authors: list[str] = []
    for line in text.split("\n"):
        line = line.strip()
        field, equals, value = line.partition("=")
        field, value = field.strip().lower(), value.strip()
        if not equals or line.startswith("#") or not value or field not in FIELDS:
            continue
        if field == "author":
            authors.append(value)
        else:
            values.setdefault(field, value)
    problem = _problem(stem, values)
    return BrokenRecord(name, problem) if problem else Record(stem, values, tuple(authors))


def _problem(stem: str, values: Mapping[str, str]) -> str | None:
    if not is_key(stem):
        return f"its name is no key: {key_rule()}"
    for field, legal in (("type", TYPES), ("retrieval_status", STATUSES)):
        value = values.get(field)
        if value is None:
            return f"it has no {field}"
        if value not in legal:
            return f"{field} is {value!r}, and must be one of {', '.join(legal)}"
    replaces = values.get("replaces")
    if replaces is not None and not is_key(replaces):
        return f"replaces is no key: {key_rule()}"
    if replaces == stem:
        return "it replaces itself"
    return next((f"it has no {field}" for field in ("title", "retrieved_on") if field not in values), None)


def render_file(record: Record) -> str:
    """The text of `sources/<KEY>.txt`: one `field = value` line each, in the fixed order."""
    lines = []
    for field in FIELDS:
        if field == "author":
            lines += [f"author = {author}" for author in record.authors]
        elif field in record.values:
            lines.append(f"{field} = {record.values[field]}")
    return "\n".join(lines) + "\n"


def render_record(record: Record) -> str:
    """The bibliography line that a citing note carries after `- [src:<KEY>] `."""
    get = record.get
    place = " ".join(part for part in (get("container"), get("volume")) if part)
    place = ", ".join(part for part in (place, get("pages")) if part)
    segments = ["; ".join(record.authors), f'"{record.title}"', place, get("publisher"), get("year"),
                f"DOI {get('doi')}" if get("doi") else None, f"ISBN {get('isbn')}" if get("isbn") else None, get("url"),
                f"{_READ[record.values['retrieval_status']]}, {record.values['retrieved_on']}"]
    text = ""
    for segment in segments:
        if segment:
            text += (" " if text.endswith(".") else ". " if text else "") + segment
    return text if text.endswith(".") else text + "."


def as_csl(record: Record) -> dict[str, Any]:
    """The record as a CSL JSON item, its names sorted. A year that is not a number stays what it is, as a literal."""
    item: dict[str, Any] = {"id": record.key, "type": _CSL_TYPES[record.values["type"]], "title": record.title}
    if record.authors:
        item["author"] = [_csl_name(author) for author in record.authors]
    year = record.get("year")
    if year:
        item["issued"] = {"date-parts": [[int(year)]]} if _YEAR.fullmatch(year) else {"literal": year}
    item.update({name: record.values[field] for field, name in _CSL_FIELDS if field in record.values})
    item["accessed"] = _csl_date(record.values["retrieved_on"])
    item["custom"] = {**({"replaces": record.replaces} if record.replaces else {}),
                      "retrieval_status": record.values["retrieval_status"]}
    return dict(sorted(item.items()))


def _csl_name(author: str) -> dict[str, str]:
    family, comma, given = author.partition(",")
    if comma and given.strip() and family.strip():
        return {"family": family.strip(), "given": given.strip()}
    return {"literal": author}


def _csl_date(text: str) -> dict[str, Any]:
    """A year, a month or a day of the calendar as parts; anything else, such as `spring 2020`, as a literal."""
    try:
        if _PARTIAL_DATE.fullmatch(text) and date.fromisoformat((text + "-01-01")[:10]):
            return {"date-parts": [[int(part) for part in text.split("-")]]}
    except ValueError:
        pass
    return {"literal": text}


# -- what `kb source add` accepts --------------------------------------------------------------------------------------


def field_problem(field: str, value: str) -> str | None:
    """Why `value` cannot be the value of `field`, or None. Stricter than reading: what is written must be right."""
    rules: dict[str, Callable[[str], str | None]] = {
        "type": lambda v: _one_of(v, TYPES), "retrieval_status": lambda v: _one_of(v, STATUSES),
        "retrieved_on": _date_problem, "year": _year_problem, "url": _url_problem, "doi": _doi_problem, "isbn": _isbn_problem,
        "replaces": lambda v: None if is_key(v) else key_rule()}
    rule = rules.get(field)
    return rule(value) if rule else None


def _one_of(value: str, legal: Sequence[str]) -> str | None:
    return None if value in legal else "it must be one of " + ", ".join(legal)


def _date_problem(value: str) -> str | None:
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII) and date.fromisoformat(value):
            return None
    except ValueError:
        pass
    return "it must be a real day, written YYYY-MM-DD"


def _year_problem(value: str) -> str | None:
    return None if _YEAR.fullmatch(value) else "it must be a year, such as 1987"


def _url_problem(value: str) -> str | None:
    if not re.match(r"https?://", value, re.IGNORECASE):
        return "it must begin with http:// or https://"
    if _BLANK.search(value):
        return "it holds a blank, which an address writes as %20"
    return None if re.match(r"https?://[^/?#]", value, re.IGNORECASE) else "it names no host"


def _doi_problem(value: str) -> str | None:
    if _DOI.fullmatch(value):
        return None
    return "it holds a blank, and a DOI has none" if _BLANK.search(value) else "it must look like 10.1234/suffix, without a URL before it"


def _isbn_problem(value: str) -> str | None:
    digits = value.replace("-", "").replace(" ", "").upper()
    if re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        total = sum((10 - at) * (10 if c == "X" else int(c)) for at, c in enumerate(digits))
        good = total % 11 == 0
    elif re.fullmatch(r"97[89]\d{10}", digits, re.ASCII):
        good = sum(int(c) * (3 if at % 2 else 1) for at, c in enumerate(digits)) % 10 == 0
    else:
        return "an ISBN has 10 digits, or 13 that begin with 978 or 979"
    return None if good else "its check digit does not fit"
