"""Pages that plugins bring."""

from __future__ import annotations

from collections.abc import Callable

from kb.errors import KbError
from kb.specs import Page
from kb.web.query import Query
from kb.web.room import Reply, Room


def view(plugin: str, page: Page) -> Callable[[Room, Query], Reply]:
    """The view of a plugin's page: its body is the plugin's own HTML, and a failure names the plugin."""

    def render(room: Room, query: Query) -> Reply:
        from markupsafe import Markup

        try:
            body = page.render(room.app(), query)
            if not isinstance(body, str):
                raise TypeError(f"it returned {type(body).__name__} and no text")
        except KbError:
            raise
        except Exception as error:
            raise KbError(f"the page {page.path} of plugin {plugin} failed: {type(error).__name__}: {error}",
                          hint="kb plugins says where it comes from") from error
        return room.page("plugin.html", title=page.title, here=page.path, plugin=plugin,
                         body=Markup(body))

    return render
