"""Fusion, owner, verdict and suggestions: the numbers of the specification."""

from __future__ import annotations

import math

import pytest

from kb.core.fusion import fuse
from kb.core.owner import elect
from kb.core.suggest import best_keys, grams, lookalikes, similarity
from kb.core.values import Hit
from kb.core.verdict import decide, margin


def hits(*rows: tuple[str, str, float]) -> list[Hit]:
    return [Hit(*row) for row in rows]


def test_two_first_ranks_fuse_to_two_sixty_firsts() -> None:
    first, second = fuse([("keywords", hits(("a", "x.md", 9.0))), ("text", hits(("a", "x.md", 1.0), ("a", "y.md", .5)))])
    assert first.score == pytest.approx(2 / 61) and first.why == ("keywords #1", "text #1")
    assert second.score == pytest.approx(1 / 62) and second.why == ("text #2",)


def test_a_file_in_both_lists_beats_the_first_of_one() -> None:
    fused = fuse([("keywords", hits(("a", "k.md", 9), ("a", "both.md", 8))), ("text", hits(("a", "both.md", 3)))])
    assert fused[0].place.path == "both.md"


def test_a_hit_that_does_not_fuse_is_listed_after_all_that_do() -> None:
    weak = [Hit("a", "weak.md", 9.0, fuses=False)]
    fused = fuse([("keywords", weak), ("text", hits(("a", "t.md", 1), ("a", "u.md", .5)))])
    assert [item.place.path for item in fused] == ["t.md", "u.md", "weak.md"]
    assert fused[2].why == ("keywords #1",)


def test_equal_scores_are_ordered_by_base_then_path() -> None:
    fused = fuse([("a", hits(("z", "a.md", 1))), ("b", hits(("b", "z.md", 1))), ("c", hits(("b", "a.md", 1)))])
    assert [str(item.place) for item in fused] == ["b/a.md", "b/z.md", "z/a.md"]


def test_files_of_one_species_count_once() -> None:
    owner = elect(hits(("techie", "skills/a.md", 12), ("steve", "a.md", 6), ("steve", "b.md", 5), ("steve", "c.md", 4)),
                  {"techie", "steve"})
    assert owner is not None and (owner.name, owner.score, owner.margin, owner.contenders) == ("techie", 12, 2, 2)


def test_species_add_up() -> None:
    owner = elect(hits(("hoarder", "a.md", 12), ("steve", "a.md", 8), ("steve", "tools/b.md", 5)), {"hoarder", "steve"})
    assert owner is not None and (owner.name, owner.score, owner.files) == ("steve", 13, 2)


def test_a_base_that_is_no_agent_is_never_elected_and_a_tie_goes_to_the_name() -> None:
    assert elect(hits(("attic", "a.md", 9)), {"ana"}) is None
    owner = elect(hits(("bo", "a.md", 9), ("ana", "b.md", 9)), {"ana", "bo"})
    assert owner is not None and owner.name == "ana"


def test_an_owner_without_a_rival_has_an_infinite_margin() -> None:
    owner = elect(hits(("ana", "a.md", 1)), {"ana"})
    assert owner is not None and math.isinf(owner.margin)


@pytest.mark.parametrize(("score", "floor", "entries", "verdict"), [
    (9.0, 4.0, 1, "guess"), (4.0, 4.0, 2, "hit"), (3.99, 4.0, 2, "guess")])
def test_the_verdict_is_one_score_against_one_floor(score: float, floor: float, entries: int, verdict: str) -> None:
    assert decide(hits(("a", "x.md", score)), floor, entries) == verdict


def test_nothing_ranked_is_nothing_and_its_margin_is_zero() -> None:
    assert (decide([], 4.0, 9), margin([]), margin(hits(("a", "x", 3)))) == ("nothing", 0.0, 1.0)


@pytest.mark.parametrize(("a", "b", "value"), [
    ("publico", "public", 0.889), ("repositorio", "repository", 0.824), ("quando", "quant", 0.571),
    ("quanto", "quant", 0.857), ("ingestao", "ingest", 0.800), ("repositry", "repository", 0.667), ("zebras", "zebra", 0.857),
    ("deploi", "deploy", 0.75)])
def test_similarity_is_dice_over_trigrams(a: str, b: str, value: float) -> None:
    assert similarity(a, b) == pytest.approx(value, abs=5e-4) == similarity(b, a)


def test_lookalikes_of_a_vocabulary_are_those_of_a_full_comparison() -> None:
    spelled = ["repository", "ingest", "public", "aaaa", "ab", "zebra", "quant"]
    vocabulary: dict[str, list[int]] = {}
    for at, word in enumerate(spelled):
        for gram in set(grams(word)):
            vocabulary.setdefault(gram, []).append(at)
    asked = ["repositry", "publico", "aaaaa", "ab", "quando"]
    slow = {word: best for word in spelled if (best := max(similarity(word, other) for other in asked)) >= 0.65}
    assert lookalikes(asked, vocabulary, spelled) == pytest.approx(slow)


def test_keys_are_offered_best_first_each_once_and_at_most_eight() -> None:
    keys = ["zebra crossing", "Zebra", "Zebra", *(f"deploy {c}{c}" for c in "abcdefgh")]
    offered = best_keys(keys, {"zebra": 0.9, "deploy": 0.7})
    assert offered[:2] == ("Zebra", "zebra crossing") and len(offered) == 8
