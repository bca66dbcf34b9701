"""Distributions of strangers, as pip would leave them: a folder of modules and .dist-info on the import path."""

from __future__ import annotations

import os
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.conftest import REPOSITORY, Shell

EXAMPLE = REPOSITORY / "examples" / "kb-plugin-example"


def install(sh: Shell, distribution: str, modules: dict[str, str], points: dict[str, str] | str, group: str = "kb.plugins") -> None:
    """Put a distribution on the import path of every later `sh.kb`. `points` maps names to modules, or is the file's text."""
    site = sh.root / "site"
    for name, source in modules.items():
        sh.write(f"site/{name}.py", source)
    rows = points if isinstance(points, str) else f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
    folder = f"site/{distribution.replace('-', '_')}-1.0.dist-info"
    sh.write(f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    sh.write(f"{folder}/entry_points.txt", rows)
    add_to_path(sh, site)


def install_example(sh: Shell) -> None:
    """The example plugin, from its folder, unless this environment has it already."""
    try:
        distribution("kb-plugin-example")
    except PackageNotFoundError:
        project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        install(sh, project["name"], {}, project["entry-points"]["kb.plugins"])
        add_to_path(sh, EXAMPLE / "src")


def add_to_path(sh: Shell, folder: Path) -> None:
    known = sh.env.get("PYTHONPATH", "").split(os.pathsep)
    if str(folder) not in known:
        sh.env["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, known)])
