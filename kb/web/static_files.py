"""The files that pages load, read once. Their digests are sent as ETag: a browser asks again, and is told when nothing changed."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class StaticFile(NamedTuple):
    """One file, its media type, and a digest of its bytes."""

    data: bytes
    media: str
    digest: str


def static_files() -> dict[str, StaticFile]:
    """name -> file, for every file of the package's `static` folder: nothing else is ever served under /static/."""
    folder = os.path.join(os.path.dirname(__file__), "static")
    found = {}
    for name in sorted(os.listdir(folder)):
        ending = name.rpartition(".")[2]
        if ending in _TYPES:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            found[name] = StaticFile(data, _TYPES[ending], hashlib.blake2b(data, digest_size=8).hexdigest())
    return found
