"""A running reading room, one request at a time."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.conftest import Shell


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: str

    def json(self) -> Any:
        assert self.status == 200, (self.status, self.body)
        return json.loads(self.body)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class OpenRoom:
    """`kb ui` as a process."""

    def __init__(self, sh: Shell, *words: object, env: dict[str, str] | None = None) -> None:
        self.port = free_port()
        self.log = sh.root / "home" / f"ui-{self.port}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kb", "ui", *map(str, words or (sh.root,)), "--port", str(self.port)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log, cwd=sh.root, env={**sh.env, **(env or {})})
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    raise AssertionError("the reading room did not open: " + self.log.read_text()) from None
                time.sleep(0.02)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, target: str, method: str = "GET", body: str = "", **headers: str) -> Answer:
        """One request exactly as spelled; underscores of header names stand for dashes."""
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            wire.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Host": f"127.0.0.1:{self.port}", "Content_Length": str(len(body.encode()))} | headers).items():
                wire.putheader(name.replace("_", "-"), value)
            wire.endheaders(body.encode())
            answer = wire.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode("utf-8", "replace"))
        finally:
            wire.close()

    def post(self, target: str, **fields: str) -> Answer:
        """A form sent by a page of this room."""
        return self.ask(target, "POST", urlencode(fields), Origin=self.address)

    def note(self, base: str, rel: str) -> Answer:
        return self.ask("/note?" + urlencode({"base": base, "rel": rel}))

    def stop(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
