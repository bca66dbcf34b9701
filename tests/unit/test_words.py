"""The analyser: what is a word, what is folded, what is dropped."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.words import STOP_WORDS, analyse, fold, normalise


def test_the_stop_list_holds_289_words() -> None:
    assert len(STOP_WORDS) == 289


@pytest.mark.parametrize(("text", "words"), [
    ("text-embedding-3-small", ["text", "embedding"]),
    ("q4_K_M", ["q4"]),
    ("5G", ["5g"]),
    ("let's", []),
    ("don't", ["don"]),
    ("don\u2019t", ["don"]),
    ("C++ and C#", []),
    ("std::vector", ["std", "vector"]),
    ('"1.0.21"', ["21"]),
    ("Привет ПРИВЕТ", ["привет", "привет"]),
    ("Straße ﬁsh ＡＢＣ", ["strasse", "fish", "abc"]),
    ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
    ("如何备份数据", ["如何", "何备", "备份", "份数", "数据"]),
    ("重跑gen-itgc后", ["重跑", "gen", "itgc", "后"]),
    ("한국어", ["한국", "국어"]),
    ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ("🐘", []),
    ("a\x00b caf\xe9", ["cafe"]),
])
def test_text_becomes_words(text: str, words: list[str]) -> None:
    assert normalise(text) == words


def test_marks_are_dropped_after_latin_greek_and_cyrillic_only() -> None:
    assert fold("é ἄ й") == "e α и"
    assert normalise("か が") == ["か", "が"]
    assert normalise("กา ก้า") == ["กา", "ก้า"]


@given(st.text())
def test_composed_and_decomposed_text_have_the_same_words(text: str) -> None:
    assert analyse(unicodedata.normalize("NFD", text)) == analyse(unicodedata.normalize("NFC", text))


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert analyse(" ".join(analyse(text))) == analyse(" ".join(analyse(" ".join(analyse(text)))))


@given(st.text())
def test_no_word_holds_a_blank_or_a_quote(text: str) -> None:
    assert all(word and not set(word) & set(" \t\n\"'\x00*():^") for word in analyse(text))
