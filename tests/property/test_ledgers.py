"""Counted logs and handoff records: what goes in comes out, whatever the fields hold, and nothing is lost on a rewrite."""

from __future__ import annotations

import re
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.core import handoff
from kb.core.counted import LogFormat, field, parse, render
from kb.core.handoff import Handoff
from kb.core.logrows import (
    ABSTENTIONS,
    ALIAS_REJECTIONS,
    MISROUTES,
    MISSES,
    REJECTIONS,
    Abstention,
    AliasRejection,
    LoggedMiss,
    Misroute,
    Rejection,
)
from kb.core.rounds import ROUNDS, RoundRow

quick = settings(max_examples=50, deadline=None)
# Everything that has ever split a line, ended a row, opened a comment or broken an encoder.
hostile = st.text(st.one_of(st.characters(), st.sampled_from("\t\r\n\x0b\x0c\x1c\x85\u2028\u2029#|,:=-\\ \ud800\udcff")),
                  min_size=1, max_size=30)
texts = hostile.filter(lambda text: field(text) != "")
names = texts.map(str.lower).filter(lambda text: field(text) != "")
days = st.dates().map(str)
counts = st.integers(1, 10**12)


@st.composite
def misses(draw: st.DrawFn) -> LoggedMiss:
    words = draw(st.lists(hostile, max_size=3))
    return LoggedMiss(draw(counts), draw(days), draw(days), draw(texts), tuple(words))


FORMATS = {
    "misses": (MISSES, misses()),
    "misroutes": (MISROUTES, st.builds(Misroute, counts, days, days, names, names, texts, hostile)),
    "abstentions": (ABSTENTIONS, st.builds(Abstention, counts, days, days, texts, texts, texts, texts, hostile, hostile)),
    "rejections": (REJECTIONS, st.builds(Rejection, counts, days, days, texts, texts, texts, hostile)),
    "alias rejections": (ALIAS_REJECTIONS, st.builds(AliasRejection, counts, days, days, texts, hostile)),
    "rounds": (ROUNDS, st.builds(RoundRow, texts.filter(lambda text: not field(text).startswith("./")), names, names, st.just(0),
                                 st.sampled_from(["asked", "nothing"]), days, days, st.booleans(), hostile, hostile)),
}


@pytest.mark.parametrize("name", FORMATS)
@quick
@given(data=st.data())
def test_a_log_of_any_rows_reads_back_as_the_same_rows_and_settles_after_one_rewrite(name: str, data: st.DataObject) -> None:
    form: LogFormat[object]
    form, rows = FORMATS[name]  # type: ignore[assignment]
    written = data.draw(st.lists(rows, max_size=6))
    once = render(form, parse(form, "")._replace(rows=tuple(written)))
    read = parse(form, once)
    assert not read.strays
    keys = [form.key(row) for row in read.rows]
    assert form.merge is None or len(keys) == len(set(keys))
    assert sum(getattr(row, "times", 1) for row in read.rows) == sum(getattr(row, "times", 1) for row in written)
    assert render(form, read) == once == once.encode("utf-8").decode("utf-8")


@pytest.mark.parametrize("name", FORMATS)
@quick
@given(text=st.text(max_size=300), data=st.data())
def test_no_line_of_any_file_is_lost_by_a_rewrite(name: str, text: str, data: st.DataObject) -> None:
    form: LogFormat[object]
    form, rows = FORMATS[name]  # type: ignore[assignment]
    text = text.encode("utf-8", "replace").decode()
    log = parse(form, text)
    again = render(form, log._replace(rows=(*log.rows, data.draw(rows))))
    kept = [line.removesuffix("\r") for line in again.split("\n")]  # a file keeps its own line ends
    for stray in log.strays:
        assert stray.text in kept
        assert text.split("\n")[stray.number - 1].removesuffix("\r") == stray.text
    assert [line.text for line in parse(form, again).strays] == [line.text for line in log.strays]
    assert all(line in kept for line in log.top)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("misses", "rounds")])
@quick
@given(data=st.data())
def test_a_row_is_one_line_of_as_many_fields_as_its_log_has(name: str, data: st.DataObject) -> None:
    form, rows = FORMATS[name]
    row = data.draw(rows)
    line = form.line(row)  # type: ignore[arg-type]
    assert "\n" not in line and "\r" not in line and line.count("\t") == len(row) - 1
    shown = line.replace("\t", "")
    assert not any(category(sign) in ("Cc", "Zl", "Zp") for sign in shown), "who shows a log on a terminal does not obey it"


@quick
@given(st.builds(Handoff, session=texts.map(field), agent=texts.map(field), task=hostile,
                 status=st.sampled_from(["pending", "claimed", "completed"]), updated_at=days,
                 blockers=st.just(()), next_steps=st.just(()), claimed_by=st.one_of(st.none(), texts.map(field)),
                 decisions=st.lists(hostile.filter(lambda text: handoff.cleaned(text) != ""), max_size=3).map(tuple),
                 references=st.lists(hostile.filter(lambda text: handoff.cleaned(text) != ""), max_size=2).map(tuple)))
def test_a_handoff_record_reads_back_as_it_was_saved(record: Handoff) -> None:
    record = record._replace(
        task=handoff.cleaned(record.task), decisions=tuple(map(handoff.cleaned, record.decisions)),
        references=tuple(map(handoff.cleaned, record.references)))
    assert handoff.parse(handoff.render(record)) == record


@quick
@given(st.text(max_size=300))
def test_any_file_is_a_handoff_record_or_none(text: str) -> None:
    found = handoff.parse(text)
    assert found is None or (found.session and found.status in ("pending", "claimed", "completed"))


@quick
@given(st.text(alphabet="- \n#\\ab", max_size=60))
def test_a_task_that_looks_like_markdown_survives(task: str) -> None:
    record = Handoff("s", "a", handoff.cleaned(task), "pending", "2026-01-01")
    again = handoff.parse(handoff.render(record))
    assert again is not None and again.task == record.task


def test_a_repeated_question_keeps_its_first_spelling_and_takes_the_newest_vocabulary() -> None:
    rows = (LoggedMiss(1, "2026-01-02", "2026-01-02", "Was  ist das", ("a",)),
            LoggedMiss(1, "2026-01-01", "2026-01-05", "WAS  IST DAS", ("b", "c")))
    text = render(MISSES, parse(MISSES, "")._replace(rows=rows))
    assert re.findall("^2 .*|^ +looked.*", text, re.M) == ["2    2026-01-01 2026-01-05 Was  ist das", "     looked like: b, c"]
