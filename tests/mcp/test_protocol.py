"""The protocol as pure functions: whatever a line holds, at most one sound reply comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.mcp.protocol import INVALID_PARAMS, RpcError, Server, answer_line


def _call(name: str, given: Mapping[str, Any]) -> str:
    if name == "refuse":
        raise RpcError(INVALID_PARAMS, "not like this")
    return f"{name}: {json.dumps(dict(given))}"


SERVER = Server("kb", "0", "how to use it", lambda: [{"name": "echo", "inputSchema": {"type": "object", "properties": {}}}], _call)
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


def told(line: bytes | Any) -> Any:
    raw = line if isinstance(line, bytes) else json.dumps(line).encode()
    reply = answer_line(SERVER, raw + b"\n")
    return None if reply is None else json.loads(reply)


def request(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params})


@pytest.mark.parametrize("line", [
    b"{", b"\xff\xfe", b'"\\ud800"', b"[" * 100_000, b'{"id": NaN}', b"\xef\xbb\xbf{}", b'{"a": 1} {"b": 2}', b'{"a": "\x01"}',
    b"9" * 5000,
], ids=["cut", "bytes", "half a pair", "deep", "nan", "bom", "two values", "raw control", "a number without end"])
def test_a_line_that_is_no_json_is_a_parse_error_with_advice(line: bytes) -> None:
    reply = told(line)
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert "one JSON message a line" in reply["error"]["message"]


@pytest.mark.parametrize(("message", "identity"), [
    (1, None), ("ping", None), (None, None), ([], None), ({}, None), ({"id": 4}, 4), ({"id": 4, "method": 5}, 4),
    ({"id": True, "method": "ping"}, None), ({"id": [1], "method": "ping"}, None), ({"id": {}, "method": "ping"}, None),
])
def test_what_is_no_request_is_an_invalid_request(message: Any, identity: Any) -> None:
    reply = told(message)
    assert (reply["id"], reply["error"]["code"]) == (identity, -32600)


def test_an_id_beyond_all_numbers_is_refused() -> None:
    assert told(b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}')["error"]["code"] == -32600


@pytest.mark.parametrize("message", [
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "no/such"},
    {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    [{"jsonrpc": "2.0", "method": "tools/list"}],
])
def test_notifications_and_responses_are_never_answered(message: Any) -> None:
    assert told(message) is None


def test_a_batch_is_answered_as_a_batch_without_its_notifications() -> None:
    replies = told([request("ping", id="a"), {"jsonrpc": "2.0", "method": "x"}, 7, request("tools/list", id=2)])
    assert [(reply["id"], "result" in reply) for reply in replies] == [("a", True), (None, False), (2, True)]


@pytest.mark.parametrize("params", [[], "x", 7])
def test_params_that_are_no_object_are_invalid(params: Any) -> None:
    assert told(request("tools/list", params))["error"]["code"] == -32602


@pytest.mark.parametrize("params", [{}, {"name": ""}, {"name": 5}, {"name": "echo", "arguments": []}, {"name": "refuse"}])
def test_a_bad_call_is_invalid_params(params: Any) -> None:
    assert told(request("tools/call", params))["error"]["code"] == -32602


def test_arguments_may_be_absent_or_null() -> None:
    for params in ({"name": "echo"}, {"name": "echo", "arguments": None}):
        assert told(request("tools/call", params))["result"]["content"] == [{"type": "text", "text": "echo: {}"}]


@pytest.mark.parametrize("version", ["2024-11-05", "1999-01-01", "2026-07-28", ""])
def test_initialize_echoes_a_version_and_names_the_oldest_one_where_there_is_none(version: str) -> None:
    assert told(request("initialize", {"protocolVersion": version}))["result"]["protocolVersion"] == (version or "2025-06-18")
    assert told(request("initialize"))["result"]["protocolVersion"] == "2025-06-18"


def test_a_request_in_the_new_envelope_gets_the_fields_that_its_revision_asks_for() -> None:
    listed = told(request("tools/list", MODERN))["result"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private") and listed["ttlMs"] == 0
    called = told(request("tools/call", {"name": "echo", **MODERN}))["result"]
    assert called["resultType"] == "complete" and "ttlMs" not in called
    assert "resultType" not in told(request("tools/list"))["result"]
    assert told(request("server/discover", MODERN))["error"]["code"] == -32601


def test_a_schema_that_is_no_json_is_an_error_and_not_the_end() -> None:
    server = SERVER._replace(tools=lambda: [{"name": "bad", "inputSchema": {"type": object}}])
    reply = json.loads(answer_line(server, json.dumps(request("tools/list", id=9)).encode()) or b"")
    assert (reply["id"], reply["error"]["code"]) == (9, -32603)


def test_separators_of_unicode_do_not_break_the_framing() -> None:
    raw = answer_line(SERVER, json.dumps(request("tools/call", {"name": "a\u2028b\u2029\u0085"})).encode())
    assert raw is not None and raw.isascii() and raw.count(b"\n") == 1 and len(raw.splitlines()) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["jsonrpc", "id", "method", "params", "name", "arguments", "result", "error", "_meta", "question"]) | st.text(max_size=5), inner,
        max_size=6), max_leaves=20)
methods = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "x", ""]) | json_values


@given(st.one_of(
    st.binary(max_size=200),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries({}, optional={"jsonrpc": json_values, "id": json_values, "method": methods, "params": json_values}).map(
        lambda value: json.dumps(value).encode()),
    st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=3)).map(
        lambda cut: (lambda raw: raw[:cut[0]] + cut[1] + raw[cut[0] + 1:])(json.dumps(request("tools/call", {"name": "echo"})).encode())),
))
def test_whatever_stands_on_a_line_is_answered_soundly_or_not_at_all(line: bytes) -> None:
    raw = answer_line(SERVER, line)
    if raw is None:
        return
    assert raw.endswith(b"\n") and raw.count(b"\n") == 1
    reply = json.loads(raw)
    for one in reply if isinstance(reply, list) else [reply]:
        assert one["jsonrpc"] == "2.0" and ("result" in one) != ("error" in one)
        if "error" in one:
            assert one["error"]["code"] in (-32700, -32600, -32601, -32602, -32603) and one["error"]["message"]
