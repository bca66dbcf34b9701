"""A door on the loopback address, and on no other: what kb's HTTP surfaces listen on."""

from __future__ import annotations

import socket
import sys

from kb.errors import KbError

ADDRESS = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1. Raises KbError when the port is taken or may not be used."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there the option means something else: sharing a port that is taken
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((ADDRESS, port))
        found.listen(64)
    except OSError as error:
        found.close()
        raise KbError(f"cannot listen on {ADDRESS}:{port}: {(error.strerror or str(error)).lower()}",
                      hint="choose another port with --port N") from None
    return found


def authorities(port: int) -> frozenset[str]:
    """The values of a Host header that mean this door: a name that merely resolves to the loopback address does not."""
    found = {f"127.0.0.1:{port}", f"localhost:{port}"}
    return frozenset(found | {"127.0.0.1", "localhost"} if port == 80 else found)
