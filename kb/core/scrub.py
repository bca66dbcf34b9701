"""Secrets are cut out of a text before it reaches a file that others read. White space stays where it was.

What is recognised: tokens with a known prefix (OpenAI-style, Stripe, GitHub, Google, AWS, Slack, npm), JSON web tokens,
PEM private keys, passwords in URLs, `name=value` pairs whose name says secret, and what follows the word `Bearer`.
"""

from __future__ import annotations

import re

KEY, TOKEN, SECRET = "[REDACTED_KEY]", "[REDACTED_TOKEN]", "[REDACTED_SECRET]"

_NAMES = frozenset({"api_key", "apikey", "api-key", "token", "secret", "password", "access_token", "auth_token"})
_LEADING, _TRAILING = "\"'`([{<", "\"'`)]}>,.;:"
_PREFIXED = re.compile(
    r"sk-.{14,}|sk_(?:live|test)_.*|gh[pousr]_.{7,}|github_pat_.*|AIza.{13,}|(?:AKIA|ASIA).{12,}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|npm_[A-Za-z0-9]{30,}", re.DOTALL)
_PEM = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----"
    r"(?:.*?-----END (?P=kind)-----|(?:\s+[A-Za-z0-9+/=:,-]{16,})*)", re.DOTALL)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^\s/:@]*)(?::(?P<password>[^\s/]+))?@")
_QUERY = re.compile(
    r"(?i)(?P<name>[?&](?:api[_-]?key|token|secret|password|access_token|auth_token)=)[^\s&#\"'<>()\[\]]+")
_MARKER = re.compile(r"\[REDACTED_(?:KEY|TOKEN|SECRET)\]")


def scrub(text: str) -> str:
    """`text` with its secrets replaced by `[REDACTED_KEY]`, `[REDACTED_TOKEN]` or `[REDACTED_SECRET]`. Idempotent."""
    if "-----BEGIN " in text:
        text = _PEM.sub(KEY, text)
    if "eyJ" in text:
        text = _JWT.sub(TOKEN, text)
    if "://" in text:
        text = _QUERY.sub(lambda found: found["name"] + SECRET, _URL.sub(_without_password, text))
    parts = re.split(r"(\s+)", text)
    bearer = False
    for number, part in enumerate(parts):
        if not part or part.isspace():
            continue
        if bearer:
            bearer = False
            parts[number] = TOKEN if len(part.encode("utf-8", "surrogatepass")) > 12 else part
        elif part.lower().lstrip(_LEADING) in ("bearer", "bearer:"):
            bearer = number + 2 < len(parts)
        else:
            parts[number] = _word(part)
    return "".join(parts)


def _word(word: str) -> str:
    core = word.lstrip(_LEADING)
    head, core = word[:len(word) - len(core)], core.rstrip(_TRAILING)
    tail = word[len(head) + len(core):]
    if _PREFIXED.fullmatch(core):
        return head + KEY + tail
    mark = "=" if "=" in core else ":"
    name, found, value = core.partition(mark)
    if not found or not _MARKER.sub("", value + tail).strip(_LEADING + _TRAILING):
        return word
    if name.lower() in _NAMES:
        return f"{head}{name}={SECRET}{tail}"
    if _PREFIXED.fullmatch(value):
        return f"{head}{name}={KEY}{tail}"
    return word


def _without_password(found: re.Match[str]) -> str:
    user = KEY if _PREFIXED.fullmatch(found["user"]) else found["user"]
    password = f":{SECRET}" if found["password"] else ""
    return f"{found['scheme']}{user}{password}@"
