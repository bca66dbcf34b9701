"""`kb eval`: every question of a gold file asked of the opened fleet and graded. Nothing is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kb.core.grading import CUTS, DEPTH, Grade, Totals, ranked_grades, totals
from kb.core.measures import Paired, paired
from kb.core.triad import ABSTENTION, Triad, triad
from kb.core.values import Answer, Place
from kb.errors import UsageError
from kb.ops.answer import FILES, PASSAGES, served_windows
from kb.ops.ask import ask
from kb.ops.classify import classify
from kb.ops.gold import Question
from kb.ops.models import NoModel, configured, require_trust

if TYPE_CHECKING:
    from kb.app import App

Tick = Callable[[int, int], None]


class Evaluation(NamedTuple):
    """A graded run: one grade a question in the order asked, its totals, and what it was run on.

    problems: what the classifier could not say, one sentence a question; skipped: what could not be searched.
    """

    grades: tuple[Grade, ...]
    totals: Totals
    entries: int
    agents: int
    floor: float
    scorers: tuple[str, ...]
    skipped: tuple[str, ...]
    problems: tuple[str, ...]


class Comparison(NamedTuple):
    """Two runs over the same questions: each measure with its paired test. `first` and `second` are their names."""

    first: str
    second: str
    measures: dict[str, Paired]
    questions: int


def evaluate(app: App, questions: Sequence[Question], top: int = 5, *, with_model: bool = False, with_triad: bool = False,
             tick: Tick = lambda done, total: None) -> Evaluation:
    """Ask and grade every question. With `with_model` the classifier is asked about each, one call a question.

    Raises NoModel when fleet.txt names no classifier, and Untrusted when nobody approved it, before anything is asked.
    """
    if with_model:
        if configured(app, "classifier") is None:
            raise NoModel("--classify asks the classifier, and fleet.txt has no `classifier =` line")
        require_trust(app, "classifier")
    agents = {agent.name for agent in app.fleet.agents}
    skipped: dict[str, None] = {}
    problems: list[str] = []
    grades = []
    floor = 0.0
    for number, question in enumerate(questions):
        begun = time.perf_counter()
        answer = ask(app, question.text, max(top, DEPTH), 0)
        asked = time.perf_counter()
        library = app.catalogue
        app.scorers[0].rank(library, library.query(question.text))
        routed = time.perf_counter()
        floor = answer.floor
        skipped.update(dict.fromkeys(answer.skipped))
        grade = _grade(question, answer, top, agents)
        spent = 0.0
        if with_model:
            said = classify(app, answer, question.text)
            spent = time.perf_counter() - routed
            grade = _modelled(grade, said.ruling.owner if said.ruling and said.ruling.coverage == "covered" else None,
                              said.ruling is not None)
            if said.problem:
                problems.append(f"{question.text}: {said.problem}")
        if with_triad:
            grade = grade._replace(triad=_triad(app, question.text, top))
        grades.append(grade._replace(micros=((asked - begun) * 1e6, (routed - asked) * 1e6, spent * 1e6)))
        tick(number + 1, len(questions))
    return Evaluation(tuple(grades), totals(grades, floor), app.catalogue.size(), len(agents), floor,
                      tuple(scorer.name for scorer in app.scorers), tuple(skipped), tuple(problems))


def compare(app: App, questions: Sequence[Question], first: str, second: str, top: int = 5,
            tick: Tick = lambda done, total: None) -> tuple[Comparison, tuple[Evaluation, Evaluation]]:
    """The same questions under two scorer sets or two text backends. Raises UsageError for a name that is neither."""
    apps = [_variant(app, name) for name in (first, second)]
    runs = [evaluate(one, questions, top, tick=tick) for one in apps]
    rows = [[_vector(grade) for grade in run.grades] for run in runs]
    names = dict.fromkeys(name for vectors in rows for vector in vectors for name in vector)
    measures = {name: paired([a[name] for a, b in zip(*rows, strict=True) if name in a and name in b],
                             [b[name] for a, b in zip(*rows, strict=True) if name in a and name in b]) for name in names}
    return Comparison(first, second, measures, len(questions)), (runs[0], runs[1])


def _variant(app: App, name: str) -> App:
    known = {name for scorer in app.known_scorers() for name in scorer.names}
    words = name.replace(",", " ").split()
    if words and known.issuperset(words):
        return app.variant(scorers=name)
    if name != "auto" and name not in app.host.drivers("kb.text"):
        raise UsageError(f"{name} is neither a set of scorers nor a text backend",
                         hint="known: " + ", ".join(sorted({*known, "auto", *app.host.drivers("kb.text")})))
    return app.variant(text=name)


def _vector(grade: Grade) -> dict[str, float]:
    """What a question adds to each measure. Questions to decline count in `declined` only."""
    if grade.declines:
        return {"declined": float(grade.verdict != "hit")}
    found = {"file": float(bool(grade.file)), "keyword": float(bool(grade.keyword)), "mrr@10": grade.rank,
             "ndcg@10": grade.ndcg, **{f"recall@{cut}": value for cut, value in zip(CUTS, grade.recalls, strict=True)},
             "served as a hit": float(grade.verdict == "hit")}
    if grade.agents:
        found["agent"] = float(bool(grade.agent))
    return found


def _grade(question: Question, answer: Answer, top: int, agents: set[str]) -> Grade:
    ranked = tuple(Place(result.base, result.path) for result in answer.results)
    first = Grade(question.text, question.declines, answer.verdict, answer.confidence.keyword_score,
                  answer.confidence.margin, ranked=ranked)
    if question.declines:
        return first
    recalls, rank, ndcg = ranked_grades(ranked, dict(question.gains))
    right = frozenset(place.base for place in question.answers if place.base in agents)
    owner = answer.owner.name if answer.owner else None
    sums: dict[str, float] = {}
    for result in answer.results[:top]:
        if result.base in agents:
            sums[result.base] = sums.get(result.base, 0.0) + result.score
    fused = min(sums, key=lambda name: (-sums[name], name), default=None)
    graded = first._replace(file=bool(ranked) and ranked[0] in question.answers,
                            keyword=answer.keyword_top in question.answers, agents=right, recalls=recalls, rank=rank,
                            ndcg=ndcg)
    if not right:
        return graded
    return graded._replace(agent=owner in right, routes=answer.verdict == "hit" and owner in right,
                           fused_agent=fused in right)


def _modelled(grade: Grade, owner: str | None, ruled: bool) -> Grade:
    """The grade with the classifier's word in it. Without a ruling boot falls back on the arithmetic."""
    if not ruled:
        return grade._replace(model=False if grade.agents else None, abstained=False)
    right = owner in grade.agents if grade.agents else None
    return grade._replace(model=right, routes=right, abstained=owner is None)


def _triad(app: App, question: str, top: int) -> Triad:
    """The passages that `kb answer` would serve; the answer is the best of them, or the refusal."""
    passages = PASSAGES["fast"]
    answer = ask(app, question, max(top, FILES["fast"]), passages)
    windows = served_windows(app, answer, FILES["fast"], passages)
    texts = [window.text or window.purpose for window in windows if window.text or window.purpose]
    if answer.verdict == "nothing":
        said = ABSTENTION
    else:
        said = texts[0] if texts else str(answer.keyword_top or "")
    return triad(question, said, texts)
