#!/usr/bin/env -S python3 -I
"""Asks any server that speaks the OpenAI chat completions protocol: hosted ones, llama.cpp, vLLM, LM Studio, ...

    in fleet.txt:   answerer = tools/openai.py http://127.0.0.1:8080/v1 local-model
                    reviewer = tools/openai.py https://api.openai.com/v1 gpt-5

Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
stderr. It serves every role; the arguments are the address up to and with the version, and the model.
OPENAI_API_KEY, when it is set, is sent as the bearer token, over https or to this machine only, and never to where a
redirect points: redirects are refused.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A prompt and a key go where fleet.txt says, or nowhere."""

    def redirect_request(self, *args: Any) -> None:
        return None


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("openai.py: the arguments are an address, such as http://127.0.0.1:8080/v1, and a model")
    address, model = sys.argv[1].rstrip("/"), sys.argv[2]
    place = urllib.parse.urlsplit(address)
    local = place.hostname in ("127.0.0.1", "localhost", "::1")
    if place.scheme not in ("http", "https"):
        sys.exit(f"openai.py: {address} is no http or https address")
    headers = {"Content-Type": "application/json", "User-Agent": "kb"}
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if key:
        if place.scheme != "https" and not local:
            sys.exit("openai.py: the key is not sent over plain http to another machine; use https, or unset OPENAI_API_KEY")
        headers["Authorization"] = f"Bearer {key}"
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    body = {"model": model, "stream": False, "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(f"{address}/chat/completions", json.dumps(body).encode(), headers)
    proxies = [urllib.request.ProxyHandler({})] if local else []
    try:
        with urllib.request.build_opener(NoRedirect, *proxies).open(request) as response:
            reply = json.load(response)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        sys.exit(f"openai.py: {address} answered {error.code}: {error.read(500).decode('utf-8', 'replace')}")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        sys.exit(f"openai.py: {address}: {type(error).__name__}: {error}")
    if not isinstance(reply, str):
        sys.exit(f"openai.py: {address} answered without text")
    print(re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL).strip())


main()
