"""What a file really is, by its first bytes: a name can be wrong, and a parser's complaint helps nobody."""

from __future__ import annotations

from kb.api import KbError

_KINDS = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive (docx, odt and epub are such)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or an encrypted Office file"),
    (b"{\\rtf", "rich text (rtf)"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)


def kind_of(data: bytes) -> str | None:
    """What the first bytes say that the file is, or None when they say nothing."""
    return next((kind for magic, kind in _KINDS if data.startswith(magic)), None)


def refuse_other_kinds(data: bytes, wanted: str) -> None:
    """Raise KbError when the first bytes belong to something else than `wanted` names."""
    kind = kind_of(data)
    if kind is not None:
        raise KbError(f"its name says {wanted}, and it is {kind}", hint="give it the ending of what it is")
