"""JSON-RPC 2.0 and the Model Context Protocol as pure functions: a message in, a message or nothing out.

Written by hand because the official package cannot meet the reference: it refuses tools/list before initialize, rewrites
protocol versions that it does not know, and takes longer to import than a question takes to answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
OLDEST_DEPLOYED = "2025-06-18"  # what a client that names no version gets: a newer one it may not know
_ENVELOPE = "io.modelcontextprotocol/protocolVersion"
_LONGEST_NAME = 80  # characters of a caller's method or version that are repeated
_CACHEABLE = frozenset({"tools/list"})


class RpcError(Exception):
    """An error reply: a code and one message that says how to recover."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Server(NamedTuple):
    """What answers the protocol's methods. `call` takes (tool name, arguments) and may raise RpcError."""

    name: str
    version: str
    instructions: str
    tools: Callable[[], list[dict[str, Any]]]
    call: Callable[[str, Mapping[str, Any]], str]


def answer_line(server: Server, line: bytes) -> bytes | None:
    """The reply to one line, ending in a newline, or None when it deserves none."""
    try:
        message = parse(line)
    except ValueError as error:
        return refuse(str(error))
    reply = answer(server, message)
    if reply is None:
        return None
    try:
        return encode(reply)
    except (TypeError, ValueError):  # a plugin's schema or annotation that is no JSON
        identity = reply.get("id") if isinstance(reply, dict) else None
        return encode(_error(identity, INTERNAL_ERROR, "the answer is no JSON; a plugin's tool is at fault: see kb plugins"))


def refuse(why: str) -> bytes:
    """The reply to a line that is no message."""
    return encode(_error(None, PARSE_ERROR, f"parse error: {why}; send one JSON message a line, in UTF-8"))


def parse(line: bytes) -> Any:
    """The JSON value of a line. Raises ValueError for bad UTF-8, bad JSON, lone surrogates, and nesting without end."""
    try:
        text = line.decode("utf-8")
        value = json.loads(text, parse_constant=_no_constant)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("the line is not UTF-8") from None
    except UnicodeEncodeError:
        raise ValueError("a string holds half of a surrogate pair") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(str(error)) from None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def encode(reply: Any) -> bytes:
    """One line of ASCII JSON: no raw control or line-separator character can break the framing."""
    return json.dumps(reply, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def answer(server: Server, message: Any) -> Any:
    """The reply to a message or a batch; None for notifications and responses."""
    if isinstance(message, list):
        if not message:
            return _error(None, INVALID_REQUEST, "an empty batch asks for nothing")
        replies = [reply for item in message if (reply := _answer_one(server, item)) is not None]
        return replies or None
    return _answer_one(server, message)


def _answer_one(server: Server, message: Any) -> dict[str, Any] | None:
    if not isinstance(message, dict):
        return _error(None, INVALID_REQUEST, "a message is a JSON object")
    method, identity = message.get("method"), message.get("id")
    if "method" not in message and ("result" in message or "error" in message):
        return None  # a response: nothing was asked of us
    if not _is_id(identity):
        return _error(None, INVALID_REQUEST, "an id is a string or a number")
    if not isinstance(method, str):
        return _error(identity, INVALID_REQUEST, "the message has no method")
    if "id" not in message:
        return None
    try:
        params = message.get("params", {})
        if not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, "params must be an object")
        result = _result(server, method, params)
    except RpcError as error:
        return _error(identity, error.code, error.message)
    if _is_modern(params):
        result = {**result, "resultType": "complete", **({"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {})}
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def _result(server: Server, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params.get("protocolVersion")
        named = isinstance(version, str) and 0 < len(version) <= _LONGEST_NAME
        return {"protocolVersion": version if named else OLDEST_DEPLOYED,
                "capabilities": {"tools": {}}, "serverInfo": {"name": server.name, "version": server.version},
                "instructions": server.instructions}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": server.tools()}
    if method == "tools/call":
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not name:
            raise RpcError(INVALID_PARAMS, "tools/call needs a name; tools/list names the tools")
        if arguments is not None and not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        return {"content": [{"type": "text", "text": server.call(name, arguments or {})}], "isError": False}
    raise RpcError(METHOD_NOT_FOUND, f"unknown method: {method[:_LONGEST_NAME]}; "
                   "this server answers initialize, ping, tools/list and tools/call")


def _is_id(identity: Any) -> bool:
    if isinstance(identity, float):
        return math.isfinite(identity)
    return identity is None or (isinstance(identity, str | int) and not isinstance(identity, bool))


def _is_modern(params: Mapping[str, Any]) -> bool:
    """Whether the request carries the envelope of the 2026-07-28 revision."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and isinstance(meta.get(_ENVELOPE), str)


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
