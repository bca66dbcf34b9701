"""How long `kb index` takes, and how long the text side takes to answer, beside what the machine can do at all.

    python benchmarks/index.py            # prints the markdown tables of docs/benchmarks.md, section "Index"
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpus import age, make_base, questions
from measure import run, table

SIZES = (1_000, 10_000)
READ_ALL = "import pathlib, sys\nfor path in pathlib.Path(sys.argv[1]).rglob('*.md'): path.read_text(encoding='utf-8')"


def main() -> None:
    kb = str(Path(sys.executable).with_name("kb"))
    scratch = Path(tempfile.mkdtemp(prefix="kb-bench-"))
    env = {"XDG_CACHE_HOME": str(scratch / "cache"), "PYTHONDONTWRITEBYTECODE": ""}
    try:
        written, asked = [], []
        for size in SIZES:
            base = make_base(scratch / f"base{size}", size)
            written += writing(kb, base, size, scratch, env)
            asked += asking(base, size)
        print("### Index\n")
        print(table(["notes", "what", "wall", "notes/s", "of reading all", "peak memory"], written))
        print("\n### Text side, in process, all of a question (open, weigh, rank, merge)\n")
        print(table(["notes", "backend", "median", "worst of 30", "50 passages"], asked))
    finally:
        shutil.rmtree(scratch)


def writing(kb: str, base: Path, size: int, scratch: Path, env: dict[str, str]) -> list[tuple[object, ...]]:
    """First run, first run without tantivy, a run that finds nothing changed, a run after one edit; and two peers."""
    one = next((base / "knowledge").rglob("*.md"))

    def forget() -> None:
        shutil.rmtree(base / ".kb", ignore_errors=True)

    def edit() -> None:
        one.write_text(one.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")

    index, fts5 = [kb, "index", str(base)], {**env, "KB_TEXT_BACKEND": "fts5"}
    read = timed([sys.executable, "-c", READ_ALL, str(base)], env, runs=5)
    rows = [("python, read_text of every note", read), ("kb index, FTS5 only", timed(index, fts5, forget)),
            ("kb index, first run", timed(index, env, forget)), ("kb index, nothing changed", timed(index, env, runs=5)),
            ("kb index, one note changed", timed(index, env, edit, runs=5))]
    age(base)
    run(index, env)
    if shutil.which("sqlite3"):
        rows.append(("sqlite3 shell, FTS5 of the same chunks", timed(loading(base, scratch), env, runs=2)))
    return [(f"{size:,}", name, f"{wall:.0f} ms", f"{size / wall * 1000:,.0f}", f"{wall / read[0]:.1f}", f"{peak:.0f} MB")
            for name, (wall, peak) in rows]


def timed(command: list[str], env: dict[str, str], before: Callable[[], None] = lambda: None,
          runs: int = 3) -> tuple[float, float]:
    """(median milliseconds, most MB) of `runs` runs, `before` called outside the clock."""
    walls, peaks = [], []
    for _ in range(runs):
        before()
        wall, peak = run(command, env)
        walls.append(wall)
        peaks.append(peak)
    return statistics.median(walls), max(peaks)


def loading(base: Path, scratch: Path) -> list[str]:
    """A command with which the sqlite3 shell puts the same chunks into an empty FTS5 table."""
    dump = scratch / f"{base.name}.sql"
    with dump.open("w", encoding="utf-8") as file, sqlite3.connect(base / ".kb/index.db") as db:
        file.write("CREATE VIRTUAL TABLE c USING fts5(h, t, tokenize='unicode61 remove_diacritics 2');\nBEGIN;\n")
        for heading, text in db.execute("SELECT heading_path, text FROM chunks"):
            file.write("INSERT INTO c VALUES ('{}', '{}');\n".format(heading.replace("'", "''"), text.replace("'", "''")))
        file.write("COMMIT;\n")
    target = scratch / "peer.db"
    return ["sh", "-c", f'rm -f "{target}"; sqlite3 "{target}" < "{dump}"']


def asking(base: Path, size: int) -> list[tuple[object, ...]]:
    from kb.core.query import prepare
    from kb.host import DRIVERS, open_host
    from kb.store.catalogue import Catalogue
    from kb.store.fleet import open_fleet

    host = open_host(lambda failure: None, {**os.environ, "KB_PLUGINS_ONLY": "builtin"})
    asked = [prepare(question) for question in questions(base, 30)]
    rows = []
    for name in ("fts5", "tantivy"):
        library = Catalogue(open_fleet([str(base)]), False, lambda wanted: host.driver(DRIVERS, wanted)(), name)
        library.text(asked[0])
        walls, fetches = [], []
        for query in asked:
            start = time.perf_counter()
            found = library.text(query)
            walls.append((time.perf_counter() - start) * 1000)
            assert not found.skipped, found.skipped
            start = time.perf_counter()
            library.passages(query, found.hits[:50])
            fetches.append((time.perf_counter() - start) * 1000)
        rows.append((f"{size:,}", name, f"{statistics.median(walls):.1f} ms", f"{max(walls):.1f} ms",
                     f"{statistics.median(fetches):.1f} ms"))
    return rows


if __name__ == "__main__":
    main()
