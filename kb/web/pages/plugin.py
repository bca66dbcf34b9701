"""Pages that plugins bring."""

from __future__ import annotations

from collections.abc import Callable

from kb.blame import blamed
from kb.specs import Page
from kb.web.query import Query
from kb.web.room import Reply, Room


def view(plugin: str, page: Page) -> Callable[[Room, Query], Reply]:
    """The view of a plugin's page: its body is the plugin's own HTML, and a failure names the plugin."""

    def render(room: Room, query: Query) -> Reply:
        from markupsafe import Markup

        app = room.app()
        with blamed(f"the page {page.path} of plugin {plugin}"):
            body = page.render(app, query)
            if not isinstance(body, str):
                raise TypeError(f"it returned {type(body).__name__} and no text")
        return room.page("plugin.html", title=page.title, here=page.path, plugin=plugin,
                         body=Markup(body))

    return render
