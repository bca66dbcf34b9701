"""Make docs/images/reading-room.png, the README's picture, from the demo fleet: `python docs/screenshots.py`.

With `--every FOLDER` it takes every page instead, light and dark, wide and narrow. It needs the dev extra and Debian's
Chromium (or CHROMIUM=/path/to/it).
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run", "--disable-features=Translate,OptimizationHints,MediaRouter")
QUESTION = "my sourdough starter smells of acetone, is it dead?"
PAGES = {
    "opening": "/", "hit": "/?q=" + quote(QUESTION), "guess": "/?q=" + quote("what comes after the harvest?"),
    "nothing": "/?q=" + quote("how do I renew my pasport?"), "stacks": "/stacks", "shelf": "/stacks?base=baker",
    "note": "/note?base=baker&rel=" + quote("knowledge/reviving-the-starter.md"), "agents": "/agents", "sources": "/sources",
    "misses": "/misses", "findings": "/findings", "reports": "/reports", "sessions": "/sessions", "panels": "/panels",
    "knowledge": "/knowledge", "absent": "/no-such-page",
}


def kb(root: Path, *words: str, stdin: str = "") -> None:
    environment = {**os.environ, "KB_NOW": "2026-09-20T12:00:00Z", "KB_TRUST": "1"}
    subprocess.run([sys.executable, "-m", "kb", *words], input=stdin.encode(), cwd=root, env=environment, check=False,
                   capture_output=True)


def furnish(root: Path) -> None:
    """The demo with a little history: what ledgers and handoffs look like when somebody lives here."""
    kb(root, "index", ".")
    for question in ("how do I renew my passport?", "how do I renew my passport?", "quanto custa um bilhete de comboio para Lisboa?"):
        kb(root, "route", question)
    kb(root, "misroute", "the dough smells of wine", "--chose", "grower", "--owner", "baker", "--why", "wine was a key of the vine note")
    kb(root, "panel", "baker/knowledge/rye-loaf.md", "--owner", "baker", "--reviewer", "grower", "--reviewer", "keeper")
    kb(root, "panel", "baker/knowledge/rye-loaf.md", "--from", "grower", "--objection",
       "The claim about soaking whole grain has no citation.", "--blocking")
    kb(root, "panel", "baker/knowledge/rye-loaf.md", "--from", "keeper", "--nothing")
    kb(root, "handoff", "save", "baker", "--task", "Test the second rye formula", "--decision", "keep the wetter dough",
       "--next", "bake at 240 degrees", "--session", "s-demo")


@contextmanager
def reading_room(root: Path) -> Iterator[str]:
    """The address of a reading room over `root`, for as long as the block lasts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "kb", "ui", str(root), "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=Path, metavar="FOLDER")
    parser.add_argument("--only", metavar="NAME")
    chosen = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        root = Path(shutil.copytree(HERE.parent / "examples" / "demo", Path(scratch) / "demo"))
        furnish(root)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        with reading_room(root) as address:
            if chosen.every is None:
                page = browser.new_page(viewport={"width": 1180, "height": 860}, device_scale_factor=1.5, color_scheme="light")
                page.goto(address + PAGES["hit"])
                (HERE / "images").mkdir(exist_ok=True)
                page.screenshot(path=HERE / "images" / "reading-room.png")
            else:
                chosen.every.mkdir(parents=True, exist_ok=True)
                for scheme, width, height in (("light", 1240, 900), ("dark", 1240, 900), ("light", 390, 844), ("dark", 390, 844)):
                    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
                    for name, path in PAGES.items():
                        if chosen.only in (None, name):
                            page.goto(address + path)
                            page.screenshot(path=chosen.every / f"{name}-{scheme}-{width}.png", full_page=True)
                    page.close()
        browser.close()


if __name__ == "__main__":
    main()
