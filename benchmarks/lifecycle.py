"""How long the lifecycle takes on a long history: 20,000 commits, a ledger of 100,000 lines, and records that cite both.

    python benchmarks/lifecycle.py [--commits N] [--lines N]

Each command runs as a process of its own, start-up included, three times; the best counts. Beside the seconds stands the
ratio to `git log --oneline | wc -l` in the same repository, measured in the same run. The goal is under 2 seconds each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

EPISODE = "s-20260901080000-a1b2"
GOAL = 2.0
ENVIRONMENT = {**os.environ, "KB_NOW": "2026-09-20T12:00:00Z", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--lines", type=int, default=100_000)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        build(root, wanted.commits, wanted.lines)
        peer = best(["sh", "-c", "git log --oneline | wc -l"], root)
        print(f"{wanted.commits} commits, {wanted.lines} ledger lines; git log --oneline | wc -l: {peer:.2f} s")
        majordomus = str(Path(sys.executable).with_name("majordomus"))
        slow = False
        for words in (["knowledge", "derive", "--episode", EPISODE], ["knowledge", "check"], ["knowledge", "status"],
                      ["knowledge", "candidates"], ["doctor"], ["context"]):
            seconds = best([majordomus, *words], root)
            judged = words[:2] in (["knowledge", "derive"], ["knowledge", "check"], ["knowledge", "status"])
            slow |= judged and seconds > GOAL
            print(f"majordomus {' '.join(words[:2]):<22} {seconds:5.2f} s  {seconds / peer:6.1f} x git log"
                  + (f"  (goal {GOAL:.0f} s)" if judged else ""))
        sys.exit(1 if slow else 0)


def best(words: list[str], root: Path) -> float:
    """Seconds of the fastest of three runs."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run(words, cwd=root, env=ENVIRONMENT, capture_output=True, check=False)
        taken.append(time.perf_counter() - began)
        if done.returncode not in (0, 10):
            raise SystemExit(f"{words}: exit {done.returncode}\n{done.stderr.decode()}")
    return min(taken)


def build(root: Path, commits: int, lines: int) -> None:
    """A repository whose history adds, edits and deletes notes and touches the rules now and then, and its ledger."""
    root.mkdir()
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True, env=ENVIRONMENT)
    with subprocess.Popen([*git, "fast-import", "--quiet"], stdin=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdin is not None
        for block in history(commits):
            process.stdin.write(block)
        process.stdin.close()
    subprocess.run([*git, "reset", "-q", "--hard"], check=True, env=ENVIRONMENT)
    names = subprocess.run([*git, "rev-list", "--reverse", "HEAD"], capture_output=True, check=True, env=ENVIRONMENT)
    shas = names.stdout.decode().split()
    state = root / ".ai/local/state"
    state.mkdir(parents=True)
    with (state / "ledger.jsonl").open("w", encoding="utf-8") as out:
        for row in ledger(lines, shas):
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    for number in range(30):  # records that cite files which the tree no longer holds, old commits, other episodes
        records(root / ".ai/repo/knowledge/curated", number, shas)


def history(commits: int) -> Iterator[bytes]:
    for number in range(commits):
        yield (f"commit refs/heads/main\nmark :{number + 1}\ncommitter A Writer <writer@example.org> "
               f"{1_700_000_000 + number * 60} +0000\ndata 4\nnote\n").encode()
        if number:
            yield f"from :{number}\n".encode()
        path = f"notes/{number % 900:03}/{number % 7}.md"
        yield f"M 100644 inline {path}\ndata {len(str(number))}\n{number}\n".encode()
        if number % 50 == 0:
            yield f"M 100644 inline .ai/repo/rules/r{number % 20}.md\ndata {len(str(number))}\n{number}\n".encode()
        if number % 100 == 0:
            yield f"M 100644 inline old/{number}.md\ndata 3\nold\n".encode()
        if number % 100 == 50:
            yield f"D old/{number - 50}.md\n".encode()
        yield b"\n"


def ledger(lines: int, shas: list[str]) -> Iterator[dict[str, object]]:
    def row(event: str, session: str, **payload: object) -> dict[str, object]:
        return {"ts": "2026-09-01T09:00:00Z", "event": event, "head": shas[len(shas) // 2], "branch": "main",
                "by": "kb/0", "session": session, **payload}

    yield row("session.started", EPISODE, owner="ana")
    for number in range(lines - 60):
        name = f"s-2026080{number % 9 + 1}080000-{number // 40 % 65536:04x}"
        yield row("decision.recorded", name, task_id=f"t-2026080{number % 9 + 1}080000-{number % 65536:04x}",
                  decision=f"Berth {number} is swept before the tide turns, and the log of the watch says so")
    for number in range(57):
        yield row("decision.recorded", EPISODE, task_id="none", decision=f"Crane {number} is oiled on Mondays")
    yield row("knowledge.derived", EPISODE, episode=EPISODE, written=0, unchanged=0, skipped=0, paths="")
    yield row("session.closed", EPISODE, outcome="closed", session_path="x")


def records(folder: Path, number: int, shas: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    gone = "file:never/was.md" if number == 0 else f"file:old/{number * 100}.md"  # the first one costs the whole history
    cited = [gone, f"commit:{shas[number * 7]}", f"session:{EPISODE}", "file:notes/000/0.md"]
    (folder / f"berth-{number}.md").write_text(
        f"---\nschema: knowledge/v1\nid: berth-{number}\nkind: knowledge\nclass: fact\ntitle: Berth {number}\n"
        "description: It is so.\nstatus: verified\nepistemics: observed\ndate: 2026-09-01\nprovenance:\n"
        "  origin: authored\n  derived_from:\n" + "".join(f"    - {item}\n" for item in cited) + "---\n\n# Berth\n")


if __name__ == "__main__":
    main()
