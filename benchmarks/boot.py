"""A whole `kb boot` process beside `kb route` on the same fleet of 1,000 notes: the door may cost half as much again.

    python benchmarks/boot.py            # prints the markdown table of docs/benchmarks.md, section "Boot"

No classifier is configured. The question is a hit, the message comes as a hook payload with a session; `switching` has a
new session each time, so that the constitution (20 KB) is read as well.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from corpus import make_base, questions
from measure import compare, run, table

LIMIT = 1.5


def main() -> None:
    kb = str(Path(sys.executable).with_name("kb"))
    scratch = Path(tempfile.mkdtemp(prefix="kb-bench-"))
    env = {"XDG_CACHE_HOME": str(scratch / "cache"), "PYTHONDONTWRITEBYTECODE": ""}
    try:
        (scratch / "fleet.txt").write_text("name = Bench\n")
        for name, notes in (("one", 400), ("two", 300), ("three", 300)):
            base = make_base(scratch / "fleet" / name, notes, seed=len(name) + notes)
            (base / "blocks.txt").write_text("[identity]\nAGENTS.md\n")
            (base / "AGENTS.md").write_text("# Agent\n\n" + "Keep the record straight and say what was read. " * 420)
        run([kb, "index", str(scratch)], env)
        question = questions(scratch / "fleet" / "one", 1)[0]
        for session in ("", "kept"):
            payload = {"prompt": question, "session_id": session, "hook_event_name": "UserPromptSubmit"}
            (scratch / f"payload{session}").write_text(json.dumps(payload))
        run(["sh", "-c", f"{kb} boot {scratch} < {scratch}/payloadkept"], env)
        found = compare({
            "kb route": ["sh", "-c", f"exec {kb} route '{question}' {scratch} < /dev/null"],
            "kb boot, the same agent": ["sh", "-c", f"exec {kb} boot {scratch} < {scratch}/payloadkept"],
            "kb boot, switching": ["sh", "-c", f"exec {kb} boot {scratch} --session $$ < {scratch}/payload"],
        }, env=env)
        print("## Boot\n")
        peer = found["kb route"].wall
        print(table(["command", "median ms", "of a route"],
                    [[name, f"{timing.wall:.0f}", f"{timing.wall / peer:.2f}"] for name, timing in found.items()]))
        ratio = found["kb boot, the same agent"].wall / found["kb route"].wall
        print(f"\nA `kb boot` costs {ratio:.2f} of a `kb route`; the limit is {LIMIT}.")
        sys.exit(ratio > LIMIT)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
