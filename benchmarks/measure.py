"""Whole processes, timed against a peer in the same run: interleaved, medians, ratios. Absolute times are this machine's."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """Median and worst wall time in milliseconds, and peak memory in MB, of one command."""

    wall: float
    worst: float
    peak: float


def compare(commands: Mapping[str, Sequence[str]], runs: int = 15, env: Mapping[str, str] | None = None,
            cold: bool = False) -> dict[str, Timing]:
    """Run every command `runs` times in turn (A B C, A B C ...) after one warm-up each. `cold` drops the page cache before each."""
    walls: dict[str, list[float]] = {name: [] for name in commands}
    peaks: dict[str, float] = dict.fromkeys(commands, 0.0)
    for round_ in range(runs + 1):
        for name, command in commands.items():
            if cold and not drop_page_cache():
                return {}
            wall, peak = run(command, env)
            if round_:
                walls[name].append(wall)
                peaks[name] = max(peaks[name], peak)
    return {name: Timing(statistics.median(times), max(times), peaks[name]) for name, times in walls.items()}


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[float, float]:
    """One run: (wall milliseconds, peak MB of the process itself)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               env={**os.environ, **(env or {})})
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return (time.perf_counter() - start) * 1000, peak_mb(usage)


def peak_mb(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024


def drop_page_cache() -> bool:
    """Forget cached files, so that the next run reads the disk. False where that is not allowed."""
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError:
        return False
    return True


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])
