"""Whatever a worker does in whatever order, the records stay sound and a second derivation changes nothing."""

from __future__ import annotations

import shutil

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lifecycle.yard import CANDIDATES, CURATED, Yard

_TEXT = st.text(max_size=20)
_ACTS = st.one_of(
    st.tuples(st.just("session start")), st.tuples(st.just("session close")), st.tuples(st.just("derive")),
    st.tuples(st.just("decide"), _TEXT), st.tuples(st.just("observe"), _TEXT), st.tuples(st.just("task"), _TEXT),
    st.tuples(st.just("finish"), _TEXT), st.tuples(st.just("ask"), _TEXT), st.tuples(st.just("answer"), _TEXT),
    st.tuples(st.just("promote"), _TEXT), st.tuples(st.just("reject"), _TEXT), st.tuples(st.just("branch")),
    st.tuples(st.just("commit")), st.tuples(st.just("compact")), st.tuples(st.just("rotate")))


def act(yard: Yard, step: int, words: tuple[str, ...]) -> int:
    name, text = words[0], words[1] if len(words) > 1 else ""
    yard.clock(f"2026-09-20T{step:02}:00:00Z")
    queue = sorted(p.stem for p in (yard.root / CANDIDATES).glob("s-*.md") if "status: candidate" in p.read_text())
    first = queue[0] if queue else "none-such"
    if name == "branch":
        yard.git("switch", "-q", "-C", f"feat/{step}")
        return 0
    if name == "commit":
        yard.git("add", "-A")
        yard.git("commit", "-q", "--allow-empty", "-m", f"step {step}")
        return 0
    if name == "finish":
        note = yard.write("note.md", f"# Reason\n\n{text}\n")
        return yard("finish", "--outcome", "failed", "--note", str(note)).code
    lines: dict[str, tuple[str, ...]] = {
        "session start": ("session", "start"), "session close": ("session", "close"), "derive": ("knowledge", "derive"),
        "decide": ("decision", "add", "--why", "x", "--", text), "task": ("start", "--scope", "src", "--", text),
        "observe": ("knowledge", "observe", "--kind", "drift", "--subject", "src/a.py", "--", text),
        "ask": ("question", "add", "--", text), "answer": ("question", "resolve", "--answer", text, "--", "1"),
        "reject": ("knowledge", "reject", f"--reason={text}", "--", first), "promote": ("knowledge", "promote", "--", first),
        "compact": ("session", "hook", "--provider", "p", "--event", "compact"), "rotate": ("history", "--rotate")}
    return yard(*lines[name], stdin=text if name == "promote" else "").code


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=12)
@given(st.lists(_ACTS, min_size=4, max_size=14))
def test_any_order_of_acts_keeps_every_record_sound(yard: Yard, acts: list[tuple[str, ...]]) -> None:
    shutil.rmtree(yard.root)
    yard.root.mkdir()
    yard.begin()
    yard.write(".ai/repo/policy.yaml", "version: 1\nledger:\n  retention_max_lines: 6\n")
    for step, words in enumerate(acts):
        assert act(yard, step, words) in (0, 2, 10, 12, 15), words
    assert yard("session", "close", "--if-none", "ignore").code == 0
    assert not yard.log.malformed
    assert yard("knowledge", "check", "--json").json()["findings"] == []
    both = {p.name for p in (yard.root / CANDIDATES).glob("s-*.md")} & {p.name for p in (yard.root / CURATED).glob("s-*.md")}
    assert both == set()
    before = yard.tree()
    for episode in {row["session"] for row in yard.rows() if "session" in row}:
        assert yard("knowledge", "derive", "--episode", episode, "--dry-run", "--json").ok().json()["written"] == []
    assert yard.tree() == before
