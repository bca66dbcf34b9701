"""What a prompt hook hands over, and the parts of a message."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.message import HookInput, decompose, parse_hook, unwrapped


def test_a_payload_gives_its_message_session_and_folder():
    text = json.dumps({"session_id": " s1 ", "prompt": "hello", "cwd": "/tmp/x", "hook_event_name": "X", "n": 1})
    assert parse_hook(text) == HookInput("hello", "s1", "/tmp/x")


@pytest.mark.parametrize(("text", "expected"), [
    ('{"hook_event_name": "SessionStart"}', HookInput("")),
    ('{"session_id": "  ", "prompt": 7}', HookInput("")),
    ("{ not json }", HookInput("{ not json }")),
    ('{"kind":"note","body":"hi"}', HookInput('{"kind":"note","body":"hi"}')),
    ('["prompt"]', HookInput('["prompt"]')),
    ('{"prompt": ' + "[" * 100_000, HookInput('{"prompt": ' + "[" * 100_000)),
    (" \n\t", HookInput(None)), ("", HookInput(None)),
    ('  {"prompt":"inner","session_id":"s"}', HookInput("inner", "s")),
    ('{"prompt": "half \\ud83d"}', HookInput("half ?")),
])
def test_anything_else_is_the_message_itself(text, expected):
    assert parse_hook(text) == expected


def test_verbatim_input_is_never_a_payload():
    assert parse_hook('{"prompt":"inner"}', verbatim=True) == HookInput('{"prompt":"inner"}')


@pytest.mark.parametrize(("message", "left"), [
    ("<system-reminder>a<task-notification>b</task-notification></system-reminder>", ""),
    ("<system-reminder>secret words</system-reminder>\nHow do I flush it?", "How do I flush it?"),
    ("How do I flush it?\n<system-reminder>x</system-reminder>", "How do I flush it?"),
    ("before <system-reminder> never closed, to the end", "before"),
    ("a <task-notification>x</task-notification> b", "a  b"),
    ("<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>left", "left"),
    ("talk about <system-reminders>", "talk about <system-reminders>"),
])
def test_what_machines_put_into_a_message_is_taken_out(message, left):
    assert unwrapped(message) == left


def test_a_thousand_nested_wrappings_take_no_time():
    assert unwrapped("<system-reminder>" * 20_000 + "</system-reminder>" * 20_000 + "x") == "x"


@pytest.mark.parametrize(("message", "parts"), [
    ("como compilar rust para webassembly e como precificar o aplicativo para lancamento",
     ["como compilar rust para webassembly", "como precificar o aplicativo para lancamento"]),
    ("how to optimize sqlite index? and what is our marketing strategy?",
     ["how to optimize sqlite index", "what is our marketing strategy"]),
    ("como funciona o borrow checker", ["como funciona o borrow checker"]),
    ("How to flush a pump AND HOW to write letters", ["How to flush a pump", "AND HOW to write letters"]),
    ("İİİ bir soru var AND HOW do İ write it", ["İİİ bir soru var", "AND HOW do İ write it"]),
    ("ok? no!", ["ok? no!"]),
    ("- flush the pump;\n- (sow the beans).", ["flush the pump", "sow the beans"]),
    ("   ", []),
])
def test_a_compound_message_falls_into_its_questions(message, parts):
    assert decompose(message) == parts


@given(st.text(max_size=200))
def test_every_part_is_in_the_message_and_there_is_always_one(message):
    parts = decompose(message)
    assert bool(parts) == bool(message.strip())
    assert all(part in message for part in parts)


@given(st.text(max_size=200))
def test_no_input_is_too_strange_to_read(text):
    hook = parse_hook(text)
    assert hook.prompt is None or isinstance(unwrapped(hook.prompt), str)
