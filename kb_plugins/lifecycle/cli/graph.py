"""`knowledge sources|nodes|edges|validate`: the graph, compiled on every call."""

from __future__ import annotations

import click

from kb_plugins.lifecycle.cli.frame import as_json, leave, option, show, show_json, world
from kb_plugins.lifecycle.exits import INVALID
from kb_plugins.lifecycle.graph import EDGE_TYPES, Finding, compile_graph
from kb_plugins.lifecycle.sources import SCOPES, discover

_scope = option("--scope", type=click.Choice(SCOPES), default="all", help="shared, operational or all.")


@click.command()
@_scope
@as_json()
def sources(scope: str, json_: bool) -> None:
    """List the files that the graph is compiled from, with a hash of each."""
    disk, _ = world()
    found, empty = discover(disk, scope)
    there = [source for source in found if source.data is not None]
    if json_:
        show_json({"schema": 1, "scope": scope, "sources": [
            {"class": s.klass.id, "scope": s.klass.scope, "kind": s.klass.kind, "hash": s.hash, "path": s.path}
            for s in there], "empty_required": [klass.id for klass in empty]})
        return
    show(f"{s.klass.id:<11} {s.klass.scope:<11} {s.klass.kind:<10} {s.hash[:12]}  {s.path}" for s in there)
    show(f"WARN the required class {klass.id} found no file ({klass.pathspec})" for klass in empty)
    show(f"knowledge sources: {len(there)} file(s) in scope {scope}")


@click.command()
@_scope
@option("--kind", metavar="KIND", help="Only nodes of this kind.")
@as_json()
def nodes(scope: str, kind: str | None, json_: bool) -> None:
    """List one node per object."""
    disk, _ = world()
    graph = compile_graph(disk, scope)
    found = sorted((node for node in graph.nodes.values() if kind in (None, node.kind)), key=lambda node: node.id)
    if json_:
        show_json({"schema": 1, "scope": scope, "nodes": [
            {"id": n.id, "kind": n.kind, "scope": n.scope, "source": n.source, "hash": n.hash, "title": n.title}
            for n in found], "findings": [finding.shown() for finding in graph.findings]})
    else:
        show(f"{n.kind:<11} {n.scope:<11} {n.hash[:12]}  {n.id:<52} {n.title}" for n in found)
        show(f"knowledge nodes: {len(found)} in scope {scope}" + (f", kind {kind}" if kind else ""))
        show(_line(finding) for finding in graph.findings)
    if graph.failing:
        leave(INVALID)


@click.command()
@_scope
@option("--type", "type_", type=click.Choice(sorted(EDGE_TYPES)), metavar="TYPE", help="Only edges of this type.")
@as_json()
def edges(scope: str, type_: str | None, json_: bool) -> None:
    """List the typed edges, and where each is stated."""
    disk, _ = world()
    graph = compile_graph(disk, scope)
    found = sorted(edge for edge in graph.edges.values() if type_ in (None, edge.type))
    if json_:
        show_json({"schema": 1, "scope": scope, "edges": [
            {"from": e.source, "to": e.target, "type": e.type, "provenance": e.provenance} for e in found],
            "findings": [finding.shown() for finding in graph.findings]})
    else:
        show(f"{e.type:<15} {e.source:<46} {e.target:<46} {e.provenance}" for e in found)
        show(f"knowledge edges: {len(found)} in scope {scope}" + (f", type {type_}" if type_ else ""))
        show(_line(finding) for finding in graph.findings)
    if graph.failing:
        leave(INVALID)


@click.command()
@as_json()
def validate(json_: bool) -> None:
    """Judge the graph. Only what a structured field states can fail; a link in prose is reported."""
    disk, _ = world()
    graph = compile_graph(disk)
    if json_:
        show_json({"schema": 1, "nodes": len(graph.nodes), "edges": len(graph.edges), "findings": [
            {**finding.shown(), "owner": finding.owner} for finding in graph.findings], "stored": None})
    else:
        show(_line(finding) for finding in graph.findings)
        failing = sum(1 for finding in graph.findings if finding.level == "FAIL" and finding.owner == "owned")
        show("knowledge validate: the graph is compiled on every run and never stored, so no index can be stale")
        show(f"knowledge validate: {len(graph.nodes)} node(s), {len(graph.edges)} edge(s), {failing} owned failure(s)")
    if graph.broken:
        leave(INVALID)


def _line(finding: Finding) -> str:
    return f"{finding.level:<4} {finding.code:<20} {finding.subject} — {finding.message}"
