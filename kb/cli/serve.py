"""`kb serve`."""

from __future__ import annotations

import click

from kb.cli.options import everything, option, paths, top
from kb.errors import UsageError


@click.command()
@paths()
@top("How many files a tool returns when the call names no number")
@everything()
@click.option("--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 instead of stdio.")
@option("--port", type=click.IntRange(1, 65535), metavar="N", help="With --http: the port. Default 4115.")
@click.pass_context
def serve(ctx: click.Context, paths: tuple[str, ...], top: int, include_private: bool, http: bool, port: int | None) -> None:
    """Serve the catalogue to a model over the Model Context Protocol, on stdio, one JSON message a line.

    It never serves the private layer unless --all says so, and every diagnostic goes to stderr.
    """
    if port is not None and not http:
        raise UsageError("--port goes with --http")
    if http:
        from kb.mcp.http import serve_http

        serve_http(paths, include_private, top, port or 4115)
        return
    from kb.cli.standard_input import standard_input
    from kb.mcp.stdio import claim_stdout, serve_stdio

    messages = standard_input("every message of the client")
    wire = claim_stdout()
    ctx.exit(serve_stdio(paths, include_private, top, wire, messages))
