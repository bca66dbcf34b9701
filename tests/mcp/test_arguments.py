"""Arguments against a schema: what kb says is allowed is what a full validator allows, for the words that kb checks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kb.mcp.arguments import check_arguments
from kb.mcp.protocol import RpcError
from kb.specs import Tool

RULES: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "string", "maxLength": 3}, {"type": "string", "minLength": 2, "maxLength": 3}, {"type": "integer"},
    {"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 2}, {"type": "number", "minimum": 0, "maximum": 2.5},
    {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, {"type": "boolean"}, {"type": "null"}, {"type": ["string", "null"]},
    {"enum": ["a", 1, None]}, {"type": "string", "enum": ["a", "b"]}, {"const": True}, {"type": "string", "pattern": "^a+$"},
    {"type": "array"}, {"type": "array", "items": {"type": "string", "maxLength": 2}}, {"type": "array", "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, {"type": "object"}, {},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
]
_ONE = st.one_of(st.none(), st.booleans(), st.integers(-2, 4), st.sampled_from([0.5, 2.0, 2.5, 3.5]),
                 st.sampled_from(["", "a", "aa", "b", "abcd"]))
_VALUES = st.recursive(_ONE, lambda inner: st.one_of(st.lists(inner, max_size=3),
                                                              st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
                       max_leaves=5)


def refusal(rule: dict[str, Any], value: Any) -> str:
    """What kb says about one argument `n`, or "" when it is allowed."""
    try:
        check_arguments(Tool("x", "y", {"type": "object", "properties": {"n": rule}}, lambda app, given: ""), {"n": value})
    except RpcError as error:
        assert error.code == -32602
        return error.message
    return ""


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(RULES), _VALUES)
def test_what_is_refused_is_what_a_full_validator_refuses(rule: dict[str, Any], value: Any) -> None:
    assert bool(refusal(rule, value)) == (not Draft202012Validator(rule).is_valid(value))


@pytest.mark.parametrize(("rule", "value", "told"), [
    ({"type": "string", "maxLength": 3}, "abcd", "n must be at most 3 characters long, and it has 4"),
    ({"type": "string", "minLength": 2}, "a", "n must be at least 2 characters long, and it has 1"),
    ({"type": "integer", "minimum": 1, "maximum": 9}, 0, "n must be from 1 to 9"), ({"type": "integer"}, True, "n must be a whole number"),
    ({"type": "integer"}, 2.5, "n must be a whole number"), ({"type": "string", "enum": ["a", "b"]}, "c", "n must be one of: a, b"),
    ({"type": "string", "pattern": "^a+$"}, "b", "n must match ^a+$"),
    ({"type": "array", "maxItems": 1}, [1, 2], "n must be at most 1 items"),
    ({"type": "array", "items": {"type": "string"}}, ["a", 1], "n item 2 must be a string"),
    ({"type": ["string", "null"]}, 1, "n must be a string or must be null"),
])
def test_a_refusal_names_the_argument_and_what_is_right(rule: dict[str, Any], value: Any, told: str) -> None:
    assert refusal(rule, value).startswith(told)


def test_a_tool_gets_an_int_for_every_integer_at_any_depth_and_numbers_as_they_were() -> None:
    rule = {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": ["integer", "null"]}, "f": {"type": "number"},
                                             "list": {"type": "array", "items": {"type": "integer"}}, "any": True}}
    given = {"o": {"n": 2.0, "m": 3.0, "f": 4.0, "list": [1.0, 2], "any": 5.0}}
    tool = Tool("x", "y", {"type": "object", "properties": {"o": rule}}, lambda app, given: "")
    assert json.dumps(check_arguments(tool, given)) == '{"o": {"n": 2, "m": 3, "f": 4.0, "list": [1, 2], "any": 5.0}}'
