"""tantivy: the fast text backend. `.kb/tantivy/` is a pure inverted index: chunk numbers and one analysed field.

Words are analysed and stemmed here, in Python, and reach the engine separated by blanks; a question reaches it as term
queries, so that nothing a user writes is ever parsed. `kb.json` beside the segments says which generation of index.db
they were made from, and what each of its files measured. It is removed before a write and comes back after it: an
interrupted write is rebuilt, and so is an index whose files are not what was written.
"""

from __future__ import annotations

import json
import math
import os
import time
from _thread import RLock  # threading has it from here, and is not imported for it
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from zlib import crc32

from kb.api import Base, Changes, IndexOutOfStep, KbError, analyse, is_unspaced, write_atomic
from kb_plugins.stems import StemmerSet

FORMAT = 2                   # of the analysed field: another one is rebuilt
HEADING_TIMES = 2            # a word of the heading path counts as if it stood twice
LOCK_SECONDS = 10.0
_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 96_000_000  # bytes; the small one is the least that tantivy takes
_SPARE = 64                  # hits asked for beyond the limit, so that ties at the limit are seen whole
_STDERR = RLock()            # one thread at a time puts file descriptor 2 aside
_STORE = ".store"            # small, since no field is stored; damage in it makes the engine ask for endless memory and abort
_NOISE = 1e-4                # scores are single precision


class _State(NamedTuple):
    """Of which generation the index is, what `language =` said then, the languages of its notes, and its files: size, crc32."""

    generation: int
    declared: str
    languages: tuple[str, ...]
    files: Mapping[str, tuple[int, int]]


class Tantivy:
    """The driver `tantivy`."""

    name = "tantivy"

    def generation(self, base: Base) -> int | None:
        """None, too, when it was stemmed for other languages than the base declares now, or when a file of it is damaged.

        It has to be made anew then. Every file is read: this is for `kb index`, and no question asks.
        """
        found = _read_state(base.root)
        if found is None or found.declared != (base.language or "") or found.files != _measured(_folder(base.root)):
            return None
        return found.generation

    def apply(self, base: Base, generation: int, changes: Changes, *, fresh: bool) -> None:
        folder = _folder(base.root)
        before = None if fresh else _read_state(base.root)
        with _told("cannot be written"):
            _forget_state(base.root)
            if fresh or before is None:
                _empty(folder)
            index, schema = _open(folder)
            languages = _write(index, schema, changes, _LARGE_HEAP if fresh else _SMALL_HEAP)
        known = languages if before is None else {*languages, *before.languages}
        write_atomic(_state_path(base.root), json.dumps(
            {"format": FORMAT, "generation": generation, "declared": base.language or "", "languages": sorted(known),
             "files": _measured(folder)}))

    def open(self, base: Base, generation: int) -> TantivyIndex:
        state = _known_state(base.root)
        if state is None:
            raise IndexOutOfStep("the tantivy index is not built", hint="run kb index")
        if state.generation != generation:
            raise IndexOutOfStep("the tantivy index is out of step with index.db", hint="run kb index")
        folder = _folder(base.root)
        try:
            with _told("is damaged"):
                if _measured(folder, _STORE) != {name: sums for name, sums in state.files.items() if name.endswith(_STORE)}:
                    raise ValueError("its store is not what was written")
                index, schema = _open(folder, create=False)
                opened = TantivyIndex(index, schema, _written_documents(folder), state.languages)
        except KbError:
            if _read_state(base.root) != state:  # what looks like damage is another process's writing
                raise _moved() from None
            if not os.access(folder, os.W_OK):  # the engine locks a file even to read
                raise IndexOutOfStep("the tantivy index cannot be opened in a folder that cannot be written") from None
            raise
        if _read_state(base.root) != state:
            raise _moved()
        return opened


class TantivyIndex:
    """One base's segments, as they were when it was opened."""

    def __init__(self, index: Any, schema: Any, written: int, languages: Sequence[str]) -> None:
        import tantivy

        self._tantivy = tantivy
        self._schema = schema
        self._searcher = index.searcher()
        self._written = written
        self._languages = tuple(languages)
        self._stems = StemmerSet()

    def size(self) -> int:
        count: int = self._searcher.num_docs
        return count

    def frequencies(self, words: Sequence[str]) -> Sequence[int]:
        with _told("is damaged"):
            return [self._frequency(word) for word in words]

    def search(self, weights: Mapping[str, float], limit: int,
               allowed: Callable[[int], bool]) -> list[tuple[int, float]]:
        with _told("is damaged"):
            clauses = [(self._tantivy.Occur.Should, query)
                       for word in sorted(weights) for query in self._weighed(word, weights[word])]
            if not clauses or limit <= 0:
                return []
            return self._best(self._tantivy.Query.boolean_query(clauses), limit, allowed)

    def close(self) -> None:
        self._searcher = None

    def _best(self, query: Any, limit: int, allowed: Callable[[int], bool]) -> list[tuple[int, float]]:
        """Ask for more and more until `limit` allowed rows are known with everything that ties with the last of them."""
        every = self.size()
        wanted = min(limit + _SPARE, every)
        while wanted:
            hits = self._searcher.search(query, wanted, count=False).hits
            rows = self._searcher.fast_field_values("row", [address for _, address in hits])
            admitted = [(row, score) for (score, _), row in zip(hits, rows, strict=True) if allowed(row)]
            complete = len(hits) < wanted or wanted == every
            least = 0.0 if complete else hits[-1][0] + _NOISE
            if complete or sum(score > least for _, score in admitted) >= limit:
                return sorted(admitted, key=lambda hit: (-round(hit[1], 4), hit[0]))[:limit]
            wanted = min(wanted * 4, every)
        return []

    def _terms(self, word: str) -> tuple[str, ...]:
        """What `word` became when it was indexed, in each language the base holds."""
        if is_unspaced(word):
            return (word,)
        return self._stems.every(word, self._languages) or (word,)

    def _term_query(self, term: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, "words", term, "freq")

    def _frequency(self, word: str) -> int:
        terms = self._terms(word)
        if len(terms) == 1 and self._written == self.size():
            count: int = self._searcher.doc_freq("words", terms[0])
            return count
        clauses = [(self._tantivy.Occur.Should, self._term_query(term)) for term in terms]
        return int(self._searcher.search(self._tantivy.Query.boolean_query(clauses), 1, count=True).count)

    def _weighed(self, word: str, weight: float) -> Iterator[Any]:
        """`word` with the engine's own idf divided out and the fleet's put in; its stems count as one word."""
        queries = []
        for term in self._terms(word):
            holding = self._searcher.doc_freq("words", term)
            if holding:
                idf = math.log(1 + (self._written - holding + 0.5) / (holding + 0.5))
                queries.append(self._tantivy.Query.boost_query(self._term_query(term), weight / idf))
        if len(queries) == 1:
            yield queries[0]
        elif queries:
            yield self._tantivy.Query.disjunction_max_query(queries)


def _write(index: Any, schema: Any, changes: Changes, heap: int) -> set[str]:
    """Apply `changes` and commit: the languages of what was added. One thread keeps the order of ties."""
    import tantivy

    writer = _writer(index, heap)
    for first, end in changes.removed:
        writer.delete_documents_by_query(tantivy.Query.range_query(
            schema, "row", tantivy.FieldType.Unsigned, first, end, include_upper=False))
    stems = StemmerSet()
    languages = set()
    for batch in changes.added:
        for row, heading, text, language in batch:
            languages.add(language)
            stemmer = stems[language]
            head = stemmer.join(analyse(heading))
            document = tantivy.Document()
            document.add_unsigned("row", row)
            document.add_text("words", " ".join([*[head] * HEADING_TIMES, stemmer.join(analyse(text))]))
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return languages


def _writer(index: Any, heap: int) -> Any:
    """The index's one writer; another process's is waited for."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return index.writer(heap, 1)
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise
            if time.monotonic() > until:
                raise KbError("the tantivy index is locked by another process", hint="try again in a moment") from None
        time.sleep(0.05)


def _open(folder: str, *, create: bool = True) -> tuple[Any, Any]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True, indexed=True)
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    if create:
        os.makedirs(folder, exist_ok=True)
    elif not tantivy.Index.exists(folder):
        raise KbError("the tantivy index is gone", hint="run kb index")
    index = tantivy.Index(schema, path=folder, reuse=True)
    index.config_reader(reload_policy="manual")  # else a thread reads again what a later sync commits, and may panic unheard
    index.register_tokenizer("whitespace", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index, schema


def _written_documents(folder: str) -> int:
    """Documents in all segments, deleted ones included: the N of the engine's own idf."""
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
        return sum(segment["max_doc"] for segment in json.load(file)["segments"])


@contextmanager
def _told(what: str) -> Iterator[None]:
    """What the engine raises, a Rust panic included, as a KbError."""
    try:
        with _hushed():
            yield
    except ImportError:
        raise IndexOutOfStep("tantivy is not installed", hint="pip install tantivy, or set text_backend = fts5") from None
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise KbError(f"the tantivy index {what} ({_flat(error)})", hint="run kb index") from None
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise KbError(f"the tantivy index {what} ({_flat(error)})", hint="run kb index") from None


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep what Rust prints about a panic from stderr: the KbError says it. Whatever else was printed meanwhile follows."""
    if not hasattr(os, "memfd_create"):
        yield
        return
    with _STDERR:
        try:
            stderr = os.dup(2)
        except OSError:  # there is none
            yield
            return
        held = os.memfd_create("stderr")
        os.dup2(held, 2)
        panicked = False
        try:
            yield
        except BaseException as error:
            panicked = _is_panic(error)
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            printed = b"" if panicked else os.pread(held, os.fstat(held).st_size, 0)
            os.close(held)
            if printed:
                os.write(2, printed)


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def _flat(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def _folder(root: str) -> str:
    return os.path.join(root, ".kb", "tantivy")


def _state_path(root: str) -> str:
    return os.path.join(_folder(root), "kb.json")


def _moved() -> IndexOutOfStep:
    return IndexOutOfStep("the tantivy index changed while it was read", hint="ask again")


def _read_state(root: str) -> _State | None:
    """What is said of a whole index in today's format, else None."""
    try:
        return _known_state(root)
    except KbError:
        return None


def _known_state(root: str) -> _State | None:
    """The same, where None means that there is no index of today's format. Raises KbError when what says it is damaged."""
    try:
        with open(_state_path(root), encoding="utf-8") as file:
            state = json.load(file)
        if state["format"] != FORMAT:
            return None
        return _State(int(state["generation"]), str(state["declared"]), tuple(map(str, state["languages"])),
                      {str(name): (int(size), int(total)) for name, (size, total) in state["files"].items()})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise KbError(f"the tantivy index is damaged (kb.json: {type(error).__name__})", hint="run kb index") from None


def _measured(folder: str, suffix: str = "") -> dict[str, tuple[int, int]]:
    """File name -> (size in bytes, crc32) of what the engine keeps: segments and meta.json. Empty when it cannot be read.

    Only of names that end in `suffix`.
    """
    found = {}
    try:
        for name in sorted(os.listdir(folder)):
            if name != "kb.json" and not name.startswith(".") and name.endswith(suffix):
                with open(os.path.join(folder, name), "rb") as file:
                    size = total = 0
                    while part := file.read(1 << 20):
                        size, total = size + len(part), crc32(part, total)
                found[name] = (size, total)
    except OSError:
        return {}
    return found


def _forget_state(root: str) -> None:
    try:
        os.unlink(_state_path(root))
    except (FileNotFoundError, NotADirectoryError):
        return


def _empty(folder: str) -> None:
    import shutil

    if os.path.islink(folder):
        raise KbError(".kb/tantivy is a link, and what it points to is not ours to empty", hint="remove the link")
    if os.path.isdir(folder):
        shutil.rmtree(folder)
    elif os.path.lexists(folder):
        os.unlink(folder)
