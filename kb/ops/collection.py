"""A test collection as a temporary base, indexed and ready to be graded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kb.core.collection import Collection
from kb.core.values import Place
from kb.errors import UsageError
from kb.ops.gold import Question
from kb.ops.index import index
from kb.store.collection import write_base

if TYPE_CHECKING:
    from kb.app import App


@contextmanager
def opened(collection: Collection, open_app: Callable[[str], App], keys: Sequence[Sequence[str]],
           language: str = "") -> Iterator[tuple[App, list[Question], Mapping[str, Place]]]:
    """The collection laid out in a temporary folder and indexed: the app, the questions, and each document's place.

    `keys` is one list a document, as `kb.core.collection.mechanical_keys` makes them; empty lists for none.
    The folder goes when the `with` ends.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="kb-collection-") as root:
        places = write_base(root, collection, keys, language)
        app = open_app(root)
        index(app)
        app = app.reopened()
        yield app, questions(collection, places), places
        app.catalogue.close()


def questions(collection: Collection, places: Mapping[str, Place]) -> list[Question]:
    """Judged questions first, in the order of the file, then those without an answer. Raises UsageError for none."""
    found = []
    for number, text in collection.queries.items():
        gains = {places[document]: gain for document, gain in collection.qrels.get(number, {}).items()
                 if document in places and gain > 0}
        if gains:
            found.append(Question(text, gains))
    if not found:
        raise UsageError(f"no question of {collection.name} has a judged document in its corpus")
    return found + [Question(text, {}) for text in collection.unanswerable]
