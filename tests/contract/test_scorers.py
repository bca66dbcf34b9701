"""Every registered scorer, ours and a stranger's: what a ranking may count on. Then the vectors of the two keyword scorers."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from kb.app import App, open_app, shared_host
from kb.core.values import Fleet, Hit, Manifest, Place, Ranking
from kb.specs import Scorer

SCORERS: list[Scorer] = App(shared_host(quiet=True), Fleet("", Manifest(), (), ()), False).known_scorers()


def shelf(root: Path, notes: dict[str, str]) -> App:
    """Notes as {"base/path.md": text}; every base gets an agent.txt. Files are old enough to be believed by the cache."""
    for path, text in notes.items():
        target = root / "fleet" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        card = root / "fleet" / path.split("/")[0] / "agent.txt"
        card.write_text("role = keeps notes\n", encoding="utf-8")
    return open_app([str(root)])


def keyed(keys: str, title: str = "X", purpose: str = "", body: str = "") -> str:
    return f"# {title}\n\n**Search for:** {keys}\n\n" + (f"**Exists to:** {purpose}\n\n" if purpose else "") + body


def ranked(app: App, scorer: Scorer, question: str) -> Ranking:
    return scorer.rank(app.catalogue, app.catalogue.query(question))


def scores(ranking: Ranking) -> dict[str, float]:
    return {hit.path: hit.score for hit in ranking.hits}


@pytest.fixture
def library(tmp_path: Path) -> App:
    notes = {f"{base}/k/n{at}.md": keyed("lantern, brass lamp", body=f"## Part\n\nThe lantern number {at} hangs by the door.\n")
             for base in ("bo", "ana") for at in range(4)}
    notes["ana/k/other.md"] = keyed("tomato", body="## Part\n\nTomatoes ripen late.\n")
    notes["ana/profile/secret.md"] = keyed("lantern, secret", body="## Part\n\nThe lantern of the owner.\n")
    app = shelf(tmp_path, notes)
    from kb.ops.index import index

    index(app)
    return open_app([str(tmp_path)])


# -- the contract --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: f"{scorer.name}-{scorer.sets[0]}")
class TestEveryScorer:
    def test_files_are_ranked_once_best_first_and_ties_stand_by_base_and_path(self, library: App, scorer: Scorer) -> None:
        hits = ranked(library, scorer, "a brass lamp or a lantern").hits
        assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.base, hit.path))
        assert len({(hit.base, hit.path) for hit in hits}) == len(hits)

    def test_scores_are_positive_and_finite(self, library: App, scorer: Scorer) -> None:
        assert all(0 < hit.score < math.inf for hit in ranked(library, scorer, "lantern tomato door").hits)

    def test_nothing_out_of_scope_is_ranked(self, library: App, scorer: Scorer) -> None:
        assert not any(hit.path.startswith("profile/") for hit in ranked(library, scorer, "lantern secret owner").hits)

    @pytest.mark.parametrize("question", ["", "   ", "the of and", "\x00", '"*(', "🐘"])
    def test_a_question_without_words_is_answered_with_a_ranking(self, library: App, scorer: Scorer, question: str) -> None:
        assert isinstance(ranked(library, scorer, question), Ranking)

    def test_asking_twice_gives_the_same(self, library: App, scorer: Scorer) -> None:
        assert ranked(library, scorer, "lantern door").hits == ranked(library, scorer, "lantern door").hits

    def test_what_is_shown_of_a_file_comes_when_it_is_asked_for(self, library: App, scorer: Scorer) -> None:
        ranking = ranked(library, scorer, "lantern tomato")
        for hit in list(ranking.hits)[:3]:
            place = Place(hit.base, hit.path)
            assert all(isinstance(word, str) for word in ranking.matched(place))
            assert len(ranking.passages(place, 2)) <= 2


def test_each_set_has_exactly_one_scorer_with_a_floor() -> None:
    for name in ("default", "classic"):
        assert sum(name in scorer.sets and scorer.floor is not None for scorer in SCORERS) == 1


# -- the classic formulas, number by number ------------------------------------------------------------------------------


def gate(name: str) -> Scorer:
    return next(scorer for scorer in SCORERS if name in scorer.sets and scorer.floor is not None)


CLASSIC, DEFAULT = gate("classic"), gate("default")


def test_the_worked_example_scores_34_057_and_the_floor_of_four_is_4_059(tmp_path: Path) -> None:
    app = shelf(tmp_path, {
        "ana/rollback.md": keyed("rollback, deploy, downtime, release", "Rollback", "say how a deploy is undone"),
        "ana/pasta.md": keyed("pasta, tomato", "Pasta", "hold one recipe"),
        "ana/zebra.md": keyed("zebra, quagga", "Zebra", "hold one animal"),
        "ana/tide.md": keyed("tide, harbour", "Tide", "hold one port note")})
    found = scores(ranked(app, CLASSIC, "como faco rollback de um deploy sem downtime na release"))
    assert found == {"rollback.md": pytest.approx(31 * math.log(3))}
    assert CLASSIC.floor is not None and CLASSIC.floor(app.catalogue) == pytest.approx(4.0593, abs=1e-4)


@pytest.mark.parametrize(("entries", "floor"), [(1, 1.4982), (2, 2.5611), (11, 6.9162), (50, 12.0385), (226, 17.5), (1000, 22.97)])
def test_the_floor_scales_with_what_a_unique_word_weighs(entries: int, floor: float) -> None:
    from kb_plugins.scorers.evidence import floor_for

    assert floor_for(entries) == pytest.approx(floor, abs=1e-3)


@pytest.mark.parametrize(("keys", "question", "expected"), [
    (["memory bandwidth", "memory, bandwidth"], "explique memory bandwidth", {"a.md": 5.1083, "b.md": 6.1299}),
    (["protein", "protein", "protein", "protein, protein per meal"], "quanta protein per meal eu preciso",
     {"a.md": 3.5267, "b.md": 3.5267, "c.md": 3.5267, "d.md": 12.8101}),
    (["long context", "tomato"], "context", {}),
    (["nao contestar", "contestar"], "contestar", {"b.md": 4.1589}),
    (["text-embedding-3-small", "text"], "text", {"b.md": 3.0650}),
    (["q4_K_M", "tomato"], "cabe em q4_K_M", {"a.md": 4.1589}),
    (["art cat", "tomato"], "smart cathedral", {}),
])
def test_the_vectors_of_the_reference(tmp_path: Path, keys: list[str], question: str, expected: dict[str, float]) -> None:
    app = shelf(tmp_path, {f"ana/{chr(97 + at)}.md": keyed(line) for at, line in enumerate(keys)})
    assert scores(ranked(app, CLASSIC, question)) == pytest.approx(expected, abs=1e-3)


# -- what the default scorer mends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "question"), [
    ("zebra", "zebras"), ("deploys", "deploy"), ("reunioes", "reunião"), ("subject line", "which subject lines"), ("книга", "книги")])
def test_an_inflection_finds_its_key(tmp_path: Path, key: str, question: str) -> None:
    app = shelf(tmp_path, {"ana/a.md": keyed(key), "ana/b.md": keyed("tomato")})
    assert scores(ranked(app, CLASSIC, question)) == {} or key == "subject line"
    assert set(scores(ranked(app, DEFAULT, question))) == {"a.md"}


def test_an_exact_word_outranks_its_inflection(tmp_path: Path) -> None:
    app = shelf(tmp_path, {"ana/a.md": keyed("zebra"), "ana/b.md": keyed("zebras"), "ana/c.md": keyed("tomato")})
    assert [hit.path for hit in ranked(app, DEFAULT, "zebras").hits] == ["b.md", "a.md"]


def test_words_that_a_note_does_not_explain_take_the_score_under_the_floor(tmp_path: Path) -> None:
    app = shelf(tmp_path, {f"ana/n{at}.md": keyed(f"subject{at}, matter{at}, theme{at}") for at in range(30)})
    assert DEFAULT.floor is not None
    long = "subject4 of a parade whose elephants juggle copper kettles beside the frozen lighthouse"
    floor = DEFAULT.floor(app.catalogue)
    assert ranked(app, DEFAULT, "subject4").hits[0].score > floor > ranked(app, DEFAULT, long).hits[0].score
    assert ranked(app, CLASSIC, long).hits[0].score > floor


def test_a_hit_that_explains_little_does_not_outrank_text(tmp_path: Path) -> None:
    app = shelf(tmp_path, {"ana/a.md": keyed("kettle, handle"), "ana/b.md": keyed("tomato, red fruit")})
    hits = {hit.path: hit for hit in ranked(app, DEFAULT, "kettle steam whistle boiler pressure").hits}
    assert isinstance(hits["a.md"], Hit) and not hits["a.md"].fuses
    assert ranked(app, DEFAULT, "kettle handle").hits[0].fuses


def test_matched_names_the_phrase_as_written_then_the_words_of_the_question(tmp_path: Path) -> None:
    app = shelf(tmp_path, {"ana/a.md": keyed("Undo a Deploy, canary"), "ana/b.md": keyed("tomato")})
    for scorer in (CLASSIC, DEFAULT):
        assert ranked(app, scorer, "canary: how to undo a deploy").matched(Place("ana", "a.md")) == ("Undo a Deploy", "canary")


def test_scorers_are_chosen_by_set_or_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = shelf(tmp_path, {"ana/a.md": keyed("kettle")})
    assert os.environ.get("KB_SCORERS") is None
    monkeypatch.setenv("KB_SCORERS", "classic")
    assert app.scorers[0] is CLASSIC or app.scorers[0].sets == ("classic",)
