"""The ASGI application: routes to views, failures to pages, everything behind the guard."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kb.core.display import printable
from kb.errors import KbError, UsageError
from kb.web import api
from kb.web.guard import AsgiApp, guarded
from kb.web.pages import agents, asked, findings, ledgers, misroute, note, plugin, sessions, sources, stacks
from kb.web.query import Query
from kb.web.room import TEXT, Reply, Room, as_json
from kb.web.static_files import StaticFile, static_files

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

View = Callable[[Room, Query], Reply]
BODY_LIMIT = 65_536  # bytes of a form: a message and a reason

PAGES: dict[str, View] = {
    "/": asked.view, "/stacks": stacks.view, "/note": note.view, "/agents": agents.view, "/sources": sources.view,
    "/misses": ledgers.misses, "/findings": findings.view, "/reports": ledgers.reports, "/sessions": sessions.view,
    "/panels": ledgers.panels,
}
READS: dict[str, View] = {
    "/api/fleet": api.fleet, "/api/route": api.route, "/api/stacks": api.stacks, "/api/blocks": api.blocks,
    "/api/check": api.findings, "/api/file": api.file,
}
ACTIONS: dict[str, View] = {"/misroute": misroute.post, "/api/reload": api.reload}


def make_application(room: Room, port: int) -> AsgiApp:
    """The reading room as an ASGI application that answers on `port` of the loopback address."""
    from starlette.applications import Starlette
    from starlette.routing import Route, Router

    views = {**PAGES, **READS, **{path: plugin.view(name, page) for path, (name, page) in room.plugin_pages.items()}}
    routes = [Route(path, _reading(room, view), methods=["GET"]) for path, view in views.items()]
    routes += [Route(path, _acting(room, view), methods=["POST"]) for path, view in ACTIONS.items()]
    routes.append(Route("/static/{name}", _static(static_files()), methods=["GET"]))

    async def absent(request: Request, error: Exception) -> Response:
        return _response(request, room.problem(404, "No such page", "There is no page at this address.",
                                               "The menu leads to every page.") if _wants_html(request)
                         else Reply(404, "no such page\n", TEXT))

    application = Starlette(routes=routes, exception_handlers={404: absent, 405: absent})
    router: Router = application.router
    router.redirect_slashes = False
    return guarded(application, port)


def _reading(room: Room, view: View) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        return _response(request, await _run(room, view, Query(request.scope["query_string"]), request))

    return endpoint


def _acting(room: Room, view: View) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > BODY_LIMIT:
                return _response(request, Reply(413, "too much for a form\n", TEXT))
        return _response(request, await _run(room, view, Query(body), request))

    return endpoint


async def _run(room: Room, view: View, query: Query, request: Request) -> Reply:
    return await asyncio.get_running_loop().run_in_executor(room.worker, _answered, room, view, query, _wants_html(request))


def _answered(room: Room, view: View, query: Query, html: bool) -> Reply:
    """What the view says, or a failure told as a page, or as JSON to a script."""
    try:
        return view(room, query)
    except KbError as error:
        status, told = 400 if isinstance(error, UsageError) else 500, (error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - a boundary: the reader gets a sentence, the terminal the cause
        sys.stderr.write(printable(f"kb ui: this is a bug in kb: {type(error).__name__}: {error}") + "\n")
        traceback.print_exc(file=sys.stderr)
        status, told = 500, ("Something broke while this page was made.", "The terminal that runs kb ui says more.")
    if html:
        return room.problem(status, "This did not work", *told)
    return as_json({"error": "; ".join(part for part in told if part)}, status)


def _wants_html(request: Request) -> bool:
    return not str(request.scope["path"]).startswith(("/api/", "/static/"))


def _response(request: Request, reply: Reply) -> Response:
    from starlette.responses import Response

    headers = {"Content-Type": reply.media, "Cache-Control": "no-store"}
    if reply.location is not None:
        headers["Location"] = reply.location
    return Response(reply.body.encode("utf-8", "backslashreplace"), status_code=reply.status, headers=headers)


def _static(files: dict[str, StaticFile]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        from starlette.responses import Response

        found = files.get(request.path_params["name"])
        if found is None:
            return _response(request, Reply(404, "no such page\n", TEXT))
        headers = {"Content-Type": found.media, "ETag": f'"{found.digest}"', "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(found.data, headers=headers)

    return endpoint


