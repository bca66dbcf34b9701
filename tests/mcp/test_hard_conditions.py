"""Servers under what other programs do to them: tools that end the process, pipes that do not wait, a clock that is none."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tests.conftest import Shell
from tests.mcp.wire import WAIT, Peer
from tests.plugins.strangers import install

Serve = Callable[..., Peer]

ENDERS = '''
from kb.api import Tool, hookimpl

class Odd(BaseException):
    pass

def raising(error):
    def run(app, given):
        raise error
    return run

@hookimpl
def kb_tools():
    errors = {"ends": SystemExit("\\x1b[2Jbye"), "ends_with_0": SystemExit(0), "odd": Odd("odd"), "leaves": GeneratorExit(),
              "breaks": RuntimeError("no")}
    return [Tool(f"x_{name}", name, {"type": "object"}, raising(error)) for name, error in errors.items()]
'''
TOOLS = ("x_ends", "x_ends_with_0", "x_odd", "x_leaves", "x_breaks")


def test_a_tool_that_ends_the_process_is_an_internal_error_and_the_server_goes_on(fleet: Shell, serve: Serve) -> None:
    install(fleet, "stranger", {"enders": ENDERS}, {"z-enders": "enders"})
    peer = serve()
    for name in TOOLS:
        assert peer.call(name)["error"]["code"] == -32603, name
    assert "pump.md" in peer.text("kb_route", question="pump")
    assert peer.stop() == 0
    log = peer.log.read_text()
    assert "\x1b" not in log and "x_ends failed: SystemExit" in log


def test_over_http_too(fleet: Shell) -> None:
    pytest.importorskip("mcp", reason="the serve extra is not installed")
    install(fleet, "stranger", {"enders": ENDERS}, {"z-enders": "enders"})
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-m", "kb", "serve", str(fleet.root), "--http", "--port", str(port)], cwd=fleet.root,
                               env=fleet.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        while b"Ready" not in (line := process.stderr.readline()):
            assert line, "the server did not open"
        asked = [*((name, {}) for name in TOOLS), ("kb_route", {"question": "pump"})]
        told = [_call(port, name, arguments) for name, arguments in asked]
        assert ["-32603" in body for body in told] == [True] * len(TOOLS) + [False]
        assert "pump.md" in told[-1] and process.poll() is None
    finally:
        process.terminate()
        process.communicate(timeout=10)


def _call(port: int, tool: str, arguments: dict[str, object]) -> str:
    """The body of one call, made without a session."""
    until = time.monotonic() + WAIT
    while True:
        wire = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}}}
        try:
            wire.request("POST", "/mcp", json.dumps(message), {
                "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
                "Mcp-Name": tool, "MCP-Protocol-Version": "2026-07-28"})
            return wire.getresponse().read().decode()
        except ConnectionRefusedError:
            assert time.monotonic() < until
        finally:
            wire.close()


def test_a_tool_that_is_described_wrongly_does_not_end_the_server(fleet: Shell, serve: Serve) -> None:
    source = ENDERS.replace("return [Tool(", "return [Tool('x_bad', 'bad', 7, len)] + [Tool(")
    install(fleet, "stranger", {"enders": source}, {"z-enders": "enders"})
    peer = serve()
    assert peer.ask("tools/list")["error"]["code"] == -32603
    assert peer.ask("ping")["result"] == {}


def test_an_integral_number_is_an_integer_however_it_is_written(serve: Serve) -> None:
    peer = serve()
    assert "pump.md" in peer.text("kb_route", question="pump", top=2.0)
    assert "pump.md" in peer.text("kb_list", base="ada", limit=50.0)
    assert peer.call("kb_route", question="pump", top=2.5)["error"]["code"] == -32602
    assert peer.call("kb_route", question="pump", top=0.0)["error"]["code"] == -32602


def test_a_clock_that_is_none_is_refused_at_the_start(fleet: Shell) -> None:
    for words in (("serve",), ("serve", "--http"), ("ui",)):
        run = fleet.kb(*words, env={"KB_NOW": "garbage"})
        assert (run.code, run.out) == (2, "") and "KB_NOW is not an ISO 8601 time: garbage" in run.err


@pytest.mark.parametrize("verb", ["serve", "write ada x --keys pump --summary s"])
def test_a_stdin_that_is_closed_is_told_in_one_line_where_it_is_read(fleet: Shell, verb: str) -> None:
    run = fleet.run("sh", "-c", f"exec '{sys.executable}' -m kb {verb} <&-")
    assert run.code == 1 and run.err.startswith("kb: ") and "stdin" in run.err and run.err.count("\n") == 1


def test_a_pipe_to_the_server_that_does_not_wait_is_waited_for(fleet: Shell) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    process = subprocess.Popen([sys.executable, "-m", "kb", "serve", str(fleet.root)], stdin=reading, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=fleet.root, env=fleet.env)
    os.close(reading)
    assert process.stderr is not None and process.stdout is not None
    while b"Ready" not in (line := process.stderr.readline()):
        assert line, "it took an empty pipe for the end"
    os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    os.close(writing)
    process.communicate(timeout=WAIT)
    assert process.returncode == 0


@pytest.mark.parametrize("words", ["serve", "list --json"])
def test_an_output_that_does_not_wait_gets_all_of_it(fleet: Shell, words: str) -> None:
    """The output is larger than a pipe, and nobody reads before the writer had to wait."""
    for number in range(900):
        fleet.write(f"fleet/ada/knowledge/n{number}.md", f"# Note {number} {'of many ' * 12}\n\n**Search for:** pump {number}\n")
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "kb_list", "arguments": {"limit": 1000}}}
    process = subprocess.Popen([sys.executable, "-m", "kb", *words.split()], stdin=subprocess.PIPE, stdout=writing,
                               stderr=subprocess.PIPE, cwd=fleet.root, env=fleet.env)
    os.close(writing)
    assert process.stdin is not None
    process.stdin.write(json.dumps(call).encode() + b"\n")
    process.stdin.close()
    process.stdin = None
    until = time.monotonic() + WAIT
    while not _is_full(reading) and process.poll() is None:
        assert time.monotonic() < until
    with open(reading, "rb") as pipe:
        whole = pipe.read()
    _, told = process.communicate(timeout=WAIT)
    assert (process.returncode, b"bug" in told) == (0, False), told
    assert len(whole) > 65536 and json.loads(whole)


def _is_full(pipe: int) -> bool:
    import fcntl
    import struct
    import termios

    waiting = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
    return bool(waiting >= 65536)
