"""`kb serve --http`: the same tools over streamable HTTP on the loopback address, with the official package's transport."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kb.errors import KbError
from kb.loopback import ADDRESS, authorities, listen
from kb.mcp.protocol import RpcError, Server
from kb.mcp.stdio import make_server, tell
from kb.resident import Resident

PATH = "/mcp"


def serve_http(paths: Sequence[str], include_private: bool, top: int, port: int) -> None:
    """Serve until interrupted. Raises KbError when the fleet cannot be opened or the port is taken."""
    try:
        import mcp  # noqa: F401 - asked for now, so that a missing extra is told before the door opens
        import uvicorn
    except ImportError as error:
        raise KbError(f"kb serve --http needs a library that is not installed: {error.name}",
                      hint="pip install 'kb-catalogue[serve]' brings it") from None
    resident = Resident(paths, include_private)
    listening = listen(port)
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kb-serve")  # an opened index belongs to one thread
    try:
        application = make_application(make_server(resident, top), worker, port)
        scope = ", private layer included" if include_private else ""
        tell(f"{len(resident.opened.fleet.agents)} agents{scope}. Ready on http://{ADDRESS}:{port}{PATH}")
        config = uvicorn.Config(application, log_level="error", access_log=False, lifespan="on", ws="none", loop="asyncio",
                                http="h11", server_header=False, proxy_headers=False, timeout_graceful_shutdown=2,
                                limit_concurrency=64)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        worker.shutdown(wait=False, cancel_futures=True)


def make_application(server: Server, worker: ThreadPoolExecutor, port: int) -> Any:
    """The official transport over our tools, which answers nobody but callers of this very address."""
    import mcp_types as types
    from mcp import MCPError
    from mcp.server.lowlevel import Server as Official
    from mcp.server.transport_security import TransportSecuritySettings

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        try:
            found = await asyncio.get_running_loop().run_in_executor(worker, server.tools)
        except RpcError as error:
            raise MCPError(error.code, error.message) from None
        return types.ListToolsResult.model_validate({"tools": found})

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            text = await asyncio.get_running_loop().run_in_executor(worker, server.call, params.name, params.arguments or {})
        except RpcError as error:
            raise MCPError(error.code, error.message) from None
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=False)

    official = Official(server.name, version=server.version, instructions=server.instructions, on_list_tools=list_tools,
                        on_call_tool=call_tool)
    hosts = sorted(authorities(port))
    security = TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=hosts,
                                         allowed_origins=[f"http://{host}" for host in hosts])
    return official.streamable_http_app(streamable_http_path=PATH, transport_security=security)
