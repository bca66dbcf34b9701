"""`kb ui`."""

from __future__ import annotations

import click

from kb.cli.options import everything, option, paths


@click.command()
@paths()
@option("--port", type=click.IntRange(1, 65535), default=4114, metavar="N", help="The port on 127.0.0.1. Default 4114.")
@everything()
def ui(paths: tuple[str, ...], port: int, include_private: bool) -> None:
    """Open the reading room: a local page over the same catalogue, on 127.0.0.1 and no other address.

    It never serves the private layer unless --all says so, and never a file that discovery did not produce.
    """
    from kb.web.server import serve_room

    serve_room(paths, include_private, port)
