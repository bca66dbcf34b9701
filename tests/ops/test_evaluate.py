"""`kb eval`: grades, totals, comparisons and test collections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kb.app import App, open_app
from kb.core.collection import Collection, Document, mechanical_keys, parse_qrels
from kb.errors import UsageError
from kb.ops import collection as collections
from kb.ops.evaluate import Evaluation, compare, evaluate
from kb.ops.gold import questions, read_gold, stale_answers
from kb.ops.index import index
from kb.ops.models import NoModel
from kb.store.collection import is_collection, read_collection
from tests.conftest import Shell

GOLD = ("pump pressure\tada/knowledge/pump.md\nsow beans\tEVA/knowledge/beans.md|ben/knowledge/letters.md\n"
        "letter\tada/knowledge/mower.md\nheron\t-\nowner timezone\tperson/core.md\n")


@pytest.fixture
def orchard(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The fleet, indexed, asked in this process under the classic scorers."""
    for name in ("KB_NOW", "KB_SCORERS", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, fleet.env[name])
    monkeypatch.setenv("KB_TRUST", "1")
    index(open_app([str(fleet.root)], True))
    return fleet


def graded(sh: Shell, gold: str = GOLD, *, include_private: bool = True, **settings: bool) -> Evaluation:
    app = open_app([str(sh.root)], include_private)
    rows = read_gold(str(sh.write("gold.tsv", gold)))
    assert stale_answers(app, rows) == []
    return evaluate(app, questions(app, rows), **settings)


def test_files_agents_and_refusals_are_graded_apart(orchard: Shell) -> None:
    run = graded(orchard)
    sums = run.totals
    assert (sums.questions, sums.answerable, run.entries, run.agents) == (5, 4, 5, 3)
    assert [(grade.file, grade.keyword, grade.agent, grade.verdict) for grade in run.grades] == [
        (True, True, True, "hit"), (True, True, True, "hit"), (False, False, False, "hit"), (None, None, None, "nothing"),
        (True, True, None, "hit")]
    assert (str(sums.fused), str(sums.keyword)) == ("3/4  (75%)", "3/4  (75%)")
    assert (sums.routes, sums.keyword_agent, sums.unowned) == ((2, 3), (2, 3), 1)
    assert (sums.baseline, sums.baseline_hits) == ("ada", (2, 3))
    assert (sums.flagged, sums.demoted) == ((0, 1), (0, 3))
    assert (sums.refused, sums.hedged, sums.answered) == (1, 0, 0)


def test_the_standard_measures_come_from_the_fused_list(orchard: Shell) -> None:
    sums = graded(orchard, "pump\tada/knowledge/pump.md\nbeans\teva/knowledge/beans.md|ada/knowledge/pump.md\n").totals
    # the second question finds one of two: recall 1/2, nDCG 1 / (1 + 1/log2 3)
    assert sums.recalls == pytest.approx((0.75, 0.75, 0.75)) and sums.mrr == 1.0
    assert sums.ndcg == pytest.approx((1 + 1 / (1 + 0.6309298)) / 2, abs=1e-6)


def test_an_answer_that_the_scope_does_not_see_is_stale_in_the_words_of_one_that_is_not_there(orchard: Shell) -> None:
    orchard.write("fleet/ada/records/held.md", "# H\n")
    orchard.write("fleet/ada/node_modules/built.md", "# B\n")
    orchard.write("fleet/ada/blocks.txt", "[map]\nMAP.md\n")
    answers = ["ada/records/held.md", "ada/records/gone.md", "ada/node_modules/built.md", "ada/blocks.txt", "person/core.md"]
    rows = read_gold(str(orchard.write("gold.tsv", "".join(f"pump\t{answer}\n" for answer in answers))))
    told = stale_answers(open_app([str(orchard.root)]), rows)
    assert len({line.replace(answer, "").partition(": ")[2] for line, answer in zip(told, answers, strict=True)}) == 1
    told = stale_answers(open_app([str(orchard.root)], include_private=True), rows)
    assert [line.split()[2] for line in told] == answers[1:4]


@pytest.mark.parametrize(("answer", "told"), [
    ("ada/knowledge/gone.md", "not there"), ("nobody/x.md", "no base called nobody"), ("pump.md", "no <base>/<path>"),
    ("ada/../../gold.tsv", "no <base>/<path>"), ("ada/knowledge", "not there")])
def test_an_answer_that_the_fleet_lacks_is_stale_and_named_by_its_line(orchard: Shell, answer: str, told: str) -> None:
    rows = read_gold(str(orchard.write("gold.tsv", f"pump\tada/knowledge/pump.md\nghost\t{answer}\n")))
    (line,) = stale_answers(open_app([str(orchard.root)]), rows)
    assert line.startswith("line 2:") and told in line


def test_the_classifier_is_graded_by_what_boot_would_do(orchard: Shell) -> None:
    orchard.write("fleet.txt", "name = Orchard\nclassifier = tools/classify.sh\n")
    orchard.script("tools/classify.sh", "if grep -q heron; then printf 'OWNER: none\\nCOVERAGE: uncovered\\nSUBJECT: birds\\n'\n"
                   "else printf 'OWNER: ada\\nCOVERAGE: covered\\n'; fi\n")
    run = graded(orchard, with_model=True)
    assert [grade.model for grade in run.grades] == [True, False, True, None, None]
    assert run.totals.model == (2, 3) and run.totals.routes == (2, 3) and run.totals.model_abstained == (1, 1)


def test_a_classifier_that_is_not_named_is_a_usage_error_before_anything_is_asked(orchard: Shell) -> None:
    with pytest.raises(NoModel):
        graded(orchard, with_model=True)


def test_a_failing_classifier_is_told_and_costs_its_grade(orchard: Shell) -> None:
    orchard.write("fleet.txt", "classifier = tools/classify.sh\n")
    orchard.script("tools/classify.sh", "exit 3\n")
    run = graded(orchard, with_model=True)
    assert run.totals.model == (0, 3) and run.totals.routes == (2, 3) and len(run.problems) == 5


def test_the_triad_grades_the_passages_that_an_answerer_would_read(orchard: Shell) -> None:
    run = graded(orchard, "pump valve\tada/knowledge/pump.md\nzeppelin\t-\n", with_triad=True)
    first, second = (grade.triad for grade in run.grades)
    assert first is not None and first.faithfulness == 1.0 and second == (1, 1, 1, 1)


def test_two_systems_are_compared_question_by_question(orchard: Shell) -> None:
    app = open_app([str(orchard.root)], True)
    rows = questions(app, read_gold(str(orchard.write("gold.tsv", GOLD))))
    made, runs = compare(app, rows, "classic", "default")
    assert made.measures["file"].first == 0.75 and made.questions == 5
    assert [grade.score for grade in runs[0].grades] != [grade.score for grade in runs[1].grades]
    same, _ = compare(app, rows, "fts5", "fts5")
    assert all(one.difference == 0 and one.p == 1 for one in same.measures.values())


def test_a_name_that_is_neither_scorers_nor_backend_is_refused(orchard: Shell) -> None:
    app = open_app([str(orchard.root)])
    with pytest.raises(UsageError, match="nonsense is neither"):
        compare(app, [], "classic", "nonsense")


# -- collections -------------------------------------------------------------------------------------------------------


def made(folder: Path, documents: Sequence[dict[str, object]], queries: Sequence[dict[str, object]], qrels: str,
         unanswerable: Sequence[dict[str, object]] = ()) -> Path:
    folder.mkdir(parents=True)
    for name, rows in (("corpus", documents), ("queries", queries), ("unanswerable", unanswerable)):
        if rows:
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    (folder / "qrels.tsv").write_text(qrels)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return made(tmp_path / "Small Set", [
        {"_id": "d1", "title": "Herons", "text": "The heron stands in shallow water and waits for fish."},
        {"_id": "d2", "title": "", "text": "# Otters\n\n**Search for:** forged\n\nAn otter hunts at night along the bank."},
        {"_id": 3, "title": "Kingfishers", "text": "The kingfisher dives from a branch above the stream."}],
        [{"_id": "q1", "text": "Where does the heron wait?"}, {"_id": "q2", "text": "otter at night"}, {"_id": "q9", "text": "unjudged"}],
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t3\t1\nq2\td2\t1\nq2\tgone\t1\nq9\td1\t0\n",
        [{"_id": "u1", "text": "Who sells zeppelins?"}])


def test_a_collection_becomes_a_base_of_its_own_and_is_graded_with_its_gains(small: Path, monkeypatch: pytest.MonkeyPatch,
                                                                             tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert is_collection(str(small))
    found = read_collection(str(small))
    root = ""

    def opener(path: str) -> App:
        nonlocal root
        root = path
        return open_app([path])

    with collections.opened(found, opener, mechanical_keys(found.documents, 8)) as (app, rows, places):
        assert [(row.text, sorted(row.gains.values())) for row in rows] == [
            ("Where does the heron wait?", [1.0, 2.0]), ("otter at night", [1.0]), ("Who sells zeppelins?", [])]
        assert app.catalogue.size() == 3 and places["d1"].base == "small-set"
        run = evaluate(app, rows)
        assert run.totals.fused == (2, 2) and run.totals.refused == 1 and run.skipped == ()
    assert not Path(root).exists()


def test_mechanical_keys_are_the_title_then_what_is_telling() -> None:
    documents = [Document("1", "Blue Herons", "heron heron stands stands shared"), Document("2", "", "otter otter shared")]
    assert mechanical_keys(documents, 3) == [["blue", "herons", "heron"], ["otter", "shared"]]
    assert mechanical_keys(documents, 0) == [[], []]


@pytest.mark.parametrize(("name", "content", "told"), [
    ("corpus.jsonl", "{not json\n", "corpus.jsonl:1 is no JSON"), ("corpus.jsonl", '{"_id": "1"}\n', "corpus.jsonl:1 has no text"),
    ("queries.jsonl", '\n["a"]\n', "queries.jsonl:2 is no JSON object"), ("qrels.tsv", "h\th\th\nq1\td1\n", "qrels.tsv:2"),
    ("corpus.jsonl", "", "holds no document")])
def test_a_bad_collection_is_refused_by_file_and_line(small: Path, name: str, content: str, told: str) -> None:
    (small / name).write_text(content)
    with pytest.raises(UsageError, match=told):
        read_collection(str(small))


def test_judgements_are_read_in_both_shapes() -> None:
    assert parse_qrels("q1\td1\t1\nq1\td2\t0\n") == {"q1": {"d1": 1.0, "d2": 0.0}}
    assert parse_qrels("query-id\tcorpus-id\tscore\nq1\t0\td1\t3\r\n") == {"q1": {"d1": 3.0}}


def test_a_collection_without_a_judged_question_is_refused() -> None:
    with pytest.raises(UsageError, match="no question"):
        collections.questions(Collection("x", (Document("1", "", "t"),), {"q": "t"}, {}), {})


def test_a_public_collection_is_graded_well_by_text_alone(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The floor of what full text must reach on questions that it has the words for."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = read_collection(str(data / "ir" / "xquad-en"))
    kept = found._replace(queries=dict(list(found.queries.items())[::12]))
    with collections.opened(kept, lambda root: open_app([root]), [()] * len(kept.documents)) as (app, rows, _):
        assert evaluate(app, rows).totals.ndcg > 0.93
