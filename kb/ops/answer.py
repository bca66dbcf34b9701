"""`kb answer`: the passages that a question found, handed to the answerer; or the reading list when there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kb.core.citations import compare
from kb.core.display import flat
from kb.core.prompts import NOT_HELD, answer_prompt, facts_of, map_prompt, reduce_prompt
from kb.core.values import Answer, Miss, Place
from kb.core.windows import Window, assemble, readable
from kb.ops.ask import ask, record_miss
from kb.ops.models import ModelUnreachable, NoModel, Untrusted, ask_model, configured, reads_prompts, require_settings, require_trust
from kb.ops.passages import beginning, telling, vouched

if TYPE_CHECKING:
    from kb.app import App

Mode = Literal["fast", "expanded"]
FILES: dict[Mode, int] = {"fast": 5, "expanded": 12}
PASSAGES: dict[Mode, int] = {"fast": 8, "expanded": 16}
BATCH = 10
LONGEST_FILE = 200_000  # code points of one file that --complete reads


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question.

    reply:    the answerer's text, or None: nothing matched, or there is no answerer, or it gave nothing.
    problem:  why an answerer that fleet.txt names gave no reply, "" otherwise.
    refused:  whether the problem is that nobody approved it.
    served:   the files whose passages were offered, as `base/path`.
    unserved: files that the reply cites and that were not served.
    uncited:  served files that the reply does not cite; empty when it says that the library does not hold this.
    """

    found: Answer
    miss: Miss | None
    reply: str | None = None
    problem: str = ""
    refused: bool = False
    served: tuple[str, ...] = ()
    unserved: tuple[str, ...] = ()
    uncited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Complete:
    """What came of reading the whole library. `facts` are kept when the last call failed; `problem` says why it did.

    unserved: files that the reply cites and that were not read.
    """

    reply: str | None
    facts: tuple[str, ...]
    files: int
    calls: int
    seconds: float
    problem: str = ""
    unserved: tuple[str, ...] = ()


@dataclass(slots=True)
class Progress:
    """How a surface is told about a long reading. Every field may be left out.

    plan:   (files, batches, calls), before the first call.
    batch:  (number, batches, seconds it took), after each batch.
    failed: (number, batches, why), for a batch that gave nothing.
    """

    plan: Callable[[int, int, int], None] = field(default=lambda files, batches, calls: None)
    batch: Callable[[int, int, float], None] = field(default=lambda number, batches, seconds: None)
    failed: Callable[[int, int, str], None] = field(default=lambda number, batches, why: None)


def answer(app: App, question: str, mode: Mode = "fast", top: int = 5) -> Answered:
    """One call of the answerer over the files that `question` found; never one when nothing matched."""
    files, passages = FILES[mode], PASSAGES[mode]
    found = ask(app, question, max(top, files), passages)
    miss = record_miss(app, found)
    if found.verdict == "nothing" or not found.results:
        return Answered(found, miss)
    if configured(app, "answerer") is None:
        return Answered(found, miss)
    windows = served_windows(app, found, files, passages)
    served = tuple(dict.fromkeys(window.path for window in windows))
    try:
        reply = ask_model(app, "answerer", answer_prompt(found, windows), question=question, windows=windows,
                          guess=found.verdict == "guess").strip()
    except (ModelUnreachable, Untrusted) as error:
        return Answered(found, miss, problem=str(error), refused=isinstance(error, Untrusted), served=served)
    unserved, uncited = compare(reply, served, [part for window in windows for part in (window.text, window.purpose)])
    if NOT_HELD.casefold() in flat(reply).casefold():
        uncited = []
    return Answered(found, miss, reply, served=served, unserved=tuple(unserved), uncited=tuple(uncited))


def served_windows(app: App, found: Answer, files: int, passages: int) -> list[Window]:
    """The windows of the reading list, in its order: what an answerer reads and what `kb eval --triad` grades.

    A file of which no passage matched gives its chunks from disk when a hit is about it, or when the text index does not
    know it as it is now; any other gives its purpose.
    """
    results = found.results[:files]
    chosen = {(result.base, result.path): telling(result.passages)[:passages] for result in results}
    stale = set(app.catalogue.unindexed()) if not all(chosen.values()) else set()
    windows: list[Window] = []
    for result in results:
        place = Place(result.base, result.path)
        shown = chosen[place]
        if not shown and (place in stale or place == vouched(found)):
            shown = beginning(app, place)[:passages]
        if shown:
            text = app.catalogue.text_of(place)
            windows += assemble(str(place), result.memory, shown, None if text is None else readable(text))
        else:
            windows.append(Window(str(place), "", "", result.memory, purpose=result.purpose))
    return windows


def answer_complete(app: App, question: str, progress: Progress) -> Complete:
    """Read every keyed file in scope, ten a call, and answer from the facts.

    Raises NoModel, Untrusted, and UsageError for a line that can never run, before any call.
    """
    if configured(app, "answerer") is None:
        raise NoModel("--complete is nothing but model calls, and fleet.txt has no `answerer =` line")
    if not reads_prompts(app):
        raise NoModel(f"--complete is nothing but model calls, and `answerer = {configured(app, 'answerer')}` is no model",
                      hint="leave --complete out, or name a model in fleet.txt")
    require_settings(app, "answerer")
    require_trust(app, "answerer")
    places = [Place(entry.base, entry.path) for entry in app.catalogue.entries()]
    if not places:
        return Complete(None, (), 0, 0, 0.0)
    batches = [places[start:start + BATCH] for start in range(0, len(places), BATCH)]
    progress.plan(len(places), len(batches), len(batches) + 1)
    started = time.monotonic()
    facts: list[str] = []
    read: list[Place] = []
    calls = 0
    problem = ""
    for number, batch in enumerate(batches, 1):
        begun = time.monotonic()
        texts = {place: text for place in batch if (text := _whole(app, place)) is not None}
        calls += 1
        try:
            facts += _facts(app, [(str(place), text) for place, text in texts.items()], question)
            read += texts
        except ModelUnreachable as error:
            problem = str(error)
            progress.failed(number, len(batches), problem)
            continue
        progress.batch(number, len(batches), time.monotonic() - begun)
    if not facts:
        return Complete(None, (), len(read), calls, time.monotonic() - started, problem)
    calls += 1
    try:
        reply = ask_model(app, "answerer", reduce_prompt(facts, question), question=question).strip()
    except ModelUnreachable as error:
        return Complete(None, tuple(facts), len(read), calls, time.monotonic() - started, str(error))
    seconds = time.monotonic() - started
    unserved = compare(reply, [str(place) for place in read], (_whole(app, place) or "" for place in read))[0]
    return Complete(reply, tuple(facts), len(read), calls, seconds, unserved=tuple(unserved))


def _facts(app: App, texts: Sequence[tuple[str, str]], question: str) -> list[str]:
    """The facts of one batch. Raises ModelUnreachable when the model gave nothing, or nothing that says it read a file."""
    facts = facts_of(ask_model(app, "answerer", map_prompt(texts, question), question=question))
    if facts is None:
        raise ModelUnreachable("the reply held neither a fact nor one line that starts with FILE")
    return facts


def _whole(app: App, place: Place) -> str | None:
    text = app.catalogue.text_of(place)
    if text is None:
        return None
    text = readable(text)
    return text if len(text) <= LONGEST_FILE else text[:LONGEST_FILE] + "\n(the rest of this file was not read)"
