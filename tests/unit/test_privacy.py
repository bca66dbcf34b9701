"""The private layer: declarations, and how a bad one closes."""

from __future__ import annotations

import pytest

from kb.core.manifest import parse_manifest
from kb.core.privacy import parse_private


@pytest.mark.parametrize(("card", "hidden", "shown"), [
    (None, ["profile/a.md", "projects/b/c.md", "records"], ["profiles/a.md", "knowledge/profile/a.md"]),
    ("private = drafts/, records # two", ["drafts/x.md", "records/y.md"], ["profile/a.md", "drafts-old/x.md"]),
    ("private = ./drafts", ["drafts/x.md"], ["a.md"]),
    ("private = /drafts/", ["drafts/x.md"], ["a.md"]),
    ("private = deep\\er", ["deep/er/x.md"], ["deep/x.md"]),
    ("private = .", ["a.md"], []),
    ("private =", ["a.md"], []),
    ("private = ., x", ["a.md", "x/y.md"], []),
    ("private = ../other", ["a.md"], []),
    ("private = a\nprivate = b", ["a/x.md", "b/x.md"], ["c.md"]),
    ("private = a\nprivate = .", ["c.md"], []),
    ("name = x\rprivate = a\r", ["a/x.md"], ["c.md"]),
    ("Private = a", ["a/x.md"], ["c.md"]),
    ("private: a", ["c.md"], []),
    ("private", ["c.md"], []),
    ("private = dra*", ["c.md"], []),
    ("privateer = a", ["records/x.md"], ["a/x.md"]),
    ("# private: a", ["records/x.md"], ["a/x.md"]),
    ('private = "drafts"', ["drafts/x.md"], ["a.md"]),
    ("private = 'drafts', `b`/", ["a.md"], []),
    ('private = "x#y", drafts # why', ["x#y/a.md", "drafts/a.md"], ["a.md"]),
    ('private = "x # y", drafts', ["a.md"], []),
    ('private = "."', ["a.md"], []),
    ("private = drafts; profile", ["a.md"], []),
    ("private = drafts profile", ["a.md"], []),
    ("private = 'drafts", ["a.md"], []),
    ("private = drafts\u3001profile", ["a.md"], []),
    ("PRivate drafts", ["a.md"], []),
    ("private = yes", ["a.md"], []),
    ("private = drafts-2.0_old, \u00e9t\u00e9", ["drafts-2.0_old/x.md", "\u00e9t\u00e9/x.md"], ["a.md"]),
])
def test_a_declaration_hides_what_it_names(card: str | None, hidden: list[str], shown: list[str]) -> None:
    privacy = parse_private(card, "bo")
    assert [path for path in hidden if not privacy.covers(path)] == []
    assert [path for path in shown if privacy.covers(path)] == []


@pytest.mark.parametrize("card", ["private =", "private = ., x", "private = ./x", "private = /x", "private = ../x", "private: x", "private",
                                  "private = a\nprivate = b", "private = x*"])
def test_a_declaration_that_is_not_taken_at_its_word_warns(card: str) -> None:
    assert parse_private(card, "bo").warning


@pytest.mark.parametrize("name", ["person", "Person", "PERSON"])
def test_the_persons_base_is_private_whatever_it_declares(name: str) -> None:
    assert parse_private("private = x", name).covers("a.md")


def test_a_name_that_reads_like_a_list_is_taken_at_its_word_where_the_base_has_it() -> None:
    privacy = parse_private("private = my drafts, b", "bo", exists=lambda folder: folder == "my drafts")
    assert (privacy.whole, privacy.folders, privacy.warning) == (False, ("my drafts", "b"), None)


def test_a_card_that_cannot_be_read_closes_the_base() -> None:
    assert parse_private("", "bo", readable=False).whole


def test_a_hash_inside_quotes_is_no_comment() -> None:
    manifest = parse_manifest('answerer = run "a # b" --x # why\nname = It\'s ours # ours\nattach = a\nattach = b\nempty =\nno line\n')
    assert manifest.last("answerer") == 'run "a # b" --x'
    assert (manifest.last("name"), manifest.all("attach"), manifest.last("empty")) == ("It's ours", ("a", "b"), None)
