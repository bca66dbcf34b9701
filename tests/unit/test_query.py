"""Questions: terms, aliases, and the runs in which phrases may match."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.core.query import Alias, parse_aliases, prepare


def test_terms_are_a_set_in_the_order_of_the_question() -> None:
    query = prepare("deploy the canary, then DEPLOY")
    assert query.words == ("deploy", "canary", "deploy") and query.terms == ("deploy", "canary")


def test_an_alias_adds_its_canonical_words_and_keeps_the_own_ones() -> None:
    query = prepare("meu anuncio tem atributos pessoais", [Alias("ana", "atributos pessoais", "personal attributes")])
    assert query.terms == ("anuncio", "atributos", "pessoais", "personal", "attributes")


def test_an_alias_fires_on_whole_words_side_by_side_only() -> None:
    aliases = [Alias("", "art cat", "x1"), Alias("", "art", "x2"), Alias("", "cat smart", "x3")]
    assert prepare("smart cat, cathedral art", aliases).terms == ("smart", "cat", "cathedral", "art", "x2")


def test_an_alias_does_not_fire_another() -> None:
    assert prepare("gancho", [Alias("", "gancho", "hook"), Alias("", "hook", "tackle")]).terms == ("gancho", "hook")


def test_a_phrase_is_never_found_across_the_junction_with_an_alias() -> None:
    query = prepare("night gancho", [Alias("", "gancho", "watch tower")])
    assert list(query.phrases(3)) == ["night gancho", "watch tower"]


def test_phrases_skip_runs_with_unknown_words() -> None:
    assert list(prepare("red green blue").phrases(3, known=["red", "green"])) == ["red green"]


def test_alias_lines_survive_comments_blanks_and_missing_sides() -> None:
    assert parse_aliases("# learned\ngancho = hook # why\n= x\ny =\nno line\n\na = b = c\n", "ana") == [
        Alias("ana", "gancho", "hook"), Alias("ana", "a", "b = c")]


@given(st.text(), st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), max_size=4))
def test_own_words_always_stay_and_terms_never_repeat(question: str, pairs: list[tuple[str, str]]) -> None:
    query = prepare(question, [Alias("", left, right) for left, right in pairs])
    assert set(query.words) <= set(query.terms) and len(set(query.terms)) == len(query.terms)


def test_ten_thousand_words_are_prepared_in_bounded_work() -> None:
    query = prepare(" ".join(f"word{i}" for i in range(10_000)), [Alias("", "word1 word2", "x y")] * 50)
    assert len(query.terms) == 10_000 and sum(1 for _ in query.phrases(4, known=["word5", "word6"])) == 1
