"""`kb check` on a large base against reading and decoding the same files in Python. The budget is a ratio of 3 on two processors.

    python benchmarks/check.py [--notes 10000] [--runs 7] [--vault FOLDER]

The base has keys, headings, wikilinks, citations and fences; with `--vault` it is made of copies of a folder of real notes, to which the
budget does not apply. Both sides are whole processes; what starting Python costs is taken off
the reading side only once, in the column `reading alone`, and the ratio is of the two whole processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from corpus import age, make_base
from measure import compare

READ = """
import os, sys
n = 0
for folder, folders, files in os.walk(sys.argv[1]):
    for name in files:
        if name.endswith(".md"):
            with open(os.path.join(folder, name), "rb") as file:
                n += len(file.read().decode("utf-8"))
print(n)
"""


ONE_PROCESSOR = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]


def make_linked_base(root: Path, notes: int) -> Path:
    """The base of `corpus`, where every third note links to two others and every tenth shows code and cites a source."""
    make_base(root, notes)
    names = sorted(root.glob("knowledge/*/*.md"))
    key = "ABCDEFGHIJ"
    (root / "sources").mkdir()
    (root / "sources" / f"{key}.txt").write_text(
        "type = book\ntitle = Ropes\nretrieved_on = 2026-09-06\nretrieval_status = full\n", encoding="utf-8")
    for number, path in enumerate(names):
        extra = ""
        if number % 3 == 0:
            extra += f"\n## See also\n\n- [[{names[number - 1].stem}]]\n- [[{names[number - 2].stem}#Part|the other]] and `[[example]]`\n"
        if number % 10 == 0:
            extra += f'\n```sh\necho "[[ -f x ]]"\n```\n\nAs they say [src:{key}].\n\n- [src:{key}] "Ropes". read in full, 2026-09-06.\n'
        if extra:
            path.write_text(path.read_text(encoding="utf-8") + extra, encoding="utf-8")
    age(root)
    return root


def copies(vault: Path, root: Path, notes: int) -> Path:
    """Copies of a folder of notes side by side, until there are `notes` of them or a little more."""
    paths = [path for path in sorted(vault.rglob("*.md")) if path.is_file()]
    for number in range(-(-notes // len(paths))):
        for path in paths:
            copy = root / f"copy{number}" / path.relative_to(vault)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    age(root)
    return root


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--vault", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "big"
        base = str(copies(given.vault, root, given.notes) if given.vault else make_linked_base(root, given.notes))
        kb = [sys.executable, "-m", "kb"]
        sides = {"python": [sys.executable, "-c", "pass"], "read and decode": [sys.executable, "-c", READ, base],
                 "kb check": [*kb, "check", base], "kb check, one processor": [*ONE_PROCESSOR, *kb, "check", base]}
        fresh = compare(sides, given.runs)
        compare({"index": [*kb, "index", base]}, 1)
        indexed = compare({"kb check, indexed before": [*kb, "check", base]}, given.runs)
        times = fresh | indexed
    reading = times["read and decode"].wall
    print(f"{given.notes} notes, {len(os.sched_getaffinity(0))} processors; reading alone takes {reading - times['python'].wall:.0f} ms\n")
    print(f"{'':<22} {'median ms':>10} {'worst':>8} {'peak MB':>8} {'ratio':>6}")
    for name, time in times.items():
        print(f"{name:<22} {time.wall:>10.0f} {time.worst:>8.0f} {time.peak:>8.0f} {time.wall / reading:>6.2f}")
    return 0 if given.vault else int(max(times["kb check"].wall, times["kb check, indexed before"].wall) / reading > 3)


if __name__ == "__main__":
    sys.exit(main())
