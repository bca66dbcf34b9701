"""Run a coroutine in a thread of its own: a browser test in the same worker may have left an event loop running in this one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(conversation: Coroutine[Any, Any, T]) -> T:
    """The result of `conversation`, or what it raised."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, conversation).result()
