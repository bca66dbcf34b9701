"""Who is meant by a name that somebody gave: looked up once, refused in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.core.display import named
from kb.core.values import Base
from kb.errors import KbError, UsageError

if TYPE_CHECKING:
    from kb.app import App


class NoAgent(KbError):
    """The opened fleet has no base of that name."""


def base_called(app: App, name: str) -> Base:
    """The opened base of that name, case aside. Raises NoAgent."""
    base = app.fleet.base(name.strip())
    if base is None:
        raise NoAgent(f"there is no agent called {named(name)} here",
                      hint="the bases are: " + ", ".join(base.name for base in app.fleet.bases))
    return base


def agent_called(app: App, name: str) -> Base:
    """The agent of that name, case aside: a base that can own a question. Raises UsageError."""
    base = app.fleet.base(name.strip())
    if base is None or not base.routable:
        raise UsageError(f"{named(name)} is no agent of this fleet",
                         hint="agents: " + (", ".join(agent.name for agent in app.fleet.agents) or "none"))
    return base
