"""Documents that are zip archives: opened only when what is inside can be unpacked without harm."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from kb.api import KbError
from kb_plugins.extractors.sniff import kind_of

MOST_ENTRIES = 10_000
MOST_BYTES = 256 * 1024 * 1024
HIGHEST_RATIO = 200  # text compresses 3 to 10 times, the most repetitive XML some 100
_SMALL = 1024 * 1024


def open_archive(path: Path, wanted: str) -> ZipFile:
    """The archive at `path`, to be closed by the caller, after its table of contents was found harmless.

    Python's zipfile never reads more of an entry than the table declares, so what is counted here is what comes out.
    Raises KbError for something else than a zip, and for one with too many entries, too much in them, or packed too
    tightly to be honest.
    """
    try:
        archive = ZipFile(path)
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        with path.open("rb") as file:
            kind = kind_of(file.read(16))
        if kind is not None and "Office" in kind:
            raise KbError(f"its name says {wanted}, and it is {kind}", hint="save a copy without a password") from None
        found = f"it is {kind}" if kind and "zip" not in kind else f"it cannot be opened as one: {error}"
        raise KbError(f"its name says {wanted}, and {found}") from None
    try:
        _check(archive.infolist())
    except KbError:
        archive.close()
        raise
    return archive


def member(archive: ZipFile, name: str) -> bytes | None:
    """One entry unpacked, or None when there is none of that name. Raises KbError when it is damaged or encrypted."""
    import zlib

    try:
        return archive.read(name)
    except KeyError:
        return None
    except RuntimeError:
        raise KbError(f"{name} in it is encrypted", hint="save a copy without a password") from None
    except (BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise KbError(f"{name} in it is damaged: {error}") from None


def _check(entries: list[ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise KbError(f"it packs {len(entries)} files, and {MOST_ENTRIES} is the most")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise KbError(f"it unpacks to {total // 1024 // 1024} MB, and {MOST_BYTES // 1024 // 1024} MB is the most")
    for entry in entries:
        if entry.file_size > _SMALL and entry.file_size > HIGHEST_RATIO * max(entry.compress_size, 1):
            raise KbError(f"{entry.filename} in it unpacks to more than {HIGHEST_RATIO} times its size, as a decompression "
                          "bomb does")
