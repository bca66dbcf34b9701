"""What every page shares: the fleet that stays open, the templates, the menu, the token of this process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kb.app import App
from kb.core.display import harmless
from kb.core.jsontext import dumps
from kb.errors import PluginError
from kb.ops.passages import telling
from kb.ops.stacks import Memory, ShelfOfBooks, stacks
from kb.resident import Resident
from kb.specs import Page
from kb.web.safe import ask_url, marked, note_url, plain, under

if TYPE_CHECKING:
    from jinja2 import Environment

HTML, TEXT, JSON = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"


class Reply(NamedTuple):
    """What a view returns: status, body, media type, and the address to go to for a redirect."""

    status: int
    body: str
    media: str = HTML
    location: str | None = None


class MenuItem(NamedTuple):
    """A page in the menu, and the letter that opens it after `g`."""

    path: str
    title: str
    letter: str = ""


MENU = (
    MenuItem("/", "Ask", "a"), MenuItem("/stacks", "Stacks", "s"), MenuItem("/agents", "Agents", "b"),
    MenuItem("/sources", "Sources", "c"), MenuItem("/misses", "Misses", "m"), MenuItem("/findings", "Findings", "f"),
    MenuItem("/reports", "Reports", "r"), MenuItem("/sessions", "Sessions", "h"), MenuItem("/panels", "Panels", "p"),
)
OWN_PATHS = frozenset({item.path for item in MENU} | {"/note", "/misroute"})


class Room:
    """The reading room of one process. Views run one at a time, in one thread, because an opened index belongs to one."""

    def __init__(self, resident: Resident) -> None:
        self.resident = resident
        self.token = secrets.token_urlsafe(24)
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading-room")
        self._memory = Memory()

    def app(self) -> App:
        """The fleet as the disk has it now."""
        return self.resident.app()

    def stacks(self, app: App) -> tuple[ShelfOfBooks, ...]:
        """Every book, files that did not change read once."""
        return stacks(app, self._memory)

    @cached_property
    def plugin_pages(self) -> dict[str, tuple[str, Page]]:
        """path -> (plugin, page). Raises PluginError for a path that is ours or is none."""
        found: dict[str, tuple[str, Page]] = {}
        for plugin, page in self.resident.opened.host.owned_specs("kb_pages", Page, lambda item: item.path):
            if page.path in OWN_PATHS or page.path.startswith(("/api/", "/static/")):
                raise PluginError(f"plugin {plugin} provides the page {page.path}, which is kb's own")
            if not page.path.startswith("/") or not page.path[1:].replace("-", "").replace("/", "").isalnum():
                raise PluginError(f"plugin {plugin} provides a page at {page.path!r}; a path is / and letters, digits, - and /")
            found[page.path] = (plugin, page)
        return found

    @cached_property
    def menu(self) -> tuple[MenuItem, ...]:
        return (*MENU, *(MenuItem(page.path, page.title) for _, page in self.plugin_pages.values() if page.in_menu))

    def page(self, template: str, *, title: str, here: str = "", status: int = 200, **values: Any) -> Reply:
        """A page from a template."""
        app = self.resident.opened
        body = self._templates.get_template(template).render(
            title=title, here=here, menu=self.menu, fleet=app.fleet, include_private=app.include_private, token=self.token,
            **values)
        return Reply(status, body)

    def problem(self, status: int, title: str, message: str, hint: str | None = None) -> Reply:
        """A page that says what went wrong and what to do."""
        return self.page("problem.html", title=title, status=status, message=message, hint=hint)

    @cached_property
    def _templates(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        folder = os.path.join(os.path.dirname(__file__), "templates")
        environment = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                                  lstrip_blocks=True, finalize=_final)
        environment.globals.update(note_url=note_url, ask_url=ask_url, marked=marked)
        environment.filters.update(count=count, thousands=lambda number: f"{number:,}", plain=plain, telling=telling, under=under)
        return environment


def as_json(value: Mapping[str, Any], status: int = 200) -> Reply:
    return Reply(status, dumps(value) + "\n", JSON)


def count(number: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _final(value: Any) -> Any:
    """Every text that a template prints passes here: what a note holds cannot command a terminal, or turn a line round."""
    return harmless(value) if type(value) is str else value
