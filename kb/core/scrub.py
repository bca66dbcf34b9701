"""Secrets are cut out of a text before it reaches a file that others read. White space stays where it was.

What is recognised: tokens with a known prefix (OpenAI-style, Stripe, GitHub, GitLab, Google, AWS, Slack, npm, Hugging
Face), JSON web tokens, PEM private keys, passwords in URLs, a name that says secret with its value (`api_key=x`,
`DB_PASSWORD = x`, `"token": "x"`, `password: x1y2z3`), and what follows `Bearer` or `Authorization: Basic`.
"""

from __future__ import annotations

import re

KEY, TOKEN, SECRET = "[REDACTED_KEY]", "[REDACTED_TOKEN]", "[REDACTED_SECRET]"

_NAME = re.compile(r"(?i)(?:[\w.-]*[_.-])?(?:api[_-]?key|(?:secret|access|private)[_-]key|token|secret|password|passwd"
                   r"|passphrase|senha)")
_QUOTES, _MARKS = "\"'`", ("=", ":")
_LEADING, _TRAILING = "\"'`([{<", "\"'`)]}>,.;:"
_PREFIXED = re.compile(
    r"sk-.{14,}|sk_(?:live|test)_.*|gh[pousr]_.{7,}|github_pat_.*|AIza.{13,}|(?:AKIA|ASIA).{12,}"
    r"|glpat-[\w-]{10,}|hf_[A-Za-z0-9]{20,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|npm_[A-Za-z0-9]{30,}", re.DOTALL)
_PEM = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----"
    r"(?:.*?-----END (?P=kind)-----|(?:\s+[A-Za-z0-9+/=:,-]{16,})*)", re.DOTALL)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^\s/:@]*)(?::(?P<password>[^\s/]+))?@")
_QUERY = re.compile(
    r"(?i)(?P<name>[?&](?:api[_-]?key|token|secret|password|access_token|auth_token)=)[^\s&#\"'<>()\[\]]+")
_BASIC = re.compile(r"(?i)(?P<head>\bauthorization[\"']?\s*[:=]\s*[\"']?basic\s+)[^\s\"']+")
_MARKER = re.compile(r"\[REDACTED_(?:KEY|TOKEN|SECRET)\]")


def scrub(text: str) -> str:
    """`text` with its secrets replaced by `[REDACTED_KEY]`, `[REDACTED_TOKEN]` or `[REDACTED_SECRET]`. Idempotent."""
    if "-----BEGIN " in text:
        text = _PEM.sub(KEY, text)
    if "eyJ" in text:
        text = _JWT.sub(TOKEN, text)
    if "://" in text:
        text = _QUERY.sub(lambda found: found["name"] + SECRET, _URL.sub(_without_password, text))
    if "asic" in text or "ASIC" in text:
        text = _BASIC.sub(lambda found: found["head"] + TOKEN, text)
    parts = re.split(r"(\s+)", text)
    bearer = False
    named = ""  # what stands before a value that its name calls a secret: "", the name alone, or the name and its mark
    for number, part in enumerate(parts):
        if not part or part.isspace():
            continue
        if bearer:
            bearer = False
            parts[number] = TOKEN if len(part.encode("utf-8", "surrogatepass")) > 12 else part
        elif part.lower().lstrip(_LEADING) in ("bearer", "bearer:"):
            bearer = number + 2 < len(parts)
            named = ""
        elif named in _MARKS and _is_value(part, named, parts[number + 1:number + 3]):
            parts[number] = _value(part)
            named = ""
        elif named and named not in _MARKS and part in _MARKS:
            named = part
        else:
            parts[number] = _word(part)
            named = _opens(part)
    return "".join(parts)


def _word(word: str) -> str:
    core = word.lstrip(_LEADING)
    head, core = word[:len(word) - len(core)], core.rstrip(_TRAILING)
    tail = word[len(head) + len(core):]
    if _PREFIXED.fullmatch(re.sub(r"\[?REDACTED_(?:KEY|TOKEN|SECRET)\]?", "", core)):
        return head + KEY + tail
    mark = "=" if "=" in core else ":"
    name, found, value = core.partition(mark)
    if not found or not _MARKER.sub("", value + tail).strip(_LEADING + _TRAILING):
        return word
    if _NAME.fullmatch(name.strip(_QUOTES)):
        return f"{head}{name}={SECRET}{tail}"
    if _PREFIXED.fullmatch(value):
        return f"{head}{name}={KEY}{tail}"
    return word


def _opens(word: str) -> str:
    """The mark of a word that announces a secret (`password:`), the word itself when the mark may follow it, or ""."""
    if _MARKER.search(word):
        return ""
    core = word.lstrip(_LEADING).rstrip(_QUOTES)
    mark = core[-1:] if core[-1:] in _MARKS else ""
    name = core[:len(core) - len(mark)].strip(_QUOTES)
    return (mark or name) if _NAME.fullmatch(name) else ""


def _is_value(word: str, mark: str, after: list[str]) -> bool:
    """Whether a word is what the name before it announced. After a colon plain words are prose, unless the line ends."""
    core = word.strip(_LEADING + _TRAILING)
    if not core or _MARKER.sub("", word).strip(_LEADING + _TRAILING) == "":
        return False
    if mark == "=" or word[0] in _QUOTES:
        return True
    last = len(after) < 2 or not after[1] or "\n" in after[0]
    plain = core.isalpha() and core[1:] == core[1:].lower()
    return len(core) >= (4 if last else 6) and (last or not plain)


def _value(word: str) -> str:
    core = word.lstrip(_LEADING)
    head = word[:len(word) - len(core)]
    return head + SECRET + core[len(core.rstrip(_TRAILING)):]


def _without_password(found: re.Match[str]) -> str:
    user = KEY if _PREFIXED.fullmatch(found["user"]) else found["user"]
    password = f":{SECRET}" if found["password"] else ""
    return f"{found['scheme']}{user}{password}@"
