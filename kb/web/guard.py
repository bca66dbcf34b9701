"""Who may talk to the reading room: only a browser page of its own, on the loopback address.

A page elsewhere can make a browser send requests here, under a name that resolves to 127.0.0.1 or straight to the
address. The Host header gives the first away, Origin and Sec-Fetch-Site the second.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kb.loopback import authorities

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_OURS = frozenset({"same-origin", "none"})
_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
           "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
HEADERS = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
)
_RAW = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS)


def refusal(method: str, headers: list[tuple[bytes, bytes]], port: int) -> str | None:
    """Why a request is refused, as one sentence; None when it may pass. Header names are in lower case."""
    hosts = _values(headers, b"host")
    ours = authorities(port)
    if len(hosts) != 1 or hosts[0].lower() not in ours:
        return "The reading room answers under its own address only."
    origins = _values(headers, b"origin")
    if any(origin.lower() not in {f"http://{authority}" for authority in ours} for origin in origins):
        return "The reading room does not answer pages of other sites."
    if any(site.lower() not in _OURS for site in _values(headers, b"sec-fetch-site")):
        return "The reading room does not answer pages of other sites. Open its address yourself."
    if method not in ("GET", "HEAD") and not origins:
        return "A change needs an Origin header that is the reading room's own."
    return None


def guarded(app: AsgiApp, port: int) -> AsgiApp:
    """`app` behind the guard: refusals are 403, and every answer carries the security headers."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_RAW]
            await send(message)

        why = refusal(scope["method"], scope["headers"], port)
        if why is None:
            await app(scope, receive, send_with_headers)
            return
        body = (why + "\n").encode()
        await send_with_headers({"type": "http.response.start", "status": 403, "headers": [
            (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]})
        await send_with_headers({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return guard


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in headers if key == name]
