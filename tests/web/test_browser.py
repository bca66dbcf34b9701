"""The reading room in a real browser: every page, the main tasks by keyboard, accessibility, hostile notes, screenshots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Shell, note
from tests.web.rooms import OpenRoom
from tests.web.test_pages import HOSTILE

pytestmark = pytest.mark.browser
PAGES = {
    "opening": "/", "hit": "/?q=flush+the+pump", "nothing": "/?q=pumpp", "stacks": "/stacks", "shelf": "/stacks?base=ada",
    "note": "/note?base=ada&rel=knowledge/pump.md", "hostile": "/note?base=ada&rel=knowledge/hostile.md", "agents": "/agents",
    "sources": "/sources", "misses": "/misses", "findings": "/findings", "reports": "/reports", "sessions": "/sessions",
    "panels": "/panels", "knowledge": "/knowledge", "absent": "/no-such-page",
}
TABLE = "# Wide\n\n**Search for:** wide, table\n\n| " + " | ".join(f"column{n}" for n in range(40)) + " |\n|" + "---|" * 40 + "\n" + (
    "| " + " | ".join("unbreakablewordofsomelength" for _ in range(40)) + " |\n") * 5 + (
    "\n" + "x" * 3000 + "\n\n```\n" + "y" * 2000 + "\n```\n")


@pytest.fixture
def furnished(fleet: Shell) -> Shell:
    """The fleet with a hostile note, a wide one, one from right to left, and something in every ledger."""
    fleet.write("fleet/ada/knowledge/hostile.md", HOSTILE)
    fleet.write("fleet/ada/knowledge/wide.md", TABLE)
    fleet.write("fleet/ada/knowledge/ivrit.md", note("\u202eשלום", "שלום", body="## פרק\n\nטקסט ארוך 12.\n\nLatin again."))
    fleet.write("fleet/ada/blocks.txt", "[identity]\nagent.txt\n[map]\nMAP.md\n[late] on-demand\nknowledge/pump.md\nmissing.md\n")
    fleet.write("fleet/ben/blocks.txt", "[map]\nMAP.md\n")
    fleet.kb("index", fleet.root).ok()
    fleet.kb("route", "where is the zonk", fleet.root).ok()
    fleet.kb("misroute", "flush it", "--chose", "ada", "--owner", "ben", "--why", "a letter", fleet.root).ok()
    fleet.kb("source", "add", fleet.root / "fleet/ada", "--type", "book", "--title", "On Pumps", "--retrieved-on", "2026-09-01",
             "--retrieval-status", "full").ok()
    fleet.kb("handoff", "save", "ada", "--task", "Mend the valve", "--decision", "use brass", fleet.root).ok()
    fleet.kb("panel", "fleet/ada/knowledge/pump.md", fleet.root, "--owner", "ada", "--reviewer", "ben").ok()
    fleet.kb("panel", "fleet/ada/knowledge/pump.md", fleet.root, "--from", "ben", "--objection", "The claim has no citation at all.",
             "--blocking").ok()
    fleet.write(".kb/sessions/s1.events", "routed\tada\nrefused\twhere is the key\tkey\n")
    return fleet


class Watched:
    """A page, and what went wrong on it or left the machine."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.faults: list[str] = []
        self.strangers: list[str] = []
        page.on("console", lambda told: self.faults.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog: " + dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.strangers.append(request.url) if not request.url.startswith(address) else None)

    def open(self, path: str) -> Any:
        return self.page.goto(self.address + path)

    def quiet(self) -> None:
        assert self.faults == [] and self.strangers == []


@pytest.fixture
def browse(chromium: Any, furnished: Shell, room: Callable[..., OpenRoom]) -> Iterator[Callable[..., Watched]]:
    """Opens pages on one room."""
    place = room()
    contexts: list[Any] = []

    def start(width: int = 1200, height: int = 850, scheme: str = "light", **settings: Any) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **settings)
        context.set_default_timeout(15_000)
        contexts.append(context)
        return Watched(context.new_page(), place.address)

    yield start
    for context in contexts:
        context.close()


def settled(watched: Watched) -> None:
    """What an absent page says is 404, and Chromium logs that."""
    watched.faults[:] = [fault for fault in watched.faults if "404" not in fault]
    watched.quiet()


def test_every_page_is_accessible_quiet_and_fits_in_both_themes(browse: Callable[..., Watched], artefacts: Path) -> None:
    axe_path = pytest.importorskip("axe_playwright_python", reason="install kb with its dev extra").__path__[0]
    axe = (Path(axe_path) / "axe.min.js").read_text(encoding="utf-8")
    for scheme, width in (("light", 1200), ("dark", 1200), ("light", 380), ("dark", 380)):
        watched = browse(width=width, scheme=scheme)
        for name, path in PAGES.items():
            watched.open(path)
            watched.page.screenshot(path=artefacts / f"{name}-{scheme}-{width}.png", full_page=True)
            assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            if (scheme, width) == ("dark", 380):
                continue  # its colours and its structure have been scanned
            watched.page.evaluate(axe + "; undefined")
            found = watched.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            counted = ("serious", "critical") if name in ("note", "hostile") else ("serious", "critical", "moderate")
            serious = [(fault["id"], [node["html"][:120] for node in fault["nodes"][:3]]) for fault in found["violations"]
                       if fault["impact"] in counted]
            assert serious == [], (name, scheme, width)
        settled(watched)


def test_a_question_is_asked_and_its_note_opened_with_the_keyboard_alone(browse: Callable[..., Watched]) -> None:
    watched = browse()
    page = watched.page
    watched.open("/agents")
    page.keyboard.press("/")
    page.wait_for_url("**/")
    page.keyboard.type("flush the pump")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=flush+the+pump")
    assert page.locator(".verdict h2").inner_text() == "The library holds this"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "Pump"
    page.keyboard.press("Enter")
    page.wait_for_url("**/note?**")
    assert page.locator("h1").inner_text() == "Pump"
    watched.quiet()


def test_letters_lead_to_every_page_and_the_list_of_keys_opens_and_closes(browse: Callable[..., Watched]) -> None:
    watched = browse()
    page = watched.page
    watched.open("/stacks")
    for letter, path in (("b", "/agents"), ("c", "/sources"), ("m", "/misses"), ("f", "/findings"), ("r", "/reports"), ("h", "/sessions"),
                         ("p", "/panels"), ("s", "/stacks"), ("a", "/")):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url("**" + path)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    watched.quiet()


def test_single_keys_can_be_turned_off(browse: Callable[..., Watched]) -> None:
    page = (watched := browse()).page
    watched.open("/stacks")
    page.locator("#help").click()
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    watched.open("/stacks")
    page.keyboard.press("?")
    assert not page.locator("dialog").is_visible()


def test_tab_leads_past_the_menu_and_focus_is_seen(browse: Callable[..., Watched]) -> None:
    page = (watched := browse()).page
    watched.open("/stacks")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_everything_works_without_javascript(browse: Callable[..., Watched]) -> None:
    watched = browse(java_script_enabled=False)
    page = watched.page
    watched.open("/")
    page.locator("#q").fill("flush the pump")
    page.locator("form.ask button").click()
    assert "The library holds this" in page.locator(".verdict").inner_text()
    page.locator("summary", has_text="The wrong owner?").click()
    page.locator("#owner-is").select_option("ben")
    page.locator("#why").fill("it was about letters")
    page.locator("form.stacked button").click()
    assert "The misroute is recorded." in page.locator("main").inner_text()
    assert "it was about letters" in page.locator("main").inner_text()
    assert not page.locator("#theme").is_visible() and not page.locator("dialog").is_visible()
    watched.quiet()


def test_the_theme_is_chosen_and_kept(browse: Callable[..., Watched]) -> None:
    page = (watched := browse(scheme="light")).page
    watched.open("/")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("#theme").click()
    page.locator("#theme").click()
    dark = page.evaluate(paper)
    assert dark != light and page.locator("#theme").inner_text() == "Theme: dark"
    watched.open("/stacks")
    assert page.evaluate(paper) == dark
    watched.quiet()


def test_the_stacks_are_narrowed_as_one_types(browse: Callable[..., Watched]) -> None:
    page = (watched := browse()).page
    watched.open("/stacks")
    every = page.locator(".book:visible").count()
    page.locator("#filter").fill("pump")
    assert 1 <= page.locator(".book:visible").count() < every
    page.locator("#filter").fill("")
    assert page.locator(".book:visible").count() == every


def test_a_hostile_note_runs_nothing_and_asks_for_nothing(browse: Callable[..., Watched]) -> None:
    watched = browse()
    page = watched.page
    for path in ("/note?base=ada&rel=knowledge/hostile.md", "/?q=hostile", "/stacks", "/findings"):
        watched.open(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("getComputedStyle(document.body).display") == "block"
        for address in page.locator("main a[href]").evaluate_all("links => links.map(link => link.href)"):
            assert urlsplit(address).scheme in ("http", "https", "mailto"), address
            assert address.startswith((watched.address, "https://example.org/", "mailto:")), address
    watched.quiet()


def test_a_right_to_left_note_leaves_its_neighbours_alone(browse: Callable[..., Watched]) -> None:
    page = (watched := browse()).page
    watched.open("/note?base=ada&rel=knowledge/ivrit.md")
    directions = page.locator(".prose p").evaluate_all("items => items.map(item => getComputedStyle(item).direction)")
    assert directions == ["rtl", "ltr"]
    assert page.locator("nav.menu").evaluate("item => getComputedStyle(item).direction") == "ltr"


def test_a_table_that_is_too_wide_scrolls_in_its_own_box(browse: Callable[..., Watched]) -> None:
    for width in (1200, 380):
        page = (watched := browse(width=width)).page
        watched.open("/note?base=ada&rel=knowledge/wide.md")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator(".scroll").first.evaluate("box => box.scrollWidth > box.clientWidth")
        watched.quiet()


def test_the_page_holds_at_twice_the_text_size(browse: Callable[..., Watched]) -> None:
    page = (watched := browse(width=600, height=400, device_scale_factor=2)).page
    for path in PAGES.values():
        watched.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert not re.search(r"\bundefined\b|\bNone\b", page.locator("body").inner_text()), path
