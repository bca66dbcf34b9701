"""What people, hosts and models send by mistake or on purpose: no secret is kept, nothing private shows, a hook never fails."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import Shell
from tests.models import ACCEPT, proposal, stand_in

TRUSTED = {"KB_TRUST": "1"}


@pytest.fixture
def secretive(fleet: Shell) -> Shell:
    """The fleet with a private note whose keys nobody may see."""
    fleet.write("fleet/ada/records/merger.md", "# Merger\n\n**Search for:** zorbulon, zorbulons\n\n## Price\n\nSeventy seven.\n")
    return fleet


def test_a_miss_of_the_owner_keeps_no_private_key_where_others_read(secretive: Shell) -> None:
    secretive.kb("boot", "--session", "s1", stdin="how do I flush the pump").ok()
    shown = secretive.kb("route", "zorbuloon", "--all", "--json").ok()
    assert shown.json()["suggestions"] == ["zorbulon", "zorbulons"]  # type: ignore[index]
    secretive.kb("boot", "--all", "--session", "s1", stdin="zorbuloon").ok()
    secretive.kb("capture", "--session", "s1", "--all" if "--all" in secretive.kb("capture", "--help").out else ".").ok()
    kept = [path for path in secretive.root.rglob("*") if path.is_file() and path.name != "merger.md" and "home" not in path.parts]
    assert any(b"zorbuloon" in path.read_bytes() for path in kept)
    assert [path for path in kept if b"zorbulon" in path.read_bytes()] == []


def test_the_name_of_a_private_note_does_not_lead_to_its_place(secretive: Shell) -> None:
    (secretive.root / "fleet/eva/inbox/2026-09-19-heron.md").rename(secretive.root / "fleet/ada/heron.md")
    (secretive.root / "fleet/ada/inbox").mkdir()
    (secretive.root / "fleet/ada/heron.md").rename(secretive.root / "fleet/ada/inbox/heron.md")
    stand_in(secretive, "promoter", proposal("merger"))
    stand_in(secretive, "reviewer", ACCEPT)
    runs = [secretive.kb("promote", env=TRUSTED),
            secretive.kb("write", "ada", "merger", "--keys", "night freeze", "--summary", "say it", stdin="# Night\n\nText.\n")]
    for run in runs:
        assert "records/merger" not in run.out + run.err and "private layer" in run.out + run.err
    assert "records/merger.md" in secretive.kb("promote", "--all", env=TRUSTED).err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["boot .", "boot /nowhere", "boot --nonsense"])
def test_boot_ends_with_zero_whatever_its_streams_are(fleet: Shell, words: str, closed: str) -> None:
    line = f'printf "flush the pump" | "{sys.executable}" -m kb {words} {closed}'
    assert fleet.run("sh", "-c", line).code == 0


PAYLOADS = {
    "no JSON": b"{not json",
    "a list": b"[1, 2]",
    "deep": b'{"prompt":' + b"[" * 100_000,
    "deep list": b"[" * 100_000,
    "binary": bytes(range(256)) * 100,
    "UTF-16": "flush the pump".encode("utf-16"),
    "NUL": b"\0" * 1000,
    "wrong types": b'{"prompt": {"a": 1}, "session_id": [1], "cwd": 7}',
    "half a pair": b'{"prompt": "flush \\ud800 the pump", "session_id": "\\udfff", "cwd": ""}',
    "a folder that is none": b'{"prompt": "pump", "session_id": "a", "cwd": "/no\\u0000where"}',
    "a long id": json.dumps({"prompt": "flush the pump", "session_id": "x" * 5000}).encode(),
    "an id that climbs": b'{"prompt": "flush the pump", "session_id": "../../../evil"}',
    "a long message": b"flush the pump " * 50_000,
    "infinite numbers": b'{"prompt": "pump", "n": 1e999999, "m": NaN}',
    "a long number": b'{"prompt": "pump", "n": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_boot_takes_any_payload(fleet: Shell, name: str) -> None:
    done = fleet.kb("boot", stdin=PAYLOADS[name], timeout=20)
    assert done.code == 0 and "Traceback" not in done.err and "Error: " not in done.err, done.err
    assert not list(fleet.root.parent.glob("evil*"))
    assert all(path.parent.name == "sessions" for path in fleet.root.rglob("*.events"))


def test_a_pasted_file_is_kept_short_in_every_log(fleet: Shell) -> None:
    stand_in(fleet, "classifier", "COVERAGE: uncovered\nOWNER: none\nREVIEWERS: none\nSUBJECT: " + "s" * 90_000 + "\nREASON: r\n")
    fleet.kb("boot", "--session", "s1", stdin="xylophone " * 50_000, env=TRUSTED).ok()
    for name in ("kb-misses.txt", "kb-abstentions.txt", ".kb/sessions/s1.events"):
        assert len(fleet.read(name)) < 20_000, name


SECRET = "harbour" + "-4711x"


def test_a_secret_is_in_no_file_whatever_verb_it_came_through(fleet: Shell) -> None:
    said = f'xylophone password: {SECRET} and {{"api_key": "{SECRET}"}} MY_TOKEN={SECRET} https://a:{SECRET}@host/'
    stand_in(fleet, "classifier", f"COVERAGE: uncovered\nOWNER: none\nREVIEWERS: none\nSUBJECT: {said}\nREASON: {said}\n")
    stand_in(fleet, "promoter", proposal())
    stand_in(fleet, "reviewer", f"VERDICT: reject\nREASON: {said}\n")
    for name in ("ada", "ben"):
        fleet.write(f"fleet/{name}/blocks.txt", "[voice]\nvoice.md\n")
        fleet.write(f"fleet/{name}/voice.md", "Speak plainly.\n")
    fleet.write("plan.md", "A plan.\n")
    fleet.kb("boot", "--session", "s1", stdin="flush the pump", env={"KB_DISABLE_PLUGINS": ""}).ok()
    fleet.kb("boot", "--session", "s1", stdin=said, env=TRUSTED).ok()
    fleet.kb("route", said)
    fleet.kb("answer", said, env=TRUSTED)
    fleet.kb("capture", "--session", "s1", "--conclusion", said).ok()
    fleet.kb("capture", "--session", "s1").ok()
    fleet.kb("misroute", said, "--chose", "ada", "--owner", "ben", "--why", said).ok()
    fleet.kb("handoff", "save", "ada", "--task", said, "--decision", said, "--blocker", said, "--next", said).ok()
    fleet.kb("panel", "plan.md", "--owner", "ada", "--reviewer", "ben").ok()
    fleet.kb("panel", "plan.md", "--from", "ben", "--objection", said, "--blocking").ok()
    fleet.kb("panel", "plan.md", "--resolve", "1", "--taken", "--why", said).ok()
    fleet.kb("promote", env=TRUSTED)
    ours = [path for path in fleet.root.rglob("*") if path.is_file() and not {"calls", "tools"} & set(path.parts)]
    assert [str(path) for path in ours if SECRET.encode() in path.read_bytes()] == []
    assert sum(b"REDACTED" in path.read_bytes() for path in ours) >= 6


def test_a_plugin_that_ends_the_process_ends_no_hook(fleet: Shell) -> None:
    """A model that is a plugin may call sys.exit; a model that hangs is ended with kb."""
    code = ("import kb.ops.models as m\n"
            "class Exits:\n    name='x'; needs_approval=False; fallback=False\n"
            "    def ask(self, *a): raise SystemExit(7)\n"
            "m._model = lambda *a: Exits()\n"
            "from kb.cli.main import main\nimport sys\nsys.exit(main(['boot', '.']))")
    fleet.write("fleet.txt", fleet.read("fleet.txt") + "classifier = x\n")
    done = subprocess.run([sys.executable, "-c", code], input=b"flush the pump", cwd=fleet.root, env=fleet.env, capture_output=True)
    assert done.returncode == 0 and b"routes to ada" in done.stdout


@pytest.mark.parametrize("session", ["a/b", "../../x", "a.b", "a\tb", " sp ace ", "é" * 300, "x" * 300, "-", "---", "latest-handoff",
                                     "capture", "🐘", "# h", "a: b", "CON"])
def test_a_session_keeps_its_own_handoff_whatever_its_id_is(fleet: Shell, session: str) -> None:
    fleet.kb("handoff", "save", "eva", "--session", "a_b", "--task", "another").ok()
    fleet.kb("handoff", "save", "ada", "--session", session, "--task", "ours").ok()
    assert "ours" in fleet.kb("handoff", "--session", session).ok().out
    fleet.kb("handoff", "claim", "ben", "--session", session).ok()
    assert "ours" in fleet.kb("boot", stdin=json.dumps({"prompt": "flush the pump", "session_id": session})).ok().out
    fleet.kb("handoff", "complete", "--session", session).ok()
    assert "another" in fleet.kb("handoff", "--session", "a_b").ok().out
    assert {path.parent.name for path in fleet.root.rglob("*.handoff.md")} == {"sessions"}


def test_a_gold_answer_that_the_scope_cannot_see_is_stale(secretive: Shell) -> None:
    secretive.write("gold.tsv", "zorbulon\tada/records/merger.md\n")
    assert "--all" in secretive.kb("eval", "gold.tsv").err
    assert secretive.kb("eval", "gold.tsv").code == 1
    secretive.kb("eval", "gold.tsv", "--all").ok()


@pytest.mark.parametrize("line", ["[" * 100_000, "{bad", "[]", '{"_id": 5}', '{"_id": "d1", "text": ["a"]}'])
def test_a_collection_that_is_no_collection_is_named_by_line(fleet: Shell, line: str) -> None:
    fleet.write("beir/corpus.jsonl", line + "\n")
    fleet.write("beir/queries.jsonl", '{"_id": "q1", "text": "pump"}\n')
    fleet.write("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    done = fleet.kb("eval", "beir")
    assert done.code == 2 and "beir/corpus.jsonl:1 " in done.err
    fleet.write("beir/corpus.jsonl", '{"_id": "d1", "title": "Pump", "text": "The pump is flushed."}\n')
    fleet.kb("eval", "beir").ok()


@pytest.mark.parametrize("document", ["fleet/ada/knowledge/pump.md", "fleet/ada/MAP.md", "fleet/ben/agent.txt", "fleet.txt", "link.md"])
def test_ingest_takes_no_file_out_of_the_library(fleet: Shell, document: str) -> None:
    stand_in(fleet, "promoter", proposal())
    stand_in(fleet, "reviewer", ACCEPT)
    (fleet.root / "link.md").symlink_to(fleet.root / "fleet/ada/knowledge/mower.md")
    before = fleet.read(document)
    done = fleet.kb("ingest", document, "--agent", "ben", env=TRUSTED)
    assert done.code == 1 and "already" in done.err + "already" * (document == "fleet.txt")
    assert fleet.read(document) == before
    assert not (fleet.root / "fleet/ben/inbox").exists()


def test_ingest_takes_a_document_from_the_deposit(fleet: Shell) -> None:
    stand_in(fleet, "promoter", proposal())
    stand_in(fleet, "reviewer", ACCEPT)
    fleet.write("fleet/ada/inbox/paper.md", "About the pump and its valve.\n")
    fleet.kb("ingest", "fleet/ada/inbox/paper.md", "--agent", "ada", env=TRUSTED).ok()
    assert (fleet.root / "fleet/ada/knowledge/night-freeze.md").exists()
