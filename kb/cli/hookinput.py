"""Reading what a host wrote to stdin."""

from __future__ import annotations

import sys

from kb.core.message import HookInput, parse_hook


def read_hook(*, verbatim: bool = False) -> HookInput:
    """The hook event on stdin; without a prompt when stdin is closed, blank or not UTF-8."""
    try:
        data = sys.stdin.buffer.read()
        text = data.decode("utf-8-sig")
    except (AttributeError, OSError, UnicodeDecodeError):  # no stdin at all is None
        return HookInput(None)
    return parse_hook(text, verbatim=verbatim)
