"""The shipped adapters, against stand-ins of the command lines on PATH and a small server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kb.store.commands import CommandFailed, run_command

TOOLS = Path(__file__).resolve().parents[2] / "tools"
ROLES = ("classifier", "answerer", "promoter", "reviewer")
CLIS = ("claude", "gemini", "codex", "llm")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A command line that keeps its arguments, its folder and its stdin, and prints a reply."""
    def make(name: str, body: str = "echo OWNER: ada") -> Path:
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"""#!/bin/sh
pwd > '{tmp_path}/cwd'
printf '%s\\n' "$@" > '{tmp_path}/words'
[ -n "${{GEMINI_CLI_SYSTEM_SETTINGS_PATH:-}}" ] && cat "$GEMINI_CLI_SYSTEM_SETTINGS_PATH" > '{tmp_path}/settings'
cat > '{tmp_path}/prompt'
{body}
""")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
        return tmp_path
    return make


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("cli", CLIS)
def test_every_role_gets_the_prompt_on_stdin_and_never_in_its_arguments(stand_in, cli, role):
    place = stand_in(cli)
    assert run_command([str(TOOLS / f"{cli}.sh"), role], name=role, stdin="the secret prompt ção") == "OWNER: ada\n"
    assert (place / "prompt").read_text() == "the secret prompt ção"
    assert "secret" not in (place / "words").read_text()


@pytest.mark.parametrize("cli", CLIS)
def test_a_model_may_be_named(stand_in, cli):
    place = stand_in(cli)
    run_command([str(TOOLS / f"{cli}.sh"), "answerer", "my-model"], name="m", stdin="x")
    words = (place / "words").read_text().splitlines()
    assert words[words.index("--model") + 1] == "my-model"


def test_claude_is_asked_without_hooks_servers_or_tools_and_with_bounded_turns(stand_in):
    place = stand_in("claude")
    run_command([str(TOOLS / "claude.sh"), "classifier"], name="m", stdin="x")
    words = (place / "words").read_text().splitlines()
    assert words[0] == "-p" and "--strict-mcp-config" in words
    assert json.loads(words[words.index("--mcp-config") + 1]) == {"mcpServers": {}}
    assert json.loads(words[words.index("--settings") + 1]) == {"hooks": {}, "disableAllHooks": True}
    assert words[words.index("--max-turns") + 1] == "1" and "Bash" in words[words.index("--disallowedTools") + 1]


def test_gemini_gets_settings_that_turn_everything_off(stand_in):
    place = stand_in("gemini")
    run_command([str(TOOLS / "gemini.sh"), "reviewer"], name="m", stdin="x")
    settings = json.loads((place / "settings").read_text())
    assert settings["tools"]["core"] == [] and settings["mcpServers"] == {} and settings["hooks"] == {"enabled": False}
    assert not Path((place / "cwd").read_text().strip()).exists()


def test_codex_reads_its_prompt_from_stdin_in_a_read_only_sandbox(stand_in):
    place = stand_in("codex")
    run_command([str(TOOLS / "codex.sh"), "reviewer"], name="m", stdin="x")
    words = (place / "words").read_text().splitlines()
    assert words[0] == "exec" and words[-1] == "-" and words[words.index("--sandbox") + 1] == "read-only"


@pytest.mark.parametrize("cli", CLIS)
def test_a_wrong_role_a_missing_program_and_a_failing_one_are_failures_with_a_reason(stand_in, monkeypatch, cli):
    adapter = str(TOOLS / f"{cli}.sh")
    with pytest.raises(CommandFailed, match="role"):
        run_command([adapter, "chat"], name="m", stdin="x")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(CommandFailed, match="not on PATH"):
        run_command([adapter, "answerer"], name="m", stdin="x")
    stand_in(cli, "echo partial; echo 'no credit left' >&2; exit 1")
    with pytest.raises(CommandFailed, match="no credit left"):
        run_command([adapter, "answerer"], name="m", stdin="x")


# ------------------------------------------------------------------------------------------ over HTTP


class Server:
    """A server on loopback that keeps what it was sent and answers what it is told to."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, object]]] = []
        self.status, self.body, self.location = 200, b"", ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), json.loads(data)))
                self.send_response(outer.status)
                if outer.location:
                    self.send_header("Location", outer.location)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()
    found.thread.join()


def completion(text: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def openai(server: Server, prompt: str = "grüße") -> str:
    return run_command([str(TOOLS / "openai.py"), f"http://{server.address}/v1", "m1"], name="m", stdin=prompt)


def test_an_openai_compatible_server_gets_the_prompt_and_its_reply_comes_back(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.body = completion("<think>hm\n</think>\nOWNER: ada ✓")
    assert openai(server) == "OWNER: ada ✓\n"
    [(path, headers, body)] = server.requests
    assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer test-key"
    assert body["model"] == "m1" and body["messages"] == [{"role": "user", "content": "grüße"}]


@pytest.mark.parametrize(("status", "body", "told"), [
    (500, b"model is loading", "500: model is loading"), (200, b"not json", "JSONDecodeError"), (200, b"{}", "KeyError"),
    (200, b"[1]", "TypeError"), (200, completion(None), "without text"), (200, completion(" \n"), "printed nothing"),
    (200, json.dumps({"choices": []}).encode(), "IndexError")])
def test_what_is_no_answer_of_the_server_is_a_failure(server, status, body, told):
    server.status, server.body = status, body
    with pytest.raises(CommandFailed, match=told):
        openai(server)


def test_a_key_does_not_travel_with_a_redirect_nor_over_plain_http(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    for status in (301, 302, 307, 308):
        server.status, server.location = status, f"http://{server.address}/elsewhere"
        with pytest.raises(CommandFailed, match=str(status)):
            openai(server)
    assert {path for path, _, _ in server.requests} == {"/v1/chat/completions"}
    with pytest.raises(CommandFailed, match="plain http"):
        run_command([str(TOOLS / "openai.py"), "http://models.example/v1", "m"], name="m", stdin="x")


def test_a_server_that_is_not_there_is_a_failure():
    with pytest.raises(CommandFailed, match="URLError"):
        run_command([str(TOOLS / "openai.py"), "http://127.0.0.1:1/v1", "m"], name="m", stdin="x")
    with pytest.raises(CommandFailed, match="URLError"):
        run_command(["env", "OLLAMA_HOST=127.0.0.1:1", str(TOOLS / "ollama.py"), "m"], name="m", stdin="x")


def test_ollama_gets_a_context_that_holds_the_prompt_and_refuses_one_that_is_too_long(server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    server.body = json.dumps({"message": {"content": "OWNER: ada"}}).encode()
    assert run_command([str(TOOLS / "ollama.py"), "qwen3:4b"], name="m", stdin="x" * 30_000) == "OWNER: ada\n"
    [(path, _, body)] = server.requests
    options = body["options"]
    assert path == "/api/chat" and isinstance(options, dict) and options["num_ctx"] == 12_048
    with pytest.raises(CommandFailed, match="KB_OLLAMA_CONTEXT"):
        run_command([str(TOOLS / "ollama.py"), "qwen3:4b"], name="m", stdin="x" * 300_000)


# ------------------------------------------------------------------------------------------ in a fleet


def test_a_fleet_with_copied_adapters_classifies_and_answers(fleet, stand_in, server):
    bin_ = stand_in("claude", "printf 'COVERAGE: covered\\nOWNER: ben\\nREVIEWERS: none\\n'")
    (fleet.root / "tools").mkdir()
    for name in ("claude.sh", "openai.py"):
        (fleet.root / "tools" / name).write_bytes((TOOLS / name).read_bytes())
        (fleet.root / "tools" / name).chmod(0o755)
    fleet.write("fleet.txt", "classifier = tools/claude.sh classifier\n"
                f"answerer = tools/openai.py http://{server.address}/v1 m1\n")
    fleet.env["PATH"] = f"{bin_}/bin:{fleet.env['PATH']}"
    server.body = completion("Open the drain (ada/knowledge/pump.md).")
    fleet.kb("index", ".").ok()
    fleet.kb("trust", ".").ok()
    assert fleet.kb("boot", ".", stdin="flush the pump").ok().out.startswith("VESTA: this message routes to ben.")
    assert fleet.kb("answer", "flush the pump", ".").ok().out.startswith("Open the drain (ada/knowledge/pump.md).")
    assert "THE PASSAGES:" in str(server.requests[0][2])


def test_every_adapter_says_its_contract_and_is_executable():
    for path in [*TOOLS.glob("*.sh"), *TOOLS.glob("*.py")]:
        assert os.access(path, os.X_OK) and "Contract:" in path.read_text() and "in fleet.txt:" in path.read_text()
        if path.suffix == ".sh":
            subprocess.run(["sh", "-n", str(path)], check=True)
