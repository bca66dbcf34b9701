"""`kb --version`: one line, baked in at build time; neither git nor the environment is asked."""

from __future__ import annotations

import os
import sys

from kb import __version__


def version_line() -> str:
    """`kb <version> (<sha|unknown>, <arch> <os>)`."""
    try:
        from kb._build import SHA  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        SHA = "unknown"
    return f"kb {__version__} ({SHA}, {os.uname().machine} {sys.platform})"
