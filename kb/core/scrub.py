"""Secrets are cut out of a text before it reaches a file that others read. White space outside a secret stays where it was.

What is recognised:
- tokens with a known prefix (OpenAI-style, Stripe, GitHub, GitLab, Google, AWS, Slack, npm, Hugging Face and others), wherever
  they stand between characters that cannot be theirs; JSON web tokens; private key blocks, PGP ones too;
- passwords in URLs, and what follows `Bearer` or an `Authorization` header;
- a value whose name ends in a word for a secret (`api_key=x`, `PGPASSWORD = x`, `"clientSecret":"x"`, `password: x1y2z3`,
  `?access_token=x`, `Uid=y;Password=x`, `--password x`, `<token>x</token>`), a quoted one to its closing quote.

Names without a value are prose: `the password is changed`, `token ring`. Every expression takes time that grows with the length
of the text and no faster: none begins with a repetition, or the repetition cannot cross what begins the expression.
"""

from __future__ import annotations

import re

KEY, TOKEN, SECRET = "[REDACTED_KEY]", "[REDACTED_TOKEN]", "[REDACTED_SECRET]"

_SECRET_WORD = (r"(?:api[_-]?key|(?:secret|access|private|account|signing|encryption)[_-]?key|token|secret|password|passwd"
                r"|passphrase|senha|[_.-]pwd)")
_NAME = re.compile(rf"(?i)[\w.-]*{_SECRET_WORD}")
_QUOTES, _MARKS = "\"'`", ("=", ":")
_AROUND = "\"'`“”\\.,:"
_LEADING, _TRAILING = "\"'`([{<", "\"'`)]}>,.;:"
_PREFIXED = re.compile(
    r"sk-.{14,}|sk_(?:live|test)_.*|gh[pousr]_.{7,}|github_pat_.*|AIza.{13,}|(?:AKIA|ASIA).{12,}"
    r"|glpat-[\w-]{10,}|hf_[A-Za-z0-9]{20,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|npm_[A-Za-z0-9]{30,}", re.DOTALL)
_ANYWHERE = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"  # a letter of `\n` or `%3D` is none of the token's neighbours
    r"(?:sk-[\w-]{14,}|[rs]k_(?:live|test)_\w+|gh[pousr]_\w{7,}|github_pat_\w+|AIza[\w-]{13,}|(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|glpat-[\w-]{10,}|hf_[A-Za-z0-9]{20,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[\w-]{16,}"
    r"|whsec_[A-Za-z0-9]{16,}|shpat_[a-f0-9]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{16,})", re.ASCII)
_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:\s+[A-Za-z0-9+/=:,-]{16,})*)")
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*")
_URL = re.compile(r"://(?P<user>[^\s/:@]*)(?::(?P<password>[^\s/]+))?@")
_HEADER = re.compile(r"(?i)(?P<head>\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?:basic|bearer|token|digest|apikey)\s+)[^\s\"'\\]+")
_IN_QUOTES = r"\\\"[^\"\\\n]+\\\"|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\n]+`|“[^“”\n]+”"
_BARE = r"[^\s&;,\"'`<>()\[\]{}|\\]"
_QUOTED = re.compile(
    rf"(?i)(?P<head>{_SECRET_WORD}(?:\\?[\"'`]|\*\*|__)?[ \t]*(?::?={{1,3}}>?|:)(?:\*\*|__)?[ \t]*)(?P<value>{_IN_QUOTES})")
_OPTION = re.compile(
    rf"(?i)(?P<head>(?<![\w.-])--?(?:[\w.-]*[_.-])?{_SECRET_WORD}[ \t]+)(?P<value>{_IN_QUOTES}|(?!-){_BARE}+)"
    r"(?P<after>[ \t]*(?:[-|&;>\\]|$))?", re.MULTILINE)
_PAIR = re.compile(
    rf"(?i)(?P<head>{_SECRET_WORD}\\?[\"'`]?(?:[ \t]*:?={{1,3}}>?[ \t]*|:(?!:)|%3[ad]))(?P<value>(?![:=]|\*\*){_BARE}+)")
_ELEMENT = re.compile(rf"(?i)(?P<head>{_SECRET_WORD}>)(?P<value>[^<>\n]+)(?=</)")
_MOST_PASSES = 8
_MARKER = re.compile(r"\[REDACTED_(?:KEY|TOKEN|SECRET)\]")
_CLEANED = re.compile(r"[\"'`\\]{0,2}\[REDACTED_(?:KEY|TOKEN|SECRET)\](?![\w\[/+=-])")
_BEARER = re.compile(r"(?i)(?:.*[:=\"'])?bearer:?", re.DOTALL)
_GRAMMAR = frozenset({"and", "argument", "field", "flag", "flags", "is", "option", "options", "or", "parameter", "setting", "switch",
                      "value", "was"})


def scrub(text: str) -> str:
    """`text` with its secrets replaced by `[REDACTED_KEY]`, `[REDACTED_TOKEN]` or `[REDACTED_SECRET]`. Idempotent."""
    for _ in range(_MOST_PASSES):  # what one pass cuts out may bring a name and a value together
        cleaned = _scrubbed(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _scrubbed(text: str) -> str:
    if "-----BEGIN " in text:
        text = _BLOCK.sub(KEY, text)
    if "eyJ" in text:
        text = _JWT.sub(TOKEN, text)
    if "://" in text:
        text = _URL.sub(_without_password, text)
    text = _HEADER.sub(lambda found: found["head"] + TOKEN, text)
    text = _QUOTED.sub(_quoted, text)
    text = _OPTION.sub(_option, text)
    text = _words(text)
    text = _PAIR.sub(lambda found: found["head"] + SECRET, text)
    text = _ELEMENT.sub(lambda found: found[0] if _is_blank(found["value"]) else found["head"] + SECRET, text)
    return _ANYWHERE.sub(KEY, text)


def _words(text: str) -> str:
    """Word by word: a name in one word with its value, or in the word before it."""
    parts = re.split(r"(\s+)", text)
    bearer = False
    named = ""  # what stands before a value that its name calls a secret: "", the name alone, or the name and its mark
    for number, part in enumerate(parts):
        if not part or part.isspace():
            continue
        if bearer:
            bearer = False
            if len(part.encode("utf-8", "surrogatepass")) > 12 and not _is_blank(part):
                parts[number] = TOKEN
        elif _BEARER.fullmatch(part.lstrip(_LEADING)):
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
    if not found or _is_blank(value + tail) or _CLEANED.match(value):
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
    core = word.lstrip(_LEADING + "*_").rstrip(_QUOTES + "*_")
    mark = core[-1:] if core[-1:] in _MARKS else ""
    name = core[:len(core) - len(mark)].strip(_QUOTES + "*_")
    return (mark or name) if _NAME.fullmatch(name) else ""


def _is_value(word: str, mark: str, after: list[str]) -> bool:
    """Whether a word is what the name before it announced. After a colon plain words are prose, unless the line ends."""
    core = word.strip(_LEADING + _TRAILING)
    if not core or _is_blank(word):
        return False
    if mark == "=" or word[0] in _QUOTES:
        return True
    last = len(after) < 2 or not after[1] or "\n" in after[0]
    plain = _is_plain(core)
    return len(core) >= (4 if last else 6) and (last or not plain)


def _value(word: str) -> str:
    core = word.lstrip(_LEADING)
    head = word[:len(word) - len(core)]
    return head + SECRET + core[len(core.rstrip(_TRAILING)):]


def _is_blank(text: str) -> bool:
    """Whether nothing is left to hide."""
    return not _MARKER.sub("", text).strip(_LEADING + _TRAILING)


def _is_plain(word: str) -> bool:
    """Whether it is a word as in prose: letters, none of them a capital but the first."""
    return word.isalpha() and word[1:] == word[1:].lower()


def _quoted(found: re.Match[str]) -> str:
    value = found["value"]
    width = 2 if value[0] == "\\" else 1
    if _is_blank(value.strip("\\")):
        return found[0]
    return found["head"] + value[:width] + SECRET + value[-width:]


def _option(found: re.Match[str]) -> str:
    """A plain word after `--password` is its value only where the line or the command's next option begins: else it is prose."""
    value, after = found["value"], found["after"]
    core = value.strip(_AROUND)
    if not core or (_is_plain(core) and (after is None or core.lower() in _GRAMMAR)):
        return found[0]
    head, _, tail = value.partition(core)
    return found["head"] + head + SECRET + tail + (after or "")


def _without_password(found: re.Match[str]) -> str:
    user = KEY if _PREFIXED.fullmatch(found["user"]) else found["user"]
    password = f":{SECRET}" if found["password"] else ""
    return f"://{user}{password}@"
