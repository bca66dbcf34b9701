"""Text and markdown, as they are."""

from __future__ import annotations

from pathlib import Path

from kb.api import Extractor, KbError, hookimpl, read_bytes
from kb_plugins.extractors.sniff import refuse_other_kinds


def extract(path: Path) -> str:
    """The text of the file, which must be UTF-8; a byte order mark says which UTF it is. Raises KbError."""
    data = read_bytes(path)
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    if encoding == "utf-8-sig":
        refuse_other_kinds(data, "text")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise KbError(f"it is not {name} text (byte {error.start})",
                      hint="save it as UTF-8 and try again") from None
    if "\0" in text:
        raise KbError("it holds NUL characters, so it is not text")
    return text


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`txt` and `md`."""
    return [Extractor("plain", ("txt", "md", "markdown"), extract)]
