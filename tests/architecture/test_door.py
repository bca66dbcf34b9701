"""The public door: its two lists agree, every name opens, and nothing is loaded before it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from kb import api


def test_the_names_that_type_checkers_see_are_those_that_can_be_imported() -> None:
    tree = ast.parse(Path(api.__file__ or "").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    seen = {alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == api._HOME_OF


def test_every_name_opens() -> None:
    assert [name for name in api._HOME_OF if getattr(api, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error_that_names_the_door() -> None:
    try:
        api.no_such_name  # noqa: B018
    except AttributeError as error:
        assert "kb.api has no no_such_name" in str(error)
    else:
        raise AssertionError("it opened")


def test_importing_the_door_loads_nothing_behind_it() -> None:
    code = "import sys, kb.api; print([m for m in sys.modules if m.startswith('kb.') and m != 'kb.api'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
