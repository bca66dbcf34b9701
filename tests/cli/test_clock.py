"""The clock at the ends of the calendar: a moment that UTC does not have is refused, and a year has four digits."""

from __future__ import annotations

import pytest

from tests.conftest import Shell

BEYOND = ("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00")
VERBS = ("route zonk", "handoff save ada --task t", "misroute m --chose ada --owner none", "history --since 7d", "session start")


@pytest.mark.parametrize("moment", BEYOND)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["KB_NOW", "MAJORDOMUS_NOW"])
def test_a_moment_that_utc_does_not_have_is_a_wrong_value(fleet: Shell, name: str, verb: str, moment: str) -> None:
    fleet.git("init", "-q")
    if name == "MAJORDOMUS_NOW" and not verb.startswith(("history", "session")):
        return
    run = fleet.kb(*verb.split(), env={"KB_NOW": "", name: moment})
    assert run.code == 2 and f"{name} is before the year 1 or after 9999 in UTC" in run.err and "bug" not in run.err


@pytest.mark.parametrize("moment", BEYOND)
def test_a_bound_that_utc_does_not_have_is_a_wrong_value_too(fleet: Shell, moment: str) -> None:
    fleet.git("init", "-q")
    run = fleet.kb("history", "--since", moment)
    assert run.code == 2 and "--since" in run.err and "bug" not in run.err


@pytest.mark.parametrize("moment", ["0001-01-01", "0033-01-01", "0999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_every_year_has_four_digits_and_every_verb_of_the_clock_works_in_it(fleet: Shell, moment: str) -> None:
    fleet.git("init", "-q")
    env = {"KB_NOW": moment}
    assert fleet.kb("route", "zonk", env=env).ok()
    for words in ("handoff save ada --task t", "misroute m --chose ada --owner none", "session start", "task start x --scope y",
                  "decision add x --why y", "question add q", "history --since 999999999d", "session close",
                  "knowledge status", "doctor", "history"):
        run = fleet.kb(*words.split(), env=env)
        assert run.code in (0, 10) and "bug" not in run.err, (words, run.err)
    day = moment[:10]
    assert f"1    {day} {day} zonk" in fleet.read("kb-misses.txt")
    [handoff] = fleet.root.glob(".kb/sessions/*.handoff.md")
    assert handoff.name.startswith(f"s-{day.replace('-', '')}-") and day in handoff.read_text()
    assert f'"ts":"{day}T' in fleet.read(".ai/local/state/ledger.jsonl")
    dated = [path for path in (fleet.root / ".ai").rglob("*.md") if day in path.read_text()]
    assert len(dated) >= 3, "decisions, questions and the record of the session"


def test_a_message_of_a_plugin_stays_harmless_in_the_log_of_boot(fleet: Shell) -> None:
    from tests.plugins.strangers import install

    source = '''
from kb.api import Scorer, hookimpl

def rank(library, query):
    raise SystemExit("\\x1b[2Jx")

@hookimpl
def kb_scorers():
    return [Scorer("odd", ("mine",), rank, lambda library: 1.0)]
'''
    install(fleet, "stranger", {"odd": source}, {"z-odd": "odd"})
    run = fleet.kb("boot", stdin="pump", env={"KB_SCORERS": "mine"})
    assert (run.code, run.out) == (0, "")
    assert "\x1b" not in fleet.read(".kb/boot.log") and "\\x1b" in fleet.read(".kb/boot.log")
