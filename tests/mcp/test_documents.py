"""The configurations and the plugin that docs/ shows work as they are pasted."""

from __future__ import annotations

import json
import re
import shlex
import sys
from typing import Any

import pytest

from tests.conftest import REPOSITORY, Shell
from tests.mcp.own_loop import run
from tests.mcp.wire import Peer
from tests.web.rooms import OpenRoom

SERVE = (REPOSITORY / "docs/how-to/serve-a-model.md").read_text(encoding="utf-8")
PLUGIN = (REPOSITORY / "docs/plugins/writing-a-tool-or-page.md").read_text(encoding="utf-8")
SNIPPETS = [json.loads(text)["mcpServers"]["kb"] for text in re.findall(r"^```json\n(.*?)^```", SERVE, re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize("server", [snippet for snippet in SNIPPETS if "command" in snippet], ids=["code", "desktop"])
def test_a_configuration_starts_a_server_that_a_host_can_talk_to(fleet: Shell, server: dict[str, Any]) -> None:
    pytest.importorskip("mcp", reason="the serve extra is not installed")
    from mcp import Client, StdioServerParameters

    fleet.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    arguments = [word.replace("/home/you/fleet", str(fleet.root)) for word in server["args"]]
    env = {**fleet.env, "PATH": f"{fleet.root}/bin:{fleet.env['PATH']}", "PYTHONPATH": ":".join(sys.path)}

    async def converse() -> None:
        async with Client(StdioServerParameters(command=server["command"], args=arguments, env=env, cwd=str(fleet.root))) as client:
            assert "FLEET: Orchard" in (await client.call_tool("kb_fleet", {})).content[0].text  # type: ignore[union-attr]

    run(converse())


def test_the_address_of_the_page_is_the_one_that_http_serves() -> None:
    from kb.mcp.http import PATH

    [web] = [snippet for snippet in SNIPPETS if "url" in snippet]
    assert web["url"].endswith(":4115" + PATH) and "--port 4115" in SERVE


def test_the_line_for_when_it_does_not_work_works(fleet: Shell) -> None:
    line = next(text for text in re.findall(r"^```sh\n(.*?)^```", SERVE, re.MULTILINE | re.DOTALL) if "tools/list" in text)
    fleet.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    run = fleet.run("sh", "-c", line, env={"PATH": f"{fleet.root}/bin:{fleet.env['PATH']}", "PYTHONPATH": ":".join(sys.path)}).ok()
    [reply] = run.out.splitlines()
    assert json.loads(reply)["result"]["tools"]


def test_the_plugin_of_the_page_serves_its_tool_and_its_page(fleet: Shell) -> None:
    [source] = re.findall(r"^```python\n(.*?)^```", PLUGIN, re.MULTILINE | re.DOTALL)
    fleet.write("site/my_package/__init__.py", "")
    fleet.write("site/my_package/key_counts.py", source)
    [entry] = re.findall(r'^(key-counts) = "(.*)"$', PLUGIN, re.MULTILINE)
    fleet.write("site/mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    fleet.write("site/mine-1.dist-info/entry_points.txt", f"[kb.plugins]\n{entry[0]} = {entry[1]}\n")
    env = {"PYTHONPATH": str(fleet.root / "site")}
    peer = Peer(fleet, env=env)
    try:
        assert peer.text("most_keys", base="ada") == "ada/knowledge/mower.md has 4 keys"
        assert "kb_fleet names them" in peer.call("most_keys", base="nemo")["error"]["message"]
    finally:
        peer.stop()
    place = OpenRoom(fleet, env=env)
    try:
        assert "<li>Pump: 4</li>" in place.ask("/keys").body and ">Keys</a>" in place.ask("/").body
    finally:
        place.stop()
