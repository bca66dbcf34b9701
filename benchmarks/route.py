"""A whole `kb route` process, cold and warm, at 100, 1,000 and 10,000 notes, beside what the machine can do at all.

    python benchmarks/route.py            # prints the markdown tables of docs/benchmarks.md, section "Route"
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from corpus import make_base, questions
from measure import Timing, compare, run, table

SIZES = (100, 1_000, 10_000)


def main() -> None:
    kb = str(Path(sys.executable).with_name("kb"))
    scratch = Path(tempfile.mkdtemp(prefix="kb-bench-"))
    env = {"XDG_CACHE_HOME": str(scratch / "cache"), "PYTHONDONTWRITEBYTECODE": ""}
    try:
        bases = {size: make_base(scratch / f"base{size}", size) for size in SIZES}
        for base in bases.values():
            run([kb, "index", str(base)], env)
        start_up(kb, scratch, env)
        by_size(kb, bases, env)
    finally:
        shutil.rmtree(scratch)


def start_up(kb: str, scratch: Path, env: dict[str, str]) -> None:
    tiny = make_base(scratch / "tiny", 3)
    run([kb, "index", str(tiny)], env)
    found = compare({
        "python -c pass": [sys.executable, "-c", "pass"],
        'python -c "import click"': [sys.executable, "-c", "import click"],
        "kb --version": [kb, "--version"],
        "kb route, 3 notes": [kb, "route", questions(tiny, 1)[0], str(tiny), "--json"],
        "kb route, a miss that is counted": [kb, "route", "nothing there holds this", str(tiny), "--json"],
    }, env=env)
    click = found['python -c "import click"'].wall
    print("### Start-up\n")
    print(table(["process", "median", "of `import click`"],
                [(name, f"{t.wall:.0f} ms", f"{t.wall / click:.2f}") for name, t in found.items()]))


def by_size(kb: str, bases: dict[int, Path], env: dict[str, str]) -> None:
    rows, first = [], 0.0
    for size, base in bases.items():
        question = questions(base, 1)[0]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "kb, tantivy": ["env", "KB_TEXT_BACKEND=tantivy", kb, "route", question, str(base), "--json"],
            "kb, fts5": ["env", "KB_TEXT_BACKEND=fts5", kb, "route", question, str(base), "--json"],
            **peers(question, base),
        }
        warm, cold = compare(commands, env=env), compare(commands, runs=3, env=env, cold=True)
        first = first or warm["kb, tantivy"].wall
        for name in commands:
            rows.append((f"{size:,}", name, f"{warm[name].wall:.0f} ms", ratio(warm[name], warm["kb, tantivy"]),
                         f"{cold[name].wall:.0f} ms" if cold else "-", f"{warm[name].peak:.0f} MB"))
        print(f"\n{size:,} notes against 100: {warm['kb, tantivy'].wall / first:.2f}x")
    print("\n### Route\n")
    print(table(["notes", "process", "warm", "of kb, tantivy", "page cache dropped", "peak memory"], rows))


def peers(question: str, base: Path) -> dict[str, list[str]]:
    """What reads or asks the same files: ripgrep without ranking, and the sqlite3 shell on the same index with it."""
    words = question.split()
    found = {}
    if shutil.which("rg"):
        found["rg, no ranking"] = ["rg", "-c", "-w", "|".join(words), str(base / "knowledge")]
    if shutil.which("sqlite3"):
        match = " OR ".join(f'"{word}"' for word in words)
        found["sqlite3, same index"] = ["sqlite3", str(base / ".kb/index.db"),
                                        f"SELECT path FROM chunks WHERE chunks MATCH '{match}' ORDER BY bm25(chunks,0,0,2,1) LIMIT 30"]
    return found


def ratio(one: Timing, other: Timing) -> str:
    return f"{one.wall / other.wall:.2f}"


if __name__ == "__main__":
    main()
