"""Which keys a question can reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.keys import dead_keys, is_live
from kb.core.words import normalise


@given(st.text(alphabet="abAZ019 -.é中\u00a0theof", max_size=14))
def test_a_key_is_live_when_the_analyser_leaves_one_word_of_one_or_two_of_several(key: str) -> None:
    words = len(normalise(key))
    assert is_live(key) == (words > 1 or (words == 1 and len(key.split()) == 1))


@pytest.mark.parametrize("key", ["best practices", "long context", "the", "a", "", "o que e ITIL"])
def test_what_stop_words_leave_less_than_a_key_of_is_dead(key: str) -> None:
    assert dead_keys([key, "pump"]) == [key]


@given(st.lists(st.text(alphabet="abz9 -.é中theof", max_size=8), max_size=5))
def test_several_keys_are_judged_as_one_by_one(keys: list[str]) -> None:
    assert dead_keys(keys) == [key for key in keys if not is_live(key)]
