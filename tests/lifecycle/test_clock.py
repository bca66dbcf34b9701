"""The clock of the lifecycle at the ends of the calendar: a moment that UTC does not have is refused, and a year has four digits."""

from __future__ import annotations

import pytest

from tests.conftest import Shell

BEYOND = ("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00")


@pytest.fixture
def repository(fleet: Shell) -> Shell:
    fleet.git("init", "-q")
    return fleet


@pytest.mark.parametrize("moment", BEYOND)
@pytest.mark.parametrize("verb", ["history --since 7d", "session start"])
@pytest.mark.parametrize("name", ["KB_NOW", "MAJORDOMUS_NOW"])
def test_a_moment_that_utc_does_not_have_is_a_wrong_value(repository: Shell, name: str, verb: str, moment: str) -> None:
    run = repository.kb(*verb.split(), env={"KB_NOW": "", name: moment})
    assert run.code == 2 and f"{name} is before the year 1 or after 9999 in UTC" in run.err and "bug" not in run.err


@pytest.mark.parametrize("moment", BEYOND)
def test_a_bound_that_utc_does_not_have_is_a_wrong_value_too(repository: Shell, moment: str) -> None:
    run = repository.kb("history", "--since", moment)
    assert run.code == 2 and "--since" in run.err and "bug" not in run.err


@pytest.mark.parametrize("moment", ["0001-01-01", "0033-01-01", "0999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
def test_every_year_has_four_digits_and_every_verb_works_in_it(repository: Shell, moment: str) -> None:
    for words in ("session start", "task start x --scope y", "decision add x --why y", "question add q",
                  "history --since 999999999d", "session close", "knowledge status", "doctor", "history"):
        run = repository.kb(*words.split(), env={"KB_NOW": moment})
        assert run.code in (0, 10) and "bug" not in run.err, (words, run.err)
    day = moment[:10]
    assert f'"ts":"{day}T' in repository.read(".ai/local/state/ledger.jsonl")
    dated = [path for path in (repository.root / ".ai").rglob("*.md") if day in path.read_text()]
    assert len(dated) >= 3, "decisions, questions and the record of the session"
