"""`kb serve` on a fleet of 10,000 notes: the handshake, a warm call beside a whole `kb route` process, memory over 10,000 calls.

    python benchmarks/serve.py [--notes 10000] [--calls 10000]    # prints the markdown of docs/benchmarks.md, section "Serving"

Calls go over the real wire, one at a time. Memory is the resident set after the first tenth of the calls and after the last.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from corpus import make_base, questions
from measure import run

HANDSHAKE_LIMIT, CALL_LIMIT, GROWTH_LIMIT = 100.0, 20.0, 16.0  # ms, ms, MB


class Wire:
    """A server process and one request at a time."""

    def __init__(self, kb: str, root: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen([kb, "serve", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env={**os.environ, **env})

    def ask(self, method: str, **params: Any) -> float:
        """Milliseconds from the request to its reply."""
        assert self.process.stdin is not None and self.process.stdout is not None
        start = time.perf_counter()
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        assert "result" in reply, reply
        return (time.perf_counter() - start) * 1000

    def call(self, tool: str, question: str) -> float:
        return self.ask("tools/call", name=tool, arguments={"question": question})

    def memory(self) -> float:
        """Resident MB."""
        return int(Path(f"/proc/{self.process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=10_000)
    chosen = parser.parse_args()
    kb = str(Path(sys.executable).with_name("kb"))
    scratch = Path(tempfile.mkdtemp(prefix="kb-bench-"))
    env = {"XDG_CACHE_HOME": str(scratch / "cache")}
    try:
        (scratch / "fleet.txt").write_text("name = Bench\n")
        base = make_base(scratch / "fleet" / "one", chosen.notes)
        run([kb, "index", str(scratch)], env)
        asked = questions(base, 200)
        wire = Wire(kb, scratch, env)
        up = wire.ask("ping")
        handshake = wire.ask("initialize", protocolVersion="2025-06-18", capabilities={})
        first = wire.call("kb_route", asked[0])
        for question in asked[:40]:
            wire.call("kb_retrieve", question)
        processes, route, retrieve = [], [], []
        for number in range(30):
            question = asked[number]
            processes.append(run([kb, "route", question, str(scratch)], env)[0])
            route += [wire.call("kb_route", asked[(number * 5 + step) % 200]) for step in range(5)]
            retrieve += [wire.call("kb_retrieve", asked[(number * 5 + step) % 200]) for step in range(5)]
        before = 0.0
        for number in range(chosen.calls):
            wire.call("kb_route" if number % 2 else "kb_retrieve", asked[number % 200])
            if number == chosen.calls // 10:
                before = wire.memory()
        after = wire.memory()
        wire.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    process = statistics.median(processes)
    print(f"{chosen.notes:,} notes. Process up and first ping {up:.0f} ms; `initialize` {handshake:.1f} ms; first call {first:.0f} ms.\n")
    print("| what | median ms | 95th percentile ms | ratio to a `kb route` process |\n|---|---|---|---|")
    for name, times in (("`kb route`, a process", processes), ("kb_route, warm", route), ("kb_retrieve, warm", retrieve)):
        median = statistics.median(times)
        print(f"| {name} | {median:.1f} | {statistics.quantiles(times, n=20)[-1]:.1f} | {median / process:.2f} |")
    print(f"\n{chosen.calls:,} calls: {before:.1f} MB after a tenth of them, {after:.1f} MB at the end.")
    failed = [name for name, value, limit in (("handshake", handshake, HANDSHAKE_LIMIT), ("kb_route", statistics.median(route), CALL_LIMIT),
                                              ("kb_retrieve", statistics.median(retrieve), CALL_LIMIT),
                                              ("growth", after - before, GROWTH_LIMIT)) if value > limit]
    if failed:
        raise SystemExit("over the limit: " + ", ".join(failed))


if __name__ == "__main__":
    main()
