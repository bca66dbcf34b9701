"""A reading room over the shared fleet, and a browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY, Shell
from tests.web.rooms import OpenRoom

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARTEFACTS = REPOSITORY / "test-artefacts"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run", "--disable-default-apps", "--disable-features=Translate,OptimizationHints,MediaRouter"]


@pytest.fixture
def room(fleet: Shell) -> Iterator[Callable[..., OpenRoom]]:
    """Opens rooms, and closes them."""
    running: list[OpenRoom] = []

    def start(*words: object, env: dict[str, str] | None = None) -> OpenRoom:
        running.append(OpenRoom(fleet, *words, env=env))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium. Skipped where there is none, and a failure in CI, where there must be one."""
    missing = None
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "playwright is not installed: install kb with its dev extra"
    else:
        if not Path(CHROMIUM).exists():
            missing = f"there is no {CHROMIUM}: apt-get install --no-install-recommends chromium, or set CHROMIUM"
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def artefacts() -> Path:
    """Where screenshots are kept."""
    ARTEFACTS.mkdir(exist_ok=True)
    return ARTEFACTS
