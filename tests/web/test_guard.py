"""Who may talk to the reading room, and what every answer carries."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.web.guard import refusal
from tests.conftest import Shell
from tests.web.rooms import OpenRoom

Rooms = Callable[..., OpenRoom]
OURS = [(b"host", b"127.0.0.1:4114")]


@pytest.mark.parametrize("headers", [
    [], [(b"host", b"evil.example")], [(b"host", b"127.0.0.1")],
    [(b"host", b"127.0.0.1:4115")], [(b"host", b"127.0.0.1.evil.example:4114")],
    [(b"host", b"[::1]:4114")], [(b"host", b"127.0.0.1:4114"), (b"host", b"evil.example")], [(b"host", b"user@127.0.0.1:4114")],
    [*OURS, (b"origin", b"null")], [*OURS, (b"origin", b"https://127.0.0.1:4114")], [*OURS, (b"origin", b"http://127.0.0.1:4114.evil.example")],
    [*OURS, (b"origin", b"http://localhost")], [*OURS, (b"sec-fetch-site", b"cross-site")], [*OURS, (b"sec-fetch-site", b"same-site")],
    [*OURS, (b"origin", b"http://127.0.0.1:4114"), (b"origin", b"https://evil.example")],
])
def test_a_request_that_is_not_from_here_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    assert refusal("GET", headers, 4114)


@pytest.mark.parametrize("headers", [
    OURS, [(b"host", b"LOCALHOST:4114")], [*OURS, (b"sec-fetch-site", b"none")],
    [*OURS, (b"sec-fetch-site", b"same-origin"), (b"origin", b"http://127.0.0.1:4114")],
])
def test_a_reader_at_this_machine_is_let_in(headers: list[tuple[bytes, bytes]]) -> None:
    assert refusal("GET", headers, 4114) is None


def test_a_change_needs_an_origin() -> None:
    assert refusal("POST", OURS, 4114)
    assert refusal("POST", [*OURS, (b"origin", b"http://127.0.0.1:4114")], 4114) is None


@given(st.binary(max_size=40))
def test_no_other_host_passes(host: bytes) -> None:
    if host.strip().lower() not in (b"127.0.0.1:4114", b"localhost:4114"):
        assert refusal("GET", [(b"host", host)], 4114)


@pytest.mark.parametrize("target", ["/", "/stacks", "/api/fleet", "/static/room.css", "/nowhere"])
def test_every_answer_carries_the_headers(room: Rooms, target: str) -> None:
    answer = room().ask(target)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["X-Frame-Options"] == "DENY"


def test_a_refusal_is_403_and_a_path_that_is_not_there_404(room: Rooms) -> None:
    place = room()
    assert place.ask("/", Host="evil.example").status == 403
    assert place.ask("/", Sec_Fetch_Site="cross-site").status == 403
    assert place.ask("/api/reload", "POST").status == 403
    for target, method in (("/nowhere", "GET"), ("/api/reload", "GET"), ("/", "DELETE"), ("/static/../server.py", "GET"),
                           ("/stacks/", "GET"),
                           ("/static/%2e%2e%2fserver.py", "GET"), ("//etc/passwd", "GET"), ("/..%2f..%2fetc/passwd", "GET")):
        assert place.ask(target, method, Origin=place.address).status == 404, target


def test_a_foreign_page_cannot_write_into_the_miss_log(fleet: Shell, room: Rooms) -> None:
    place = room()
    assert place.ask("/api/route?q=zonk", Sec_Fetch_Site="cross-site").status == 403
    assert place.ask("/?q=zonk", Sec_Fetch_Site="same-site").status == 403
    assert not (fleet.root / "kb-misses.txt").exists()


@pytest.mark.parametrize("rel", ["../ada/knowledge/pump.md", "knowledge/../knowledge/pump.md", "/etc/passwd", "..\\..\\x.md",
                                 "knowledge/pump.md\x00",
                                 "%2e%2e/x.md", "agent.txt", "", "KNOWLEDGE/pump.md", ".kb/index.db"])
def test_no_spelling_reaches_what_discovery_did_not_produce(room: Rooms, rel: str) -> None:
    place = room()
    assert place.note("ada", rel).status == 404
    encoded = "".join(f"%{byte:02x}" for byte in rel.encode())
    assert place.ask(f"/api/file?base=ada&rel={encoded}").status == 404


def test_a_name_with_two_dots_in_it_is_an_ordinary_name(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/v1..v2 (a & b) 'c'.md", "# Between versions\n")
    answer = room().note("ada", "knowledge/v1..v2 (a & b) 'c'.md")
    assert answer.status == 200 and "Between versions" in answer.body


def test_a_port_that_is_taken_is_a_clear_error_and_exit_1(fleet: Shell, room: Rooms) -> None:
    run = fleet.kb("ui", fleet.root, "--port", room().port)
    assert (run.code, run.out) == (1, "") and "in use" in run.err and "--port" in run.err


def test_asked_to_stop_it_stops(room: Rooms) -> None:
    place = room()
    assert place.ask("/").status == 200
    place.stop()
    assert place.process.returncode is not None and "Traceback" not in place.log.read_text()


def test_a_form_that_is_too_long_is_refused(room: Rooms) -> None:
    place = room()
    assert place.ask("/misroute", "POST", "x" * 70_000, Origin=place.address).status == 413
