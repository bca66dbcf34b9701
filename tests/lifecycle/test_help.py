"""The help of the lifecycle's verbs: their own exit codes, what is required, and JSON of more than one line."""

from __future__ import annotations

import re

import pytest

from tests.conftest import Shell


@pytest.mark.parametrize("words", ["knowledge observe", "knowledge reject", "task start", "task finish", "decision add"])
def test_a_required_option_is_marked(sh: Shell, words: str) -> None:
    assert sh.kb(*words.split()).code == 2
    assert "[required]" in sh.kb(*words.split(), "--help").ok().out


@pytest.mark.parametrize("verb", ("knowledge", "session", "task", "decision", "question", "history", "context", "doctor", "watch"))
def test_a_verb_with_exit_codes_of_its_own_names_them(sh: Shell, verb: str) -> None:
    text = sh.kb(verb, "--help").ok().out
    assert re.search(r"Exit codes: 0 .*\b10\b.*\b11\b.*\b12\b.*\b13\b.*\b15\b", text, re.S)


@pytest.mark.parametrize("verb", ["doctor", "watch"])
def test_json_that_is_more_than_a_line_says_so(sh: Shell, verb: str) -> None:
    sh.git("init", "-q", "-b", "main")
    sh.git("commit", "-q", "--allow-empty", "-m", "begin")
    assert "one line of JSON" not in sh.kb(verb, "--help").ok().out
    assert len(sh.kb(verb, "--json").ok().out.splitlines()) > 1
