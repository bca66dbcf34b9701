"""Bakes the commit into the package: `KB_BUILD_SHA=$(git rev-parse --short HEAD) pip install .`.

The installed copy is usually vendored where there is neither git nor a repository, so the answer to "which build
is this?" has to travel inside it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildSha(BuildHookInterface):
    """Writes kb/_build.py when KB_BUILD_SHA names a commit; without one the version line says `unknown`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        target = Path(self.root, "kb", "_build.py")
        sha = os.environ.get("KB_BUILD_SHA", "").strip()
        if re.fullmatch(r"[0-9a-f]{7,40}", sha):
            target.write_text(f'SHA = "{sha}"\n', encoding="utf-8")
        else:
            target.unlink(missing_ok=True)
