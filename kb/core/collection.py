"""A test collection in the shape of BEIR: documents, questions and judgements, and keys made from words alone."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kb.core.words import normalise


class Document(NamedTuple):
    """One document of a collection."""

    id: str
    title: str
    text: str


class Collection(NamedTuple):
    """Documents, questions by id, judgements (question id -> document id -> gain), and questions that it cannot answer."""

    name: str
    documents: tuple[Document, ...]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, float]]
    unanswerable: tuple[str, ...] = ()


class BadLine(ValueError):
    """A line that is not what its file holds. `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_documents(text: str) -> list[Document]:
    """The documents of a corpus.jsonl. Raises BadLine."""
    return [Document(_text(row, "_id", number), str(row.get("title") or ""), _text(row, "text", number))
            for number, row in _rows(text)]


def parse_queries(text: str) -> dict[str, str]:
    """The questions of a queries.jsonl by id. Raises BadLine."""
    return {_text(row, "_id", number): _text(row, "text", number) for number, row in _rows(text)}


def parse_qrels(text: str) -> dict[str, dict[str, float]]:
    """The judgements of a qrels.tsv: question id, document id, gain, with or without a header line. Raises BadLine."""
    found: dict[str, dict[str, float]] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        parts = raw.strip("\r\n").split("\t")
        if not raw.strip():
            continue
        if len(parts) == 4:  # the shape of TREC has an unused second field
            parts.pop(1)
        try:
            query, document, gain = parts[0], parts[1], float(parts[2])
        except (IndexError, ValueError):
            if number == 1:
                continue
            raise BadLine(number, "is no question, document and gain with tabs between") from None
        found.setdefault(query, {})[document] = gain
    return found


def mechanical_keys(documents: Sequence[Document], most: int) -> list[list[str]]:
    """For each document its `most` most telling words: those of the title, then by term frequency times idf.

    Ties go by spelling. What a machine can write on a key line without understanding anything; a person's keys are better.
    """
    bags = [Counter(normalise(f"{document.title} {document.text}")) for document in documents]
    frequency: Counter[str] = Counter()
    for bag in bags:
        frequency.update(bag.keys())
    found = []
    for document, bag in zip(documents, bags, strict=True):
        title = list(dict.fromkeys(normalise(document.title)))
        rest = sorted((word for word in bag if word not in title),
                      key=lambda word: (-bag[word] * math.log(len(documents) / frequency[word] + 1), word))
        found.append([*title, *rest][:most])
    return found


def note_of(document: Document, keys: Iterable[str]) -> str:
    """A document as a note of a base."""
    title = " ".join(document.title.split()) or document.id
    line = ", ".join(keys)
    head = f"# {title}\n\n" + (f"**Search for:** {line}\n\n" if line else "")
    return head + document.text.strip() + "\n"


def _rows(text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise BadLine(number, "is no JSON") from None
        if not isinstance(row, dict):
            raise BadLine(number, "is no JSON object")
        yield number, row


def _text(row: Mapping[str, Any], name: str, line: int) -> str:
    value = row.get(name)
    if not isinstance(value, str | int):
        raise BadLine(line, f"has no {name}")
    return str(value)
