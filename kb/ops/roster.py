"""The fleet's name and roster, read from fleet.txt and each agent.txt: what a model and a person both see."""

from __future__ import annotations

from kb.core.display import printable
from kb.core.values import Fleet

_SOURCE = ("SOURCE: read from fleet.txt and from each agent.txt just now. It is a lookup: nothing was searched, and nothing "
           "was ranked.")


def roster_text(fleet: Fleet) -> str:
    """The roster as lines, without a final newline."""
    agents = fleet.agents
    lines = [f"FLEET: {fleet.name}", f"ROLE: {fleet.manifest.last('role') or 'not set in fleet.txt'}",
             f"AGENTS: {len(agents)}"]
    for agent in agents:
        lines += ["", f"- {agent.title}", f"  root: {agent.root}", f"  role: {agent.role or 'not set in agent.txt'}"]
    lines = [printable(line) for line in lines]  # the name of a folder may hold line ends, and each would be a line more
    if not agents:
        lines += ["", "There are no agents yet: kb init <name> makes one."]
    return "\n".join([*lines, "", _SOURCE])
