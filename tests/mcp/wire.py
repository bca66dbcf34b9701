"""A running `kb serve` and the two ends of its wire."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

from tests.conftest import Shell

WAIT = 20.0


class Peer:
    """A server process that is spoken to by hand. `log` is a file with its stderr."""

    def __init__(self, sh: Shell, *words: object, env: dict[str, str] | None = None) -> None:
        self.log = sh.root / "home" / "serve.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kb", "serve", *map(str, words or (sh.root,))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, cwd=sh.root, env={**sh.env, **(env or {})})
        self.lines: Queue[bytes] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.process.stdin.flush()

    def reply(self) -> Any:
        return json.loads(self.lines.get(timeout=WAIT))

    def ask(self, method: str, params: Any = None, id: Any = 1) -> Any:
        self.send({"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params}))
        return self.reply()

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool: str, **arguments: Any) -> str:
        reply = self.call(tool, **arguments)
        [part] = reply["result"]["content"]
        return str(part["text"])

    def stop(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(5)
        self.process.stdout.close()
        return code

    def memory(self) -> int:
        """Resident bytes of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024
