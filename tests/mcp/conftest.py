"""A server over the shared fleet."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import Shell
from tests.mcp.wire import Peer


@pytest.fixture
def serve(fleet: Shell) -> Iterator[Callable[..., Peer]]:
    """Starts servers, and ends them."""
    running: list[Peer] = []

    def start(*words: object, env: dict[str, str] | None = None) -> Peer:
        running.append(Peer(fleet, *words, env=env))
        return running[-1]

    yield start
    for peer in running:
        peer.stop()
