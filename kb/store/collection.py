"""Test collections on disk: read from a folder, and laid out as a base that can be indexed and asked."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from kb.core.collection import (
    BadLine,
    Collection,
    note_of,
    parse_documents,
    parse_qrels,
    parse_queries,
)
from kb.core.values import Place
from kb.errors import UsageError
from kb.store.files import read_text

T = TypeVar("T")
_FILES_IN_FOLDER = 1000


def is_collection(path: str) -> bool:
    """Whether a path is a folder with a corpus.jsonl."""
    return os.path.isfile(os.path.join(path, "corpus.jsonl"))


def read_collection(folder: str) -> Collection:
    """The collection in `folder`: corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv), and unanswerable.jsonl when it is there.

    Raises UsageError that names the file, and the line when one is at fault.
    """
    documents = _parsed(folder, "corpus.jsonl", parse_documents)
    queries = _parsed(folder, "queries.jsonl", parse_queries)
    judged = "qrels.tsv" if os.path.exists(os.path.join(folder, "qrels.tsv")) else os.path.join("qrels", "test.tsv")
    qrels = _parsed(folder, judged if os.path.exists(os.path.join(folder, judged)) else "qrels.tsv", parse_qrels)
    extra = os.path.exists(os.path.join(folder, "unanswerable.jsonl"))
    unanswerable = tuple(_parsed(folder, "unanswerable.jsonl", parse_queries).values()) if extra else ()
    if not documents:
        raise UsageError(f"{folder}/corpus.jsonl holds no document")
    return Collection(os.path.basename(os.path.realpath(folder)), tuple(documents), queries, qrels, unanswerable)


def write_base(root: str, collection: Collection, keys: Sequence[Sequence[str]], language: str = "") -> dict[str, Place]:
    """Lay the collection out under `root` as one base, one list of keys a document; document id -> place.

    `root` must be an empty folder. The files' times are set back, so that an index of them is current at once.
    """
    name = re.sub(r"[^a-z0-9-]+", "-", collection.name.lower()).strip("-") or "collection"
    base = os.path.join(root, name)
    os.makedirs(base)
    with open(os.path.join(base, "agent.txt"), "w", encoding="utf-8") as file:
        file.write(f"name = {name}\nrole = holds a test collection\n"
                   + (f"language = {language}\n" if language else ""))
    written = time.time() - 60
    places = {}
    for number, (document, words) in enumerate(zip(collection.documents, keys, strict=True)):
        # a name without words of its own, so that an id is nothing that a scorer could match
        place = Place(name, f"knowledge/{number // _FILES_IN_FOLDER:03}/n{number:06}.md")
        path = os.path.join(root, name, place.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(note_of(document, words))
        os.utime(path, (written, written))
        places[document.id] = place
    return places


def _parsed(folder: str, name: str, parse: Callable[[str], T]) -> T:
    path = os.path.join(folder, name)
    try:
        return parse(read_text(path))
    except BadLine as error:
        raise UsageError(f"{path}:{error.line} {error}") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text") from None
