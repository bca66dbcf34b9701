"""The ledger: whole lines, whoever writes and whenever they die."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.api import KbError
from kb_plugins.lifecycle import events
from kb_plugins.lifecycle.ledger import parsed
from tests.lifecycle.yard import EPISODE, LEDGER, Yard

_APPEND = """
import sys
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.git import open_checkout
from kb_plugins.lifecycle.ledger import Ledger
disk = Disk(open_checkout(sys.argv[1]))
ledger = Ledger(disk)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    ledger.append("decision.recorded", "s-1", task_id="none", decision=f"{sys.argv[2]}-{number} " + "x" * 3000)
    print(number, flush=True)
"""


def appender(yard: Yard, name: str, count: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", _APPEND, str(yard.root), name, str(count)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def go(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def finish(process: subprocess.Popen[bytes]) -> bytes:
    out, _ = process.communicate()
    return out


def test_eight_processes_that_append_at_once_write_whole_lines_and_lose_none(yard: Yard) -> None:
    processes = [appender(yard, str(name), 25) for name in range(8)]
    for process in processes:
        go(process)
    for process in processes:
        finish(process)
        assert process.returncode == 0
    said = sorted(row["decision"].split()[0] for row in yard.rows())
    assert said == sorted(f"{name}-{number}" for name in range(8) for number in range(25))


def test_a_writer_killed_at_a_random_point_loses_no_line_that_it_had_written(yard: Yard) -> None:
    chance = random.Random(7)
    confirmed: dict[str, int] = {}
    for turn in range(5):
        process = appender(yard, str(turn), 400)
        go(process)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randrange(1, 40))]
        process.kill()
        rest = process.stdout.read().splitlines()
        process.communicate()
        confirmed[str(turn)] = len(lines) + len([line for line in rest if line.strip().isdigit()])
    data = (yard.root / LEDGER).read_bytes()
    whole = [row for line in data.split(b"\n") if line and (row := parsed(line)) is not None]
    assert len(whole) == len([line for line in data.split(b"\n") if line])  # no torn line at all
    for name, count in confirmed.items():
        assert sum(row["decision"].startswith(f"{name}-") for row in whole) >= count
    yard("decision", "add", "and the next one is whole", "--why", "the lock was freed").ok()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_any_text_comes_back_from_the_line_that_carries_it(yard: Yard, text: str) -> None:
    ledger = yard.log
    ledger.append("decision.recorded", "s-1", task_id="none", decision=text)
    line = ledger.lines[-1]
    assert ledger.rows[-1]["decision"] == text and len(line.decode().splitlines()) == 1


def test_a_line_begins_with_the_envelope_and_the_first_of_two_equal_keys_counts(yard: Yard) -> None:
    yard("decision", "add", "Oil on Mondays", "--why", "x").ok()
    [row] = yard.rows()
    assert list(row) == ["ts", "event", "head", "branch", "by", "task_id", "decision"] and row["by"].startswith("kb/")
    twice = parsed(b'{"ts":"t","event":"session.closed","event":"forged","session":"a","session":"b"}')
    assert twice is not None and (twice["event"], twice["session"]) == ("session.closed", "a")


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b'{"ts":1,"event":"x"}', b'{"ts":"t"}', b"\xff\xfe", b'"x"',
                                  b"[" * 100_000])
def test_a_line_that_is_no_event_is_skipped_and_counted(yard: Yard, line: bytes) -> None:
    yard.note("session.started", owner="ana")
    with (yard.root / LEDGER).open("ab") as out:
        out.write(line + b"\n")
    ledger = yard.log
    assert len(ledger.rows) == 1 and ledger.malformed == (1 if line else 0)
    assert yard("history", "--validate").code == (10 if line else 0)


def test_an_unknown_event_a_missing_field_and_a_reserved_key_are_13_and_write_nothing(yard: Yard) -> None:
    good: dict[str, Any] = {"task_id": "none", "decision": "x"}
    for event, payload in (("decision.made", good), ("decision.recorded", {"task_id": "none"}),
                           *(("decision.recorded", {**good, key: "x"}) for key in events.ENVELOPE if key != "session")):
        with pytest.raises(KbError) as refused:
            events.validate(event, payload)
        assert refused.value.exit_code == 13
    events.validate("provider.event.received", {"provider": "x", "provider_event": "x", "provider_session": "y"})
    assert not (yard.root / LEDGER).exists()


def test_rotation_keeps_every_line_of_an_open_or_underived_episode(yard: Yard) -> None:
    yard.write(".ai/repo/policy.yaml", "version: 1\nledger:\n  retention_max_lines: 4\n")
    opened = yard.start()
    yard.note("session.started", "s-20260901000000-0001", owner="ana")
    yard.note("decision.recorded", "s-20260901000000-0001", task_id="none", decision="never derived")
    yard.note("session.closed", "s-20260901000000-0001", outcome="closed", session_path="x")
    for number in range(20):
        yard.note("decision.recorded", None, task_id="none", decision=str(number))
    before = yard.rows()
    run = yard("history", "--rotate").ok()
    [archive] = (yard.root / LEDGER).parent.glob("ledger.*.jsonl.archived")
    moved = [json.loads(line) for line in archive.read_text().splitlines()]
    kept = yard.rows()
    assert run.out.startswith(f"rotated: {len(moved)} line(s) to .ai/local/state/{archive.name}, ")
    assert {row.get("session") for row in moved} == {None}
    assert {opened, "s-20260901000000-0001"} <= {row.get("session") for row in kept}
    assert sorted(map(str, moved + kept[:-1])) == sorted(map(str, before))


def test_a_rotation_whose_archive_is_there_is_15_and_one_below_the_cap_does_nothing(yard: Yard) -> None:
    assert yard("history", "--rotate").ok().out == "nothing to rotate: 0 lines, cap 5000\n"
    yard.write(".ai/repo/policy.yaml", "version: 1\nledger:\n  retention_max_lines: 1\n")
    for number in range(3):
        yard.note("decision.recorded", None, task_id="none", decision=str(number))
    yard.write(".ai/local/state/ledger.20260920T120000Z.jsonl.archived", "")
    before = yard.read(LEDGER)
    assert yard("history", "--rotate").code == 15 and yard.read(LEDGER) == before


def test_history_filters_by_task_time_and_count_and_prints_the_newest_last(yard: Yard) -> None:
    for day in range(1, 6):
        yard.note("decision.recorded", None, ts=f"2026-09-1{day}T00:00:00Z", task_id=f"t-{day % 2}", decision=f"d{day}")
    def said(*words: str) -> list[str]:
        return [line.split()[-1] for line in yard("history", *words).ok().out.splitlines()]
    assert said() == ["d1", "d2", "d3", "d4", "d5"]
    assert said("--limit", "2") == ["d4", "d5"]
    assert said("--task", "t-1") == ["d1", "d3", "d5"]
    assert said("--since", "2026-09-14") == ["d4", "d5"] and said("--since", "7d") == ["d4", "d5"]
    assert yard("history", "--task", "none-such").ok().out == "no matching events\n"
    for words in (("--since", "yesterday"), ("--limit", "0"), ("--event", "x"), ("--limit", "2", "--limit", "3")):
        assert yard("history", *words).code == 2
    assert EPISODE not in yard("history", "--json", "--limit", "1").out
