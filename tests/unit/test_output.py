"""JSON and terminal text as every surface prints them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.display import printable
from kb.core.jsontext import dumps
from kb.core.values import Place


@pytest.mark.parametrize(("value", "text"), [
    (1.0, "1"), (0.5714285, "0.571429"), (0.0000015, "2e-06"), (2.5e-7, "0"), (math.inf, "null"), (math.nan, "null"),
    (-0.0, "0"), (12345678.123, "12345678.123"), ("caf\xe9 备", '"caf\xe9 备"'), ("\ud800", '"\\ud800"'), ("\x00\n", '"\\u0000\\n"'),
    (Place("a", "b.md"), '{"base": "a", "path": "b.md"}'), ((1, (2,)), "[1, [2]]"), (None, "null"), (True, "true")])
def test_values_are_written_as_the_page_says(value: Any, text: str) -> None:
    assert dumps(value) == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_what_is_written_is_one_line_that_reads_back(value: Any) -> None:
    text = dumps(value)
    assert "\n" not in text and json.loads(text) == value


@pytest.mark.parametrize(("text", "shown"), [
    ("\x1b[31mred\x1b]0;t\x07", "\\x1b[31mred\\x1b]0;t\\x07"), ("a\u202eb", "a\\u202eb"), ("\x9b1m", "\\x9b1m"), ("\ud800", "\\ud800"),
    ("a\tb\nc", "a\\x09b\\x0ac"), ("naïve 备 🐘", "naïve 备 🐘")])
def test_control_characters_are_shown_and_never_obeyed(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_may_keep_their_ends() -> None:
    assert printable("a\nb\tc\r", lines=True) == "a\nb\tc\\x0d"
