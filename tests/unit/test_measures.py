"""Measures against values computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.measures import auc, calibration, declining, ndcg_at, paired, recall_at, reciprocal_rank
from kb.core.triad import ABSTENTION, averages, tokens, triad

RANKED = ["a", "b", "c", "d"]


@pytest.mark.parametrize(("relevant", "k", "expected"), [
    ({"a": 1}, 1, 1.0), ({"b": 1}, 1, 0.0), ({"b": 1, "x": 1}, 2, 0.5), ({"a": 0}, 4, 0.0), ({}, 4, 0.0)])
def test_recall_is_the_share_of_the_relevant_that_was_found(relevant: dict[str, float], k: int, expected: float) -> None:
    assert recall_at(RANKED, relevant, k) == expected


@pytest.mark.parametrize(("relevant", "k", "expected"), [({"c": 1, "d": 1}, 10, 1 / 3), ({"d": 1}, 3, 0.0), ({}, 10, 0.0)])
def test_the_reciprocal_rank_is_that_of_the_first_right_file(relevant: dict[str, float], k: int, expected: float) -> None:
    assert reciprocal_rank(RANKED, relevant, k) == expected


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    # gains 3, 0, 2: 3 + 2/2 = 4; ideal 3, 2, 1: 3 + 2/log2(3) + 1/2
    assert ndcg_at(RANKED, {"a": 3, "c": 2, "x": 1}, 10) == pytest.approx(4 / (3.5 + 2 / math.log2(3)))
    assert ndcg_at(RANKED, {"a": 2, "b": 1}, 10) == 1.0
    assert ndcg_at(RANKED, {"d": 1}, 3) == 0.0
    assert ndcg_at([], {"a": 1}, 10) == 0.0


def test_declining_counts_what_was_declined_rightly() -> None:
    found = declining([(True, True), (True, False), (False, True), (False, False), (True, True)])
    assert found == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert declining([]) == (0, 0, 0)


def test_auc_counts_ties_half() -> None:
    assert auc([3, 2], [1, 2]) == pytest.approx(3.5 / 4)
    assert auc([1], []) == 0.5


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_auc_is_the_share_of_pairs_in_the_right_order(positive: list[int], negative: list[int]) -> None:
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    assert auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_the_calibration_table_holds_every_question_once() -> None:
    rows = [(0.0, False, True), (0.2, False, False), (1.0, True, False), (1.4, False, True), (99.0, True, False)]
    assert [(one.low, one.high, one.questions, one.right, one.should_decline) for one in calibration(rows)] == [
        (0, 0, 1, 0, 1), (0, 0.25, 1, 0, 0), (1, 1.5, 2, 1, 1), (5, math.inf, 1, 1, 0)]


def test_a_few_differences_are_tested_exactly() -> None:
    # five differences of one sign: 2 of 32 sign patterns are as extreme
    assert paired([0.0] * 5, [1.0] * 5).p == 2 / 32
    same = paired([0.3, 0.5], [0.3, 0.5])
    assert (same.p, same.difference, same.low, same.high) == (1.0, 0.0, 0.0, 0.0)


def test_many_differences_give_the_same_p_every_time_and_a_small_one_where_they_agree() -> None:
    first = [(i * 37 % 100) / 100 for i in range(80)]
    better = [value + 0.05 + (i % 7) / 100 for i, value in enumerate(first)]
    shuffled = [(i * 53 % 100) / 100 for i in range(80)]
    assert paired(first, better) == paired(first, better)
    assert paired(first, better).p < 0.001 and paired(first, better).low > 0
    assert paired(first, shuffled).p > 0.05


def test_the_triad_grades_words() -> None:
    passage = "Restore the snapshot before noon. Verify every table afterwards."
    assert triad("restore the snapshot quickly", passage, [passage]) == (1.0, 0.67, 0.5, 0.72)


def test_a_refusal_is_faithful_and_relevant_only_where_nothing_was_served() -> None:
    assert triad("anything", ABSTENTION, []) == (1, 1, 1, 1)
    assert triad("anything", ABSTENTION, ["Something was served here."]) == (1, 0, 0.5, 0.5)


def test_a_passage_that_says_not_found_is_no_refusal() -> None:
    passage = "Error 404 means that the page was not found on the server."
    assert triad("what means error 404", passage, [passage]).faithfulness == 1.0
    assert triad("what means error 404", passage, [passage]).relevance > 0.5


def test_words_of_the_triad_keep_accents_and_drop_stop_words_and_short_ones() -> None:
    assert tokens("The água at 5 pm, und Öl é") == ["água", "und", "öl"]
    assert triad("", "", []) == (1, 1, 0, 0.67)
    assert averages([]) == (0, 0, 0, 0)
