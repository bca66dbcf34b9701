"""The record of a session: events, whose they are, and the deposit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.session import Event, deposit, owners, parse_events, route_of, safe_id, session_of

EVENTS = st.lists(st.builds(Event, st.sampled_from(["refused", "routed", "conclusion"]), st.text(max_size=40)), max_size=8)


@given(EVENTS)
def test_a_record_gives_back_what_was_put_in_one_line_each(events):
    lines = [event.line() for event in events]
    assert all("\n" not in line and "\r" not in line and line.count("\t") <= 2 for line in lines)
    again = parse_events("".join(line + "\n" for line in lines))
    assert [e.line() for e in again] == [line for line in lines if line.split("\t")[1]]


@pytest.mark.parametrize("line", ["", "routed", "routed\t", "routed\t  ", "invented\tx", "refused\t\twords", "\trouted\tx"])
def test_lines_of_another_kind_are_passed_over(line):
    assert parse_events(f"routed\tada\n{line}\nrouted\tben\n") == [Event("routed", "ada"), Event("routed", "ben")]


def test_an_event_belongs_to_the_agent_before_it_else_to_the_next():
    events = parse_events("refused\tone\t\nrouted\tben\nrefused\ttwo\ta, b\nrouted\tada\nconclusion\tthree\n")
    assert owners(events, "eva") == ["ben", "ben", "ben", "ada", "ada"]
    assert owners([Event("refused", "x")], "eva") == ["eva"] and owners([Event("refused", "x")], None) == [None]
    assert events[2].words == ("a", "b")


def test_a_stay_of_any_length_is_one_stop_of_the_route():
    assert route_of([Event("routed", name) for name in ("ada", "Ada", "ben", "ada")]) == ["ada", "ben", "ada"]


@pytest.mark.parametrize(("session", "safe"), [("s1", "s1"), ("../../../../etc/passwd", "____________etc_passwd"),
                                               ("ação", "a__o"), (" a\tb ", "a_b"), ("A-z.0", "A-z_0")])
def test_a_session_id_is_a_file_name(session, safe):
    assert safe_id(session) == safe


def test_long_ids_stay_apart_and_short_enough_for_a_file():
    one, two = safe_id("x" * 300 + "1"), safe_id("x" * 300 + "2")
    assert one != two and len(one) == len(two) == 100


@given(st.text(max_size=300))
def test_a_safe_id_is_stable_and_holds_nothing_dangerous(session):
    safe = safe_id(session)
    assert safe_id(safe) == safe and len(safe) <= 100 and not set(safe) & set("./\\\0 ")


@given(st.text(min_size=1, max_size=40).filter(lambda s: s.strip()), EVENTS)
def test_a_deposit_names_its_session_and_has_no_key_line(session, events):
    kept = parse_events("".join(event.line() + "\n" for event in events))
    text = deposit(session, "2026-09-20", kept, ["ada"])
    assert session_of(text) == safe_id(session) and "\n**Search for" not in text
    assert text.endswith("ada\n") and text.startswith("---\nprovenance: agent\nstage: raw\n---\n\n# Session ")


def test_a_file_without_that_heading_is_no_deposit_of_a_session():
    assert session_of("# Notes\n\n# Session s1, 2026-09-20\n") is None and session_of("") is None
