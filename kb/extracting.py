"""The process in which an extractor plugin reads one document: `python -m kb.extracting <ending> <path>`.

A document is untrusted, and a parser that loops or grows on one must not take kb with it. So it runs here, with limits
on memory and processor time, and what comes of it is one JSON object on stdout: {"text": ...} or {"refused", "hint"}.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kb.blame import ENDINGS, reason
from kb.errors import KbError

if TYPE_CHECKING:
    from kb.specs import Extractor

MEMORY = 2 * 1024 * 1024 * 1024  # bytes of address space
SECONDS = 110  # of processor time, a little less than the runner waits


def main(ending: str, path: str) -> int:
    """Read the document and print what came of it."""
    # What a library prints must not mix with the reply.
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="")
    os.dup2(2, 1)
    try:
        owned = _owned_extractor(ending)
        found: dict[str, str | bool | None] = {"unread": True} if owned is None else {"text": _text(*owned, ending, path)}
    except KbError as error:
        found = {"refused": error.message, "hint": error.hint}
    with reply:
        json.dump(found, reply, ensure_ascii=False)
    return 0


def _owned_extractor(ending: str) -> tuple[str, Extractor] | None:
    """The plugin that reads files with that ending (lower case, no dot), and its extractor. Raises PluginError on a clash."""
    from kb.app import shared_host
    from kb.specs import Extractor

    found = shared_host().owned_specs("kb_extractors", Extractor, lambda item: item.extensions)
    return next(((plugin, item) for plugin, item in found if ending in item.extensions), None)


def _text(plugin: str, extractor: Extractor, ending: str, path: str) -> str:
    _limit()
    try:
        text = extractor.extract(Path(path))
    except KbError:
        raise
    except ModuleNotFoundError as error:
        raise KbError(f"reading .{ending} needs the Python package {error.name}",
                      hint="pip install 'kb-catalogue[extract]' brings it") from None
    except MemoryError:
        raise KbError(f"reading it takes more than {MEMORY // 1024**3} GB of memory") from None
    except ENDINGS:
        raise
    except BaseException as error:  # noqa: BLE001 - the boundary: a parser may raise anything on a damaged file
        raise KbError(f"it cannot be read as .{ending}: plugin {plugin}: {reason(error)[:200]}") from None
    if not isinstance(text, str):
        raise KbError(f"the extractor {extractor.name} of plugin {plugin} returned {type(text).__name__} where text was due")
    return text


def _limit() -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system: the runner's clock still holds
        return
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        hard = resource.getrlimit(kind)[1]
        try:
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
        except (ValueError, OSError):
            continue


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
