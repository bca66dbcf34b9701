#!/usr/bin/env -S python3 -I
"""Asks a model of a local ollama server.

    in fleet.txt:   classifier = tools/ollama.py qwen3:4b

Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
stderr. It serves every role; the one argument is the model. OLLAMA_HOST names another server than 127.0.0.1:11434.
The context is made as large as the prompt needs, because ollama cuts a longer one silently, up to KB_OLLAMA_CONTEXT
tokens (32768 without it); a prompt over that is refused.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request

REPLY_TOKENS = 2048


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("ollama.py: the one argument is the model, such as qwen3:4b")
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    needed = len(prompt.encode()) // 3 + REPLY_TOKENS
    most = int(os.environ.get("KB_OLLAMA_CONTEXT", "32768"))
    if needed > most:
        sys.exit(f"ollama.py: the prompt needs about {needed} tokens of context and KB_OLLAMA_CONTEXT allows {most}")
    host = os.environ.get("OLLAMA_HOST") or "127.0.0.1:11434"
    url = (host if "://" in host else f"http://{host}").rstrip("/") + "/api/chat"
    body = {"model": sys.argv[1], "stream": False, "messages": [{"role": "user", "content": prompt}],
            "options": {"temperature": 0, "num_ctx": needed}}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request) as response:
            reply = json.load(response)["message"]["content"]
    except urllib.error.HTTPError as error:
        sys.exit(f"ollama.py: {url} answered {error.code}: {error.read(500).decode('utf-8', 'replace')}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"ollama.py: {url}: {type(error).__name__}: {error}")
    print(re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL).strip())


main()
