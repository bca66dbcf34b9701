"""Ranking and declining on public test collections, through a real index and `ask`, for each scorer set and text backend.

    python benchmarks/quality.py [COLLECTION]... [--sample 400]

prints the tables of docs/benchmarks.md, section "Quality". The collections (BEIR's shape) are read from `$KB_TEST_DATA/ir`,
else from ../shared/data/ir. Keys on the notes are made in three ways:

- none: only full text ranks;
- made: the 45 most telling words of each document (its title, then tf x idf), what a machine can do;
- asked: the words of two of its own questions, which are then left out of the run: what a person might have written.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from measure import table

from kb.app import App, open_app
from kb.core.collection import Collection, mechanical_keys
from kb.core.grading import DEPTH, ranked_grades
from kb.core.measures import auc, mean
from kb.core.values import Hit, Place
from kb.core.verdict import decide
from kb.core.words import normalise
from kb.ops.ask import ask
from kb.ops.collection import opened
from kb.ops.gold import Question
from kb.store.collection import read_collection

T = TypeVar("T")

MADE = 45
SEED = 11
TEXTS = ("fts5", "tantivy")
# Whose questions are far out of the scope of which collection: another subject, the same language where there is one.
FAR = {"cranfield": "xquad-en", "scifact": "cranfield", "xquad-en": "scifact", "faquad-pt": "squad2-pt-dev",
       "squad2-pt-dev": "faquad-pt"}
LANGUAGES = {"cranfield": "en", "scifact": "en", "xquad-en": "en", "faquad-pt": "pt", "squad2-pt-dev": "pt",
             "xquad-ru": "ru"}


@dataclass(frozen=True)
class Ranked:
    """One row of the ranking table: means over the questions, fused list."""

    ndcg: float
    recall: float
    rank: float


@dataclass(frozen=True)
class Declined:
    """One row of the declining table: shares of questions with the verdict `hit`, and how well the score tells them apart.

    far: questions of another collection; near: the question's own documents taken out of the ranking; hard: questions
    that were written to have no answer here. None where there are none.
    """

    inside: float
    far: float | None
    near: float
    hard: float | None
    auc: float | None


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("collections", nargs="*")
    words.add_argument("--sample", type=int, default=400, help="questions of each kind at most")
    given = words.parse_args()
    folder = data_folder()
    names = given.collections or sorted(path.name for path in folder.iterdir() if (path / "corpus.jsonl").exists())
    ranking: list[tuple[tuple[str, ...], list[Ranked]]] = []
    declining: list[tuple[tuple[str, ...], Declined]] = []
    for name in names:
        collection = read_collection(str(folder / name))
        far = read_collection(str(folder / FAR[name])) if name in FAR and (folder / FAR[name]).exists() else None
        for kind, keys, asked in key_modes(collection):
            for names_, row in rows_of(name, kind, collection, keys, asked, far, given.sample):
                if isinstance(row, Declined):
                    declining.append((names_, row))
                else:
                    ranking.append((names_, row))
    print_tables(ranking, declining, given.sample)


def data_folder() -> Path:
    """Where the collections are."""
    place = Path(os.environ.get("KB_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "ir"
    if not place.is_dir():
        raise SystemExit("the public collections are not here: set KB_TEST_DATA to a folder with ir/")
    return place


Mode = tuple[str, Sequence[Sequence[str]], frozenset[str]]


def key_modes(collection: Collection) -> Iterator[Mode]:
    """(name, keys of each document, ids of questions that became keys)."""
    yield "none", [()] * len(collection.documents), frozenset()
    yield "made", mechanical_keys(collection.documents, MADE), frozenset()
    by_document: dict[str, list[str]] = {}
    for number, gains in collection.qrels.items():
        if len(gains) == 1 and number in collection.queries:
            by_document.setdefault(next(iter(gains)), []).append(number)
    if sum(len(numbers) >= 3 for numbers in by_document.values()) < len(collection.documents) / 2:
        return
    spent = {document: numbers[:2] for document, numbers in by_document.items()}
    keys = [list(dict.fromkeys(word for number in spent.get(document.id, ())
                               for word in normalise(collection.queries[number]))) for document in collection.documents]
    yield "asked", keys, frozenset(number for numbers in spent.values() for number in numbers)


def rows_of(name: str, kind: str, collection: Collection, keys: Sequence[Sequence[str]], spent: frozenset[str],
            far: Collection | None, most: int) -> Iterator[tuple[tuple[str, ...], list[Ranked] | Declined]]:
    """The table rows of one collection under one kind of keys: the ranking on each text backend, and the declining."""
    kept = collection._replace(queries={number: text for number, text in collection.queries.items() if number not in spent})
    with opened(kept, lambda root: open_app([root]), keys, LANGUAGES.get(name, "")) as (app, questions, _):
        inside = sample([question for question in questions if not question.declines], most)
        hard = sample([question.text for question in questions if question.declines], most)
        strangers = sample(list(far.queries.values()), most) if far else []
        for scorers in ("classic", "default") if kind != "none" else ("default",):
            yield (name, kind, scorers), [ranked(app.variant(scorers=scorers, text=text), inside) for text in TEXTS]
            if kind != "none":
                yield (name, kind, scorers), declined(app.variant(scorers=scorers), inside, strangers, hard)


def ranked(app: App, questions: Sequence[Question]) -> Ranked:
    grades = [ranked_grades([Place(r.base, r.path) for r in ask(app, question.text, DEPTH, 0).results],
                            dict(question.gains)) for question in questions]
    return Ranked(mean([grade[2] for grade in grades]), mean([grade[0][1] for grade in grades]),
                  mean([grade[1] for grade in grades]))


def declined(app: App, inside: Sequence[Question], far: Sequence[str], hard: Sequence[str]) -> Declined:
    library = app.catalogue
    gate = app.scorers[0]
    floor = gate.floor(library) if gate.floor else 0.0

    def hits(text: str) -> Sequence[Hit]:
        return gate.rank(library, library.query(text)).hits

    def share(lists: Sequence[Sequence[Hit]]) -> float:
        return mean([float(decide(found, floor, library.size()) == "hit") for found in lists])

    ours = [hits(question.text) for question in inside]
    theirs = [hits(text) for text in far]
    without = [[hit for hit in found if Place(hit.base, hit.path) not in question.answers]
               for found, question in zip(ours, inside, strict=True)]
    return Declined(share(ours), share(theirs) if far else None, share(without),
                    share([hits(text) for text in hard]) if hard else None,
                    auc(best(ours), best(theirs)) if far else None)


def best(lists: Sequence[Sequence[Hit]]) -> list[float]:
    return [found[0].score if found else 0.0 for found in lists]


def sample(items: Sequence[T], most: int) -> list[T]:
    return list(items) if len(items) <= most else random.Random(SEED).sample(list(items), most)


def print_tables(ranking: Sequence[tuple[tuple[str, ...], list[Ranked]]],
                 declining: Sequence[tuple[tuple[str, ...], Declined]], most: int) -> None:
    print("### Ranking\n")
    print(f"The fused list against the judgements, at most {most} questions a collection, on FTS5 / tantivy. Keys: `none`, only "
          "full text ranks; `made`, the 45 most telling words of each document; `asked`, the words of two of its own "
          "questions, which are then not asked.\n")
    print(table(["collection", "keys", "scorers", f"nDCG@{DEPTH}", "recall@5", f"MRR@{DEPTH}"],
                [(*names, both([row.ndcg for row in rows]), both([row.recall for row in rows]), both([row.rank for row in rows]))
                 for names, rows in ranking]))
    print("\n### Declining\n")
    print("Share of questions that get the verdict `hit`: questions of the collection (inside, should be high), questions of "
          "another collection (far), the same questions with their own documents taken out of the ranking (near), and questions "
          "written to have no answer here (hard): these three should be low. AUC: how well the score tells inside from far.\n")
    print(table(["collection", "keys", "scorers", "inside", "far", "near", "hard", "AUC"],
                [(*names, f"{row.inside:.2f}", shown(row.far), f"{row.near:.2f}", shown(row.hard), shown(row.auc))
                 for names, row in declining]))


def both(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
