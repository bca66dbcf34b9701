"""The gold file: what is a row, what is refused, and which place an answer means."""

from __future__ import annotations

import pytest

from kb.core.gold import parse_gold, place_of
from kb.core.values import Place


def test_rows_comments_blanks_and_line_ends() -> None:
    rows, error = parse_gold("# gold\r\n\r\n  where is it \ta/x.md |  b/y.md\r\nnobody knows\t-  \n #5 is no comment\ta/z.md\n")
    assert error is None
    assert [(row.line, row.question, row.answers) for row in rows] == [
        (3, "where is it", ("a/x.md", "b/y.md")), (4, "nobody knows", ()), (5, "#5 is no comment", ("a/z.md",))]


@pytest.mark.parametrize(("text", "line"), [
    ("no tab\n", 1), ("ok\ta/x.md\nquestion\t\n", 2), ("q\t | | \n", 1), ("q\t- | a/x.md\n", 1), ("\ta/x.md\n", 1),
    ("# only\n\n", 0), ("", 0)],
    ids=["no tab", "no answer", "only bars", "both", "no question", "comments", "empty"])
def test_a_row_that_says_nothing_certain_is_refused_by_its_line(text: str, line: int) -> None:
    rows, error = parse_gold(text)
    assert not rows and error is not None and error.line == line


@pytest.mark.parametrize(("answer", "place"), [
    ("ana/knowledge/x.md", Place("ana", "knowledge/x.md")), ("./ana/x.md", Place("ana", "x.md")),
    ("ana/./a/../x.md", Place("ana", "x.md")), ("ana/v1..v2.md", Place("ana", "v1..v2.md")),
    ("ana", None), ("ana/", None), ("/x.md", None), ("ana/../bo/x.md", None), ("ana/..", None)])
def test_an_answer_is_a_place_inside_its_base(answer: str, place: Place | None) -> None:
    assert place_of(answer) == place
