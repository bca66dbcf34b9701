"""The official client, against both transports, in each of its modes."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Shell
from tests.mcp.own_loop import run

pytest.importorskip("mcp", reason="the serve extra is not installed")
MODES = ("auto", "legacy", "2026-07-28")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def port(fleet: Shell) -> Iterator[int]:
    """A server over HTTP."""
    number = free_port()
    process = subprocess.Popen([sys.executable, "-m", "kb", "serve", str(fleet.root), "--http", "--port", str(number)], cwd=fleet.root,
                               env=fleet.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", number), 1).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < until, "the server did not open"
            time.sleep(0.02)
    yield number
    process.terminate()
    process.wait(10)


async def converse(target: Any, mode: Any) -> None:
    from mcp import Client, MCPError

    async with Client(target, mode=mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed][:5] == ["kb_route", "kb_retrieve", "kb_remember", "kb_fleet", "kb_list"]
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in listed[:5])
        found = await client.call_tool("kb_route", {"question": "flush the pump água 中文 😀"})
        assert not found.is_error and "ada/knowledge/pump.md" in found.content[0].text and "😀" in found.content[0].text
        assert "FLEET: Orchard" in (await client.call_tool("kb_fleet", {})).content[0].text
        for arguments in ({}, {"question": "pump", "top": 0}):
            with pytest.raises(MCPError) as caught:
                await client.call_tool("kb_route", arguments)
            assert caught.value.error.code == -32602


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_converses_over_stdio(fleet: Shell, mode: str) -> None:
    from mcp import StdioServerParameters

    run(converse(StdioServerParameters(command=sys.executable, args=["-m", "kb", "serve", str(fleet.root)], env=fleet.env), mode))


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_converses_over_http(port: int, mode: str) -> None:
    run(converse(f"http://127.0.0.1:{port}/mcp", mode))


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Origin": "https://evil.example"},
                                     {"Host": "127.0.0.1:1"}])
def test_http_answers_no_other_host_and_no_foreign_page(port: int, headers: dict[str, str]) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}})
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    wire.request("POST", "/mcp", body, sent)
    answer = wire.getresponse()
    assert answer.status in (403, 421) and b"serverInfo" not in answer.read()
    wire.close()


def test_a_port_that_is_taken_is_a_clear_error_and_exit_1(fleet: Shell, port: int) -> None:
    run = fleet.kb("serve", fleet.root, "--http", "--port", port)
    assert (run.code, run.out) == (1, "") and str(port) in run.err and "--port" in run.err


def test_http_listens_on_the_loopback_address_only(port: int) -> None:
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), 2).close()
