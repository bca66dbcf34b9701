"""`kb serve` over stdio: one JSON message a line in, one out, and nothing else on that wire."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from kb import __version__
from kb.blame import ENDINGS, reason
from kb.core.display import printable
from kb.errors import KbError
from kb.mcp.protocol import INTERNAL_ERROR, RpcError, Server, answer_line, refuse
from kb.mcp.tools import INSTRUCTIONS, all_tools, call, describe
from kb.resident import Resident

LONGEST_LINE = 16_000_000  # bytes; a question is a few hundred


def claim_stdout() -> int:
    """Take file descriptor 1 for the protocol: whatever anybody prints from now on, a child process too, goes to stderr."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    return wire


def make_server(resident: Resident, top: int) -> Server:
    """The protocol's server over a resident fleet. Plugins' tools are gathered when tools are first asked for."""
    tools: dict[str, Any] = {}

    def known() -> dict[str, Any]:
        if not tools:
            tools.update(all_tools(resident.app(), top))
        return tools

    def run(name: str, given: Mapping[str, Any]) -> str:
        try:
            return call(known(), resident.app, name, given)
        except RpcError:
            raise
        except KbError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from None
        except ENDINGS:
            raise
        except BaseException as error:  # noqa: BLE001 - a boundary, where SystemExit is a fault too: the log gets the cause
            raise failed(name, error) from None

    def listed() -> list[dict[str, Any]]:
        try:
            return [describe(tool) for tool in known().values()]
        except KbError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from None
        except ENDINGS:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            raise failed("tools/list", error) from None

    def failed(name: str, error: BaseException) -> RpcError:
        tell(f"{name} failed: {reason(error)}")
        if os.environ.get("KB_DEBUG") == "1":
            traceback.print_exc(file=sys.stderr)
        return RpcError(INTERNAL_ERROR, "Internal error; the server's stderr says more, and other calls still work")

    return Server("kb", __version__, INSTRUCTIONS, listed, run)


def serve_stdio(paths: Sequence[str], include_private: bool, top: int, wire: int, lines: BinaryIO) -> int:
    """Answer until stdin ends; the exit code. Raises KbError when the fleet cannot be opened."""
    resident = Resident(paths, include_private)
    server = make_server(resident, top)
    app = resident.opened
    for base in app.fleet.agents:
        tell(f"{base.name} ({base.root}){' with its private layer' if include_private else ''}")
    for sentence in app.fleet.skipped:
        tell(sentence)
    tell(f"{len(app.fleet.agents)} agents in {len(app.fleet.bases)} bases. Ready on stdio.")
    while line := lines.readline(LONGEST_LINE):
        if not line.strip():
            continue
        reply = answer_line(server, line) if line.endswith(b"\n") or len(line) < LONGEST_LINE else _too_long(lines)
        if reply is not None and not _send(wire, reply):
            return 1
    return 0


def _too_long(lines: BinaryIO) -> bytes:
    """Skip the rest of a line that is longer than any message, and say so."""
    while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass
    return refuse(f"the line is longer than {LONGEST_LINE:,} bytes")


def _send(wire: int, reply: bytes) -> bool:
    view = memoryview(reply)
    try:
        while view:
            view = view[os.write(wire, view):]
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def tell(message: str) -> None:
    """One diagnostic line on stderr."""
    try:
        sys.stderr.write(f"kb serve: {printable(message)}\n")
        sys.stderr.flush()
    except OSError:
        pass
