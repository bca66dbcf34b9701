"""Which files a reply cites."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.citations import citations, cited, compare
from kb.core.prompts import facts_of

SERVED = ["ada/knowledge/pump.md", "ada/a b (2).md", "ação/nota.md"]


@pytest.mark.parametrize(("reply", "found"), [
    ("It is so (ada/knowledge/pump.md).", ["ada/knowledge/pump.md"]),
    ("It is so (ada/knowledge/pump.md, bo/x.md; bo/y.md).", ["ada/knowledge/pump.md", "bo/x.md", "bo/y.md"]),
    ("See [the note](bo/x.md#part) and `bo/y.md`, **bo/z.md**.", ["bo/x.md", "bo/y.md", "bo/z.md"]),
    ("In angles (<bo/a b (1).md>).", ["bo/a b (1).md"]),
    ("Served with blanks (ada/a b (2).md).", ["ada/a b (2).md"]),
    ("Decomposed " + unicodedata.normalize("NFD", "(ação/nota.md)"), ["ação/nota.md"]),
    ("Not a citation: https://example.org/a/b.md, README.md, and/or.", []),
    ("(./bo/x.md) (bo/x.md)", ["bo/x.md"]),
    ("ada/knowledge/pump.mdx and xada/knowledge/pump.md", ["xada/knowledge/pump.md"]),
])
def test_cited_paths_are_found_however_they_are_written(reply, found):
    assert sorted(citations(reply, SERVED)) == sorted(found)


def test_a_reply_is_compared_with_what_was_served():
    assert compare("(ada/knowledge/pump.md) (bo/ghost.md)", SERVED) == (["bo/ghost.md"], SERVED[1:])


HELD = ["Flush it.\nThe  list of valves is in ben/valves.md and (ben/old.md).", "- ben/index.md\n- see ben/b c.md"]


@pytest.mark.parametrize(("reply", "unserved"), [
    ("“The list of valves is in ben/valves.md and (ben/old.md).” (ada/knowledge/pump.md)", []),
    ("“ben/index.md” (ada/knowledge/pump.md)", []),
    ("The list of valves is in ben/valves.md. (ada/knowledge/pump.md)", []),
    ("“valves is in ben/valves.md and …” (ada/knowledge/pump.md)", []),
    ("Flush it (ben/valves.md).", ["ben/valves.md"]),
    ("“Flush it.” (ben/old.md)", ["ben/old.md"]),
    ("(ben/index.md)", ["ben/index.md"]),
    ("See ./ben/index.md", ["ben/index.md"]),
    ("“The list of valves is in ben/valves.md and” (ben/valves.md)", ["ben/valves.md"]),
    ("“The list of boats is in ben/boats.md.” (ada/knowledge/pump.md)", ["ben/boats.md"]),
])
def test_a_path_that_is_quoted_from_what_was_served_is_no_citation(reply, unserved):
    assert compare(reply, SERVED, HELD)[0] == unserved


@pytest.mark.parametrize(("reply", "facts"), [
    ("FILE a/b.md: no relevant mention", []), ("**file a/b.md**: facts below\n- six (a/b.md)", ["- six (a/b.md)"]), ("- six", ["- six"]),
    ("I cannot do that.", None), ("", None), ("Reached max turns (1)", None), ("profile: none", None), ("FILE", None)])
def test_a_reply_of_a_batch_has_facts_or_verdicts_or_is_none(reply, facts):
    assert facts_of(reply) == facts


def test_a_path_with_blanks_or_parentheses_is_cited_in_angle_brackets():
    assert [cited(path) for path in SERVED] == ["ada/knowledge/pump.md", "<ada/a b (2).md>", "ação/nota.md"]


@given(st.lists(st.text("ab (é-_.", min_size=1, max_size=8).map(lambda s: f"base/{s}.md"), unique=True, max_size=4))
def test_what_is_cited_as_it_is_shown_counts_as_cited(paths):
    reply = " ".join(f"A claim ({cited(path)})." for path in paths)
    assert compare(reply, paths)[1] == []


@given(st.text(max_size=300))
def test_no_reply_is_too_strange(reply):
    citations(reply, SERVED)
    compare(reply, SERVED, [reply])
    facts_of(reply)
