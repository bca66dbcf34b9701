"""The memory of decisions survives whatever a model calls its notes, and whatever a person does to the file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.core.counted import field, parse, render
from kb.core.decided import DECIDED, Decision, deposit_digest

_FIELD = st.text(min_size=1).filter(lambda text: bool(field(text)))
_ROWS = st.builds(Decision, st.text("0123456789abcdef", min_size=32, max_size=32), _FIELD, _FIELD,
                  st.sampled_from(["written", "refused", "nothing", "done"]), st.just("2026-09-20"), _FIELD)


@given(st.lists(_ROWS))
def test_every_decision_is_read_back_flat(rows):
    log = parse(DECIDED, "")._replace(rows=tuple(rows))
    again = parse(DECIDED, render(DECIDED, log))
    wanted = {(row.digest, field(row.slug)): row.outcome for row in rows}
    assert {(row.digest, row.slug): row.outcome for row in again.rows} == wanted and not again.strays


@given(st.text(), st.lists(_ROWS, max_size=3))
def test_what_a_person_left_in_the_file_stays_in_it(text, rows):
    log = parse(DECIDED, text)
    once = render(DECIDED, log._replace(rows=(*log.rows, *rows)))
    assert render(DECIDED, parse(DECIDED, once)) == once
    assert all(line.text in once for line in log.strays)


@given(st.text(), st.text(), st.text())
def test_a_deposit_is_known_by_its_agent_and_its_text(agent, text, other):
    assert deposit_digest(agent, text) == deposit_digest(agent, text)
    if text.encode("utf-8", "replace") != other.encode("utf-8", "replace"):
        assert deposit_digest("ada", text) != deposit_digest("ada", other)
    assert deposit_digest("Ada", text) == deposit_digest("ada", text) != deposit_digest("ben", text)
