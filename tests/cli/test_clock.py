"""The clock at the ends of the calendar: a moment that UTC does not have is refused, and a year has four digits."""

from __future__ import annotations

import pytest

from tests.conftest import Shell

BEYOND = ("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00")


@pytest.mark.parametrize("moment", BEYOND)
@pytest.mark.parametrize("verb", ["route zonk", "handoff save ada --task t", "misroute m --chose ada --owner none"])
def test_a_moment_that_utc_does_not_have_is_a_wrong_value(fleet: Shell, verb: str, moment: str) -> None:
    run = fleet.kb(*verb.split(), env={"KB_NOW": moment})
    assert run.code == 2 and "KB_NOW is before the year 1 or after 9999 in UTC" in run.err and "bug" not in run.err


@pytest.mark.parametrize("moment", ["0001-01-01", "0033-01-01", "0999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_every_year_has_four_digits(fleet: Shell, moment: str) -> None:
    env = {"KB_NOW": moment}
    for words in ("route zonk", "handoff save ada --task t", "misroute m --chose ada --owner none"):
        fleet.kb(*words.split(), env=env).ok()
    day = moment[:10]
    assert f"1    {day} {day} zonk" in fleet.read("kb-misses.txt")
    [handoff] = fleet.root.glob(".kb/sessions/*.handoff.md")
    assert handoff.name.startswith(f"s-{day.replace('-', '')}-") and day in handoff.read_text()


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
