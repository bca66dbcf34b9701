"""The graph: compiled on every call, judged by who stated what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_plugins.lifecycle.links import links, path_of_link
from tests.lifecycle.yard import CURATED, RECORD, Yard


def findings(yard: Yard) -> list[tuple[str, str]]:
    said = yard("knowledge", "validate", "--json").json()
    return [(row["code"], row["owner"]) for row in said["findings"]]


def edges(yard: Yard, *words: str) -> set[tuple[str, str, str]]:
    said: Any = yard("knowledge", "edges", "--json", *words).json()
    return {(row["from"], row["type"], row["to"]) for row in said["edges"]}


def test_structured_fields_become_edges_and_their_breaks_are_owned(yard: Yard) -> None:
    yard.write(".ai/repo/rules/a.md", "---\nid: a\nkind: rule\ntitle: A\ndepends_on: [b@2]\n---\n# A\n")
    yard.write(".ai/repo/rules/b.md", "---\nid: b\nkind: rule\ntitle: B\n---\n# B\n")
    yard.write(".ai/repo/adrs/1.md", "---\nid: \"1\"\ntitle: One\nrelated: [rule:a, file:README.md]\n---\n# One\n")
    yard.write(".ai/repo/project/milestones/m.yaml", "id: M1\ntitle: M\nclaims: [c1]\n")
    yard.write(".ai/repo/project/issues/i.yaml", "id: I1\ntitle: I\nmilestone: M1\ndepends_on: [I2]\n")
    yard.write("docs/CLAIMS.yaml", "claims:\n  - id: c1\n    claim: it holds\n    source: README.md\n    test: tests/no.py\n"
                                   "    implementation: \"-\"\n")
    yard.commit("all", ".ai/repo", "docs")
    assert edges(yard) >= {
        ("rule:a", "depends_on", "rule:b"), ("adr:1", "declares", "rule:a"),
        ("adr:1", "references", "document:README.md"), ("issue:I1", "part_of", "milestone:M1"),
        ("milestone:M1", "declares", "claim:c1"), ("claim:c1", "specified_by", "document:README.md")}
    assert sorted(findings(yard)) == [("dangling_edge", "owned"), ("missing_target", "owned")]
    assert yard("knowledge", "validate").code == 10 and yard("knowledge", "nodes").code == 10


def test_two_sources_of_one_id_are_an_owned_failure(yard: Yard) -> None:
    for name in ("a", "b"):
        yard.write(f".ai/repo/rules/{name}.md", "---\nid: same\n---\n# Same\n")
    yard.commit("rules", ".ai/repo")
    assert findings(yard) == [("duplicate_id", "owned")] and yard("knowledge", "validate", "--json").code == 10


def test_a_tracked_source_that_the_tree_lost_is_drift_and_never_a_failure_of_validate(yard: Yard) -> None:
    yard.write("docs/a.md", "# A\n")
    yard.commit("a", "docs")
    (yard.root / "docs/a.md").unlink()
    assert findings(yard) == [("source_missing", "tree")]
    yard("knowledge", "validate").ok()
    assert yard("watch").code == 11 and yard("doctor").code == 0
    assert "docs/a.md" not in yard("knowledge", "sources").ok().out


def test_references_of_records_are_edges_whether_they_end_in_a_node_or_not(yard: Yard) -> None:
    relation = "relations:\n  - type: documents\n    target: rule:naming\n  - type: supports\n    target: knowledge:absent\n"
    text = RECORD.replace("    - file:README.md\n", "    - file:README.md\n    - file:data.bin\n    - session:s-1\n")
    yard.write(f"{CURATED}/coil-cables.md", text.replace("provenance:", relation + "provenance:"))
    yard.write(".ai/repo/rules/naming.md", "---\nid: naming\n---\n# N\n")
    yard.write("data.bin", "x")
    yard.commit("record", ".ai/repo", "data.bin")
    name = "knowledge:coil-cables"
    assert edges(yard, "--type", "derived_from") == {
        (name, "derived_from", "document:README.md"), (name, "derived_from", "file:data.bin"),
        (name, "derived_from", "session:s-1")}
    assert (name, "documents", "rule:naming") in edges(yard)
    assert findings(yard) == [("dangling_edge", "owned")]


def test_a_record_that_fails_its_schema_is_refused_by_the_index(yard: Yard) -> None:
    yard.write(f"{CURATED}/coil-cables.md", RECORD.replace("class: convention", "class: rule"))
    yard.commit("record", ".ai/repo")
    assert findings(yard) == [("refused_source", "schema")]
    yard("knowledge", "validate").ok()


@pytest.mark.parametrize(("text", "code"), [
    ("version: 2\nsources: []\n", 10), ("version: 1\nsources:\n  - id: x\n", 10), ("version: 1\n\tsources: []\n", 10),
    ("version: 1\nsources:\n  - id: x\n    kind: rule\n    discovery: web\n    pathspec: y\n", 13)])
def test_a_declaration_that_does_not_hold_is_refused(yard: Yard, text: str, code: int) -> None:
    yard.write(".ai/repo/knowledge/sources.yaml", text)
    assert yard("knowledge", "sources").code == code


def test_an_unknown_kind_and_an_empty_required_class_are_warnings(yard: Yard) -> None:
    yard.write(".ai/repo/knowledge/sources.yaml",
               "version: 1\nsources:\n  - id: odd\n    kind: gadget\n    discovery: vcs\n    pathspec: README.md\n"
               "  - id: need\n    kind: rule\n    discovery: vcs\n    pathspec: \":(glob)none/*.md\"\n    required: true\n")
    assert {code for code, _ in findings(yard)} == {"unknown_kind", "empty_source"}
    assert "WARN the required class need" in yard("knowledge", "sources").ok().out
    assert yard("knowledge", "nodes", "--kind", "unknown", "--json").ok().json()["nodes"][0]["id"] == "unknown:README.md"


def test_decisions_and_questions_of_the_local_state_are_operational_nodes(yard: Yard) -> None:
    yard.start()
    yard("start", "Mend", "--scope", "src").ok()
    yard("decision", "add", "Oil on Mondays", "--why", "x").ok()
    yard("question", "add", "Hemp or wire?").ok()
    said = yard("knowledge", "nodes", "--scope", "operational", "--json").ok().json()
    assert {node["id"] for node in said["nodes"]} == {"decision:Oil on Mondays", "question:Hemp or wire?"}
    assert yard("knowledge", "nodes", "--scope", "somewhere").code == 2


def test_links_in_code_are_examples_and_targets_are_resolved_from_the_document() -> None:
    text = "[a](b.md) ![i](i.png) `[c](d.md)`\n```\n[e](f.md)\n```\n[g](<h i.md> \"t\") [j](k(1).md#x)\n"
    assert links(text) == [(1, "b.md"), (5, "h i.md"), (5, "k(1).md#x")]
    assert [path_of_link("docs/a.md", t) for t in ("b.md", "../c.md#x", "../../d", "/e", "https://x", "#f", "g%20h.md")] == [
        "docs/b.md", "c.md", None, None, None, None, "docs/g h.md"]


@given(st.text(max_size=200))
def test_any_text_has_links_or_none_in_bounded_time(text: str) -> None:
    assert all(0 < line <= text.count("\n") + 1 for line, _ in links(text))
