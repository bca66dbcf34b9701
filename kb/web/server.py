"""`kb ui`: the reading room on 127.0.0.1, and on no other address."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kb.core.display import printable
from kb.errors import KbError
from kb.loopback import ADDRESS, listen
from kb.resident import Resident
from kb.web.room import Room, count


def serve_room(paths: Sequence[str], include_private: bool, port: int) -> None:
    """Serve until interrupted. Raises KbError when the fleet cannot be opened or the port is taken."""
    try:
        import jinja2  # noqa: F401 - asked for now, so that a missing extra is told before the door opens
        import markdown_it  # noqa: F401
        import uvicorn

        from kb.web.application import make_application
    except ImportError as error:
        raise KbError(f"the reading room needs a library that is not installed: {error.name}",
                      hint="pip install 'kb-catalogue[ui]' brings it") from None
    room = Room(Resident(paths, include_private))
    _ = room.plugin_pages  # a plugin at fault is told before the door opens
    listening = listen(port)
    try:
        application = make_application(room, port)
        tell(f"http://{ADDRESS}:{port}/  {room.worker.submit(_summary, room).result()}")
        config = uvicorn.Config(application, log_level="error", access_log=False, lifespan="off", ws="none", loop="asyncio",
                                http="h11", server_header=False, proxy_headers=False, timeout_keep_alive=5,
                                timeout_graceful_shutdown=2, limit_concurrency=64, h11_max_incomplete_event_size=32_768)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        room.worker.shutdown(wait=False, cancel_futures=True)


def _summary(room: Room) -> str:
    app = room.app()
    told = f"{count(len(app.fleet.agents), 'agent')}, {count(app.catalogue.size(), 'entry', 'entries')}"
    return told + (", private layer included" if app.include_private else "")


def tell(message: str) -> None:
    """One line on stderr."""
    try:
        sys.stderr.write(f"kb ui: {printable(message)}\n")
        sys.stderr.flush()
    except OSError:
        pass
