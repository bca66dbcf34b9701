"""Misses read back, the alias that needs no model, and the gate that measures before it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kb.app import App, open_app
from kb.core.aliases import Proposal, obvious_fault, parse_proposals
from kb.core.logrows import ALIAS_REJECTIONS
from kb.core.values import Base
from kb.ops import alias_gate
from kb.ops.alias_gate import Gold, Judged, apply_aliases
from kb.ops.ask import ask, record_miss
from kb.ops.gold import Question, questions, read_gold
from kb.ops.index import index
from kb.ops.misses import misses
from kb.store import textside
from kb.store.logs import log_path, read_log
from tests.conftest import Shell, note

GOLD = "pump\tada/knowledge/pump.md\nbeans\teva/knowledge/beans.md\nletter\tben/knowledge/letters.md\nzeppelin\t-\n"


@pytest.fixture
def orchard(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The fleet, indexed, asked in this process under the classic scorers and a fixed clock."""
    for name in ("KB_NOW", "KB_SCORERS", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, fleet.env[name])
    monkeypatch.setenv("KB_TRUST", "1")
    index(opened(fleet))
    return fleet


def opened(sh: Shell, include_private: bool = False) -> App:
    return open_app([str(sh.root)], include_private)


def miss(sh: Shell, *asked: str) -> None:
    app = opened(sh)
    for question in asked:
        assert record_miss(app, ask(app, question)) is not None


def gold(app: App, sh: Shell, text: str = GOLD) -> list[Question]:
    return questions(app, read_gold(str(sh.write("gold.tsv", text))))


def applied(sh: Shell, text: str = GOLD, top: int = 5) -> list[Judged]:
    app = opened(sh)
    return list(apply_aliases(app, misses(app, top), gold(app, sh, text), top))


def aliases(sh: Shell, base: str = "ada") -> list[str]:
    path = sh.root / f"fleet/{base}/kb-aliases.txt"
    return [line for line in path.read_text().splitlines() if "=" in line and not line.startswith("#")] if path.exists() else []


def promote(sh: Shell, *lines: str) -> None:
    """A promoter that answers every question with the same lines."""
    sh.write("fleet.txt", "name = Orchard\npromoter = tools/propose.sh\n")
    sh.script("tools/propose.sh", "cat > /dev/null\n" + "".join(f"printf '%b\\n' '{line}'\n" for line in lines))


def test_the_rarest_word_that_no_key_holds_leads_to_the_key_that_puts_the_file_first(orchard: Shell) -> None:
    orchard.write("fleet/ben/knowledge/gates.md", "# Gates\n\n**Search for:** gate\n\nThe motor of the gate and a seal are new.\n")
    index(opened(orchard))
    miss(orchard, "which seal is cracked on the motor")
    (lost,) = misses(opened(orchard)).lost
    assert lost.near[0].path == "knowledge/pump.md" and lost.near[0].keyword_score == 0
    assert lost.proposal is not None
    assert (lost.proposal.base, lost.proposal.alias) == ("ada", "cracked")  # one passage; seal and motor are in two
    assert lost.proposal.canonical in lost.near[0].keys and "cracked" in lost.proposal.why


def test_without_a_near_file_or_an_index_nothing_is_proposed(fleet: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_NOW", "KB_SCORERS", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, fleet.env[name])
    miss(fleet, "cracked seal", "zeppelin")
    report = misses(opened(fleet))
    assert [(lost.near, lost.proposal) for lost in report.lost] == [((), None), ((), None)]
    assert any("index" in line for line in report.skipped)


def test_a_private_file_is_near_only_with_all(orchard: Shell) -> None:
    orchard.write("fleet/person/river.md", "# River\n\n**Search for:** boat\n\nThe kingfisher nests by the weir.\n")
    index(opened(orchard, include_private=True))
    miss(orchard, "kingfisher")
    assert misses(opened(orchard)).lost[0].near == ()
    assert misses(opened(orchard, include_private=True)).lost[0].near[0].path == "river.md"


def test_reading_the_log_writes_nothing(orchard: Shell) -> None:
    miss(orchard, "cracked seal")
    before = {path: path.read_bytes() for path in orchard.root.rglob("*") if path.is_file()}
    misses(opened(orchard))
    assert {path: path.read_bytes() for path in orchard.root.rglob("*") if path.is_file()} == before


def test_what_helps_and_costs_nothing_is_written_with_its_measurements(orchard: Shell) -> None:
    miss(orchard, "cracked", "cracked")
    (judged,) = applied(orchard)
    (outcome,) = judged.outcomes
    assert outcome.path == str(orchard.root / "fleet/ada/kb-aliases.txt") and not outcome.reason
    assert aliases(orchard) == [outcome.proposal.line]
    text = orchard.read("fleet/ada/kb-aliases.txt")
    assert "asked 2 times: cracked" in text and text.count("file 3 agent 3 answered-when-should-decline 0") == 2
    assert ask(opened(orchard), "cracked").verdict == "hit"
    assert applied(orchard)[0].answered and aliases(orchard) == [outcome.proposal.line]


@pytest.mark.parametrize(("line", "extra", "reason"), [
    ("ben\\tgizmo\\tgreeting salutation members", "gizmo pump\tada/knowledge/pump.md\n", "costs elsewhere"),
    ("ben\\tgizmo\\tletter", "gizmo zeppelin\t-\n", "costs elsewhere"),
    ("ada\\tzeppelin\\tpump", "", "still find nothing"),
    ("nobody\\tgizmo\\tpump", "", "no base called nobody"),
], ids=["a right file is lost", "a declined question is answered", "it does not fire", "no such base"])
def test_what_costs_something_or_does_not_help_is_refused_and_counted(orchard: Shell, line: str, extra: str,
                                                                      reason: str) -> None:
    miss(orchard, "gizmo oak")
    promote(orchard, line)
    outcomes = {outcome.proposal.line: outcome for outcome in applied(orchard, GOLD + extra)[0].outcomes}
    refused = outcomes[line.split("\\t", 1)[1].replace("\\t", " = ")]
    assert not refused.path and reason in refused.reason
    rows = read_log(log_path(str(orchard.root), ALIAS_REJECTIONS), ALIAS_REJECTIONS).rows
    assert [(row.times, row.line) for row in rows if row.line == refused.proposal.line] == [(1, refused.proposal.line)]
    assert refused.proposal.line not in aliases(orchard) + aliases(orchard, "ben")


def test_a_left_side_that_is_there_already_is_refused(orchard: Shell) -> None:
    orchard.write("fleet/ada/kb-aliases.txt", "Oak = zeppelin\r\n")
    miss(orchard, "gizmo oak")
    promote(orchard, "ada\\toak\\tpump")
    (outcome,) = applied(orchard)[0].outcomes
    assert "already" in outcome.reason
    assert "oak = pump" not in orchard.read("fleet/ada/kb-aliases.txt")


def test_an_alias_file_keeps_its_line_ends_and_its_missing_last_one(orchard: Shell) -> None:
    orchard.write("fleet/ada/kb-aliases.txt", "frost = beans\r\nhose = pump")
    miss(orchard, "cracked")
    assert applied(orchard)[0].outcomes[0].path
    data = (orchard.root / "fleet/ada/kb-aliases.txt").read_bytes()
    assert data.startswith(b"frost = beans\r\nhose = pump\r\n") and data.count(b"\n") == data.count(b"\r\n")
    assert len(aliases(orchard)) == 3


def test_only_the_most_asked_are_judged_and_each_sees_what_was_written_before(orchard: Shell) -> None:
    miss(orchard, "cracked", "cracked", "cracked seal", "zeppelin")
    judged = applied(orchard, top=2)
    assert [(one.question, one.answered, [bool(outcome.path) for outcome in one.outcomes]) for one in judged] == [
        ("cracked", False, [True]), ("cracked seal", False, [False])]
    assert "no longer missed" in judged[1].outcomes[0].reason


@pytest.mark.parametrize(("lines", "counts"), [((), (0, 1, 0)), (("NONE",), (1, 0, 0)), (("only words", "a\\tb\\tb"), (0, 0, 2))],
                         ids=["silent", "declined", "unparseable"])
def test_a_promoter_that_has_nothing_to_say_is_counted(orchard: Shell, lines: Sequence[str], counts: tuple[int, int, int]) -> None:
    miss(orchard, "zeppelin")
    promote(orchard, *lines)
    (judged,) = applied(orchard)
    assert (judged.declined, judged.silent, judged.dropped) == counts and not judged.outcomes


@pytest.mark.parametrize(("proposal", "fault"), [
    (Proposal("a", "one", "two"), None), (Proposal("a", " ", "two"), "empty"), (Proposal("a", "one#", "two"), "="),
    (Proposal("a", "one = x", "two"), "="), (Proposal("a", "one\ntwo", "three"), "control"), (Proposal("", "one", "two"), "base"),
    (Proposal("a", "One", "ONE"), "same"), (Proposal("a", "caf\u00e9", "cafe"), "same"), (Proposal("a", "the", "two"), "counts")])
def test_a_line_that_would_not_read_back_is_refused_before_it_is_measured(proposal: Proposal, fault: str | None) -> None:
    found = obvious_fault(proposal)
    assert found is None if fault is None else found is not None and fault in found


def test_at_most_three_lines_of_a_reply_are_kept() -> None:
    reply = parse_proposals("\n".join(f"ada\tword{number}\tpump" for number in range(5)) + "\nHere you go!\n")
    assert (len(reply.proposals), reply.dropped, reply.declined) == (3, 1, False)
    assert parse_proposals(" none.\n").declined


def test_a_gold_row_is_ranked_again_only_when_an_alias_changes_its_words(orchard: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(orchard, include_private=True)
    rows = gold(app, orchard)
    measured = Gold(app, rows)
    before = measured.score(app.catalogue, keep=True)
    asked: list[str] = []
    plain = measured._marks
    monkeypatch.setattr(measured, "_marks", lambda library, query, row: asked.append(row.text) or plain(library, query, row))
    assert measured.score(app.catalogue.with_alias("ada", "beans", "pump")) != before
    assert asked == ["beans"]
    assert alias_gate.Score(*before) == (3, 3, 0)


def test_the_log_may_lie_elsewhere(orchard: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KB_MISSES_PATH", str(tmp_path / "shared.txt"))
    miss(orchard, "zeppelin")
    report = misses(opened(orchard))
    assert report.log == str(tmp_path / "shared.txt") and report.exists and report.asks == 1


# -- what is private ---------------------------------------------------------------------------------------------------


@pytest.fixture
def secret(orchard: Shell) -> Shell:
    """The orchard, with a private note whose key no public file declares and whose text holds the missed word."""
    orchard.write("fleet/ada/profile/palace.md", note("Palace", "xanadu, pump", "say where.", "## A\n\nWolfgang built it."))
    index(opened(orchard, include_private=True))
    return orchard


@pytest.mark.parametrize("proposal", [
    Proposal("ada", "wolfgang", "xanadu"), Proposal("ada", "wolfgang", "the Xanadu valve"),
    Proposal("ada", "wolfgang", "pump", near="profile/palace.md"),
])
def test_no_private_key_goes_into_a_public_alias_file_or_into_the_log_of_refusals(
        secret: Shell, monkeypatch: pytest.MonkeyPatch, proposal: Proposal) -> None:
    miss(secret, "wolfgang")
    app = opened(secret, include_private=True)
    report = misses(app)
    lost = tuple(one._replace(verdict="nothing", proposal=proposal) for one in report.lost)
    (judged,) = apply_aliases(app, report._replace(lost=lost), gold(app, secret), 5)
    assert "private layer" in judged.outcomes[0].reason and aliases(secret) == []
    log = secret.root / ALIAS_REJECTIONS.file
    assert not log.exists() or "xanadu" not in log.read_text().lower()


def test_what_a_base_inside_its_base_keeps_private_goes_into_no_alias_file_either(orchard: Shell) -> None:
    orchard.write("fleet/ada/sub/agent.txt", "private = hidden\n")
    orchard.write("fleet/ada/sub/hidden/palace.md", note("Palace", "xanadu", "say where.", "## A\n\nWolfgang built it."))
    index(opened(orchard, include_private=True))
    miss(orchard, "wolfgang")
    app = opened(orchard, include_private=True)
    report = misses(app)
    for proposal in (Proposal("ada", "wolfgang", "xanadu"), Proposal("ada", "wolfgang", "pump", near="sub/hidden/palace.md")):
        lost = tuple(one._replace(verdict="nothing", proposal=proposal) for one in report.lost)
        (judged,) = apply_aliases(app, report._replace(lost=lost), gold(app, orchard), 5)
        assert "private layer" in judged.outcomes[0].reason and aliases(orchard) == []


def test_a_run_with_all_proposes_what_is_private_to_who_asks_and_writes_it_nowhere(secret: Shell) -> None:
    miss(secret, "wolfgang")
    app = opened(secret, include_private=True)
    list(apply_aliases(app, misses(app), gold(app, secret), 5))
    written = "".join(path.read_text() for path in secret.root.rglob("kb-alias*.txt"))
    assert "xanadu" not in written.lower()


def test_a_base_that_is_private_as_a_whole_keeps_its_own_aliases(orchard: Shell) -> None:
    orchard.write("fleet/person/harp.md", note("Harp", "xanadu", "say where.", "## A\n\nWolfgang built it."))
    index(opened(orchard, include_private=True))
    miss(orchard, "wolfgang")
    app = opened(orchard, include_private=True)
    report = misses(app)
    lost = tuple(one._replace(verdict="nothing", proposal=Proposal("person", "wolfgang", "xanadu", near="harp.md"))
                 for one in report.lost)
    (judged,) = apply_aliases(app, report._replace(lost=lost), gold(app, orchard), 5)
    assert (judged.outcomes[0].reason, aliases(orchard, "person")) == ("", ["wolfgang = xanadu"])


def test_one_run_opens_the_indexes_once_and_each_question_is_told(orchard: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    miss(orchard, "zeppelin sealing", "quagga sealing", "walrus sealing")
    opened_at: list[str] = []
    real = textside.TextSide._open

    def counting(self: textside.TextSide, base: Base, scope: textside.AllowedFiles) -> object:
        opened_at.append(base.name)
        return real(self, base, scope)

    monkeypatch.setattr(textside.TextSide, "_open", counting)
    ticks: list[tuple[int, int]] = []
    report = misses(opened(orchard), tick=lambda done, total: ticks.append((done, total)))
    assert len(report.lost) == 3 and sorted(opened_at) == sorted(set(opened_at))
    assert ticks == [(1, 3), (2, 3), (3, 3)]
