"""The wire itself: speed of the first answer, endings, hostile lines, memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tests.conftest import Shell, note
from tests.mcp.wire import Peer

Serve = Callable[..., Peer]


def test_the_end_of_stdin_is_a_quiet_exit_0_and_diagnostics_still_reach_stderr(serve: Serve) -> None:
    peer = serve()
    assert peer.ask("ping")["result"] == {}
    assert peer.stop() == 0 and peer.lines.empty()
    assert "Ready on stdio" in peer.log.read_text()


def test_a_last_line_without_its_end_is_answered(fleet: Shell) -> None:
    run = fleet.kb("serve", fleet.root, stdin='{"jsonrpc":"2.0","id":1,"method":"ping"}').ok()
    assert json.loads(run.out) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_reader_that_goes_away_ends_the_server_without_a_word(fleet: Shell) -> None:
    process = subprocess.Popen([sys.executable, "-m", "kb", "serve", str(fleet.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=fleet.root, env=fleet.env)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.wait(20) == 1
    told = process.stderr.read().decode()
    assert "Traceback" not in told and "rokenPipe" not in told
    process.stderr.close()
    process.stdin.close()


def test_bytes_that_are_no_text_do_not_end_the_loop(serve: Serve) -> None:
    peer = serve()
    for line in (b"\xff\xfe", b"\x00", b"[" * 50_000, b'{"id": "' + b"a" * 3_000_000 + b'", "method": "ping"}'):
        peer.send(line)
    codes = [peer.reply().get("error", {}).get("code") for _ in range(4)]
    assert codes == [-32700, -32700, -32700, None]
    assert peer.ask("ping", id="alive")["id"] == "alive"


def test_a_line_without_end_is_refused_and_the_next_one_is_answered(serve: Serve) -> None:
    peer = serve()
    peer.send(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 17_000_000 + b'"}')
    assert peer.reply()["error"]["code"] == -32700
    assert peer.ask("ping", id=2)["id"] == 2


def test_line_ends_of_windows_and_blank_lines_are_fine(serve: Serve) -> None:
    peer = serve()
    peer.send(b"\r\n   \r\n" + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r')
    assert peer.reply()["id"] == 1


def test_a_fleet_that_cannot_be_opened_is_exit_1_and_nothing_on_the_wire(sh: Shell) -> None:
    run = sh.kb("serve", sh.root / "nowhere")
    assert (run.code, run.out) == (1, "") and "nowhere" in run.err


@pytest.mark.parametrize("words", [("--port", "4000"), ("--http", "--port", "0"), ("--top", "0"), ("--port", "1", "--port", "2", "--http")])
def test_wrong_options_are_exit_2(fleet: Shell, words: tuple[str, ...]) -> None:
    run = fleet.kb("serve", fleet.root, *words)
    assert (run.code, run.out) == (2, "")


def test_initialize_is_answered_before_any_note_is_read(sh: Shell, serve: Serve) -> None:
    sh.write("fleet.txt", "name = Big\n")
    sh.write("big/agent.txt", "role = holds much\n")
    sh.write("big/MAP.md", "# Big\n")
    for number in range(3000):
        sh.write(f"big/knowledge/n{number}.md", note(f"Note {number}", f"subject {number}", body="word " * 200))
    peer = serve(sh.root / "big")
    peer.ask("ping")  # the process is up: what counts is how long initialize itself takes
    start = time.perf_counter()
    assert peer.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})["result"]["serverInfo"]["name"] == "kb"
    assert time.perf_counter() - start < 0.1


def test_hundreds_of_calls_leave_memory_where_it_was(fleet: Shell, serve: Serve) -> None:
    fleet.kb("index", fleet.root).ok()
    peer = serve()

    def burst(calls: int) -> None:
        for number in range(calls):
            peer.text("kb_route" if number % 2 else "kb_retrieve", question=f"flush the pump {number % 7}")

    burst(100)
    before = peer.memory()
    burst(500)
    assert peer.memory() - before < 8_000_000


def test_a_miss_asked_twice_is_counted_twice(fleet: Shell, serve: Serve) -> None:
    peer = serve()
    peer.text("kb_route", question="zonk")
    peer.text("kb_retrieve", question="zonk")
    assert "2    2026-09-20 2026-09-20 zonk" in fleet.read("kb-misses.txt")
