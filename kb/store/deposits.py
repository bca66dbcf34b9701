"""The deposit of a base, `inbox/`: which files in it are read, and how a document gets in and out of it.

Nothing is ever deleted here but what this module itself put there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from kb.core.display import flat
from kb.core.markdown import front_matter, lines_of
from kb.core.values import Base
from kb.errors import KbError
from kb.store.clock import today
from kb.store.declared import is_private
from kb.store.files import is_inside, read_text, write_atomic

LARGEST = 9 * 1024 * 1024  # bytes of one deposit that a model is given
_RAW = "raw"
_ENDINGS = (".md", ".txt")
_FOR_PEOPLE = frozenset({"what-goes-here.md", "readme.md", "moved.md"})


class Deposit(NamedTuple):
    """A file of an inbox. `rel` is its POSIX path inside the base; `source` names it for people and in notes."""

    base: Base
    path: str
    rel: str

    @property
    def source(self) -> str:
        return f"{self.base.name}/{self.rel}"


class Staged(NamedTuple):
    """A document in the deposit: its text, and the original beside it. Both paths are absolute.

    digest: of the original's bytes (`digest_of`), "" in a deposit of an older kb, which kept none.
    """

    deposit: Deposit
    raw: str
    digest: str = ""


def deposits(base: Base, include_private: bool) -> Iterator[Deposit]:
    """The files of a base's inbox that are read, sorted by path; `raw/` holds originals and is not.

    Links are not followed out of the base: a deposit is sent to a model. The private layer takes `include_private`.
    """
    found = []
    inbox = os.path.join(base.root, "inbox")
    if not _inside(base, inbox):
        return
    for folder, folders, names in os.walk(inbox):
        folders[:] = sorted(name for name in folders if name != _RAW and not name.startswith("."))
        for name in names:
            path = os.path.join(folder, name)
            rel = os.path.relpath(path, base.root).replace(os.sep, "/")
            wanted = name.lower().endswith(_ENDINGS) and name.lower() not in _FOR_PEOPLE and not name.startswith(".")
            if (wanted and base.holds(rel) and os.path.isfile(path) and _inside(base, path)
                    and (include_private or not is_private(base, rel))):
                found.append(Deposit(base, path, rel))
    yield from sorted(found, key=lambda deposit: deposit.rel)


def text_of(deposit: Deposit) -> str:
    """The text of a deposit. Raises KbError when it cannot be read, is not UTF-8, or is too large for a model."""
    try:
        if os.stat(deposit.path).st_size > LARGEST:
            raise KbError(f"{deposit.source} is larger than {LARGEST // 1024 // 1024} MB", hint="split it")
        return read_text(deposit.path)
    except UnicodeDecodeError:
        raise KbError(f"{deposit.source} is not UTF-8 text") from None
    except OSError as error:
        raise KbError(f"{deposit.source} cannot be read: {error.strerror or error}") from None


def digest_of(path: str) -> str:
    """What the bytes of a document are known by. Raises KbError when they cannot be read."""
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise KbError(f"{path} cannot be read: {error.strerror or error}") from None


def stage(base: Base, document: str, text: str, *, keep: bool, digest: str = "") -> Staged:
    """Put a document into the inbox: its text as a deposit, then the original into `raw/`, moved, or copied with `keep`.

    `digest` is of the bytes that the text was taken from, when that was earlier. The text comes first and says where the
    original goes, so that a run that is cut between the two is finished by `staged_from` and another `stage_original`.
    Raises KbError; the document is then where it was, and no deposit is left.
    """
    digest = digest or digest_of(document)
    inbox = os.path.join(base.root, "inbox")
    if not (_inside(base, inbox) and _inside(base, os.path.join(inbox, _RAW))):
        raise KbError(f"{inbox} leads out of the base", hint="nothing was changed")
    name, ending = os.path.splitext(os.path.basename(document))
    stem = f"{today()}-{document_slug(name)}"
    try:
        raw = _free(os.path.join(inbox, _RAW), stem, _raw_ending(ending))
        path = _free(inbox, stem, "txt")
        write_atomic(path, _staged_text(document, raw, digest, text))
    except OSError as error:
        raise KbError(f"{inbox} cannot be written: {error.strerror or error}", hint="nothing was changed") from None
    staged = Staged(Deposit(base, path, os.path.relpath(path, base.root).replace(os.sep, "/")), raw, digest)
    try:
        stage_original(document, raw, keep=keep)
    except OSError as error:
        os.unlink(path)
        raise KbError(f"{document} cannot be moved into {os.path.dirname(raw)}: {error.strerror or error}",
                      hint="nothing was changed") from None
    return staged


def stage_original(document: str, raw: str, *, keep: bool) -> None:
    """Move the document to `raw`, or copy it with `keep`. On another disk it is copied, compared, and only then removed.

    Raises OSError, with the document untouched.
    """
    import errno

    os.makedirs(os.path.dirname(raw), exist_ok=True)
    if not keep:
        try:
            os.rename(document, raw)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    _copy(document, raw)
    if not keep:
        os.unlink(document)


def staged_from(base: Base, document: str) -> Iterator[Staged]:
    """The deposits that say an earlier run made them of the document at this absolute path; their originals may be gone.

    A deposit is untrusted: it must stand where `stage` puts one, and name an original where `stage` puts that.
    """
    folder = os.path.join(base.root, "inbox", _RAW)
    if not _inside(base, folder):
        return
    for deposit in deposits(base, True):
        try:
            front = front_matter(lines_of(read_text(deposit.path)))
        except (OSError, UnicodeDecodeError):
            continue
        raw = os.path.normpath(front.get("staged_raw", ""))
        if front.get("staged_from") == _one_line(document) and os.path.dirname(raw) == folder and _named_alike(
                document, deposit, raw):
            yield Staged(deposit, raw, front.get("staged_digest", ""))


def holds(staged: Staged, document: str, digest: str, text: str) -> bool:
    """Whether the deposit is to the letter what `stage` makes of this document, and no other original is in its place."""
    if staged.digest not in ("", digest) or (os.path.lexists(staged.raw) and not has_original(staged._replace(digest=digest))):
        return False
    try:
        return read_text(staged.deposit.path) == _staged_text(document, staged.raw, staged.digest, text)
    except (OSError, UnicodeDecodeError):
        return False


def has_original(staged: Staged) -> bool:
    """Whether the very bytes that were staged lie in `raw/`."""
    return bool(staged.digest) and os.path.isfile(staged.raw) and not os.path.islink(staged.raw) and (
        digest_of(staged.raw) == staged.digest)


def destroy(staged: Staged) -> list[str]:
    """Remove the original and then its text; the paths that are gone.

    Raises KbError when one cannot be removed, or when what lies in `raw/` is not what was staged: then nothing is.
    """
    if os.path.lexists(staged.raw) and not has_original(staged):
        raise KbError(f"{staged.raw} is not what was staged", hint="nothing was removed")
    gone = []
    for path in (staged.raw, staged.deposit.path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise KbError(f"cannot remove {path}: {error.strerror or error}") from None
        gone.append(path)
    return gone


def document_slug(name: str) -> str:
    """A file name without its extension as the name of a deposit: ASCII letters and digits in lower case, `-` between."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "document"


def _raw_ending(ending: str) -> str:
    """The ending of an original; as .md it would be a note, and its keys would claim questions."""
    plain = re.sub(r"[^a-z0-9]", "", ending.lower()) or "bin"
    return "markdown" if plain == "md" else plain


def _staged_text(document: str, raw: str, digest: str, text: str) -> str:
    """The deposit of a document. An older kb kept no digest: "" makes what it made."""
    told = f"staged_digest: {digest}\n" if digest else ""
    return (f"---\nprovenance: external\nstage: raw\nstaged_from: {_one_line(document)}\nstaged_raw: {_one_line(raw)}\n"
            f"{told}---\n\n{text.strip()}\n")


def _named_alike(document: str, deposit: Deposit, raw: str) -> bool:
    """Whether the deposit and its original have the names that `stage` gives."""
    name, ending = os.path.splitext(os.path.basename(document))
    stem = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}-{re.escape(document_slug(name))}(-[0-9]+)?"
    return (re.fullmatch(rf"inbox/{stem}\.txt", deposit.rel) is not None
            and re.fullmatch(rf"{stem}\.{_raw_ending(ending)}", os.path.basename(raw)) is not None)


def _copy(document: str, raw: str) -> None:
    """A complete copy at `raw`, or none at all."""
    import shutil

    partial = f"{raw}.{os.getpid()}.tmp"
    try:
        shutil.copy2(document, partial)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        if os.path.getsize(partial) != os.path.getsize(document):
            raise OSError(f"the copy is short: {partial}")
        os.rename(partial, raw)
    except BaseException:
        try:
            os.unlink(partial)
        except OSError:
            pass
        raise


def _free(folder: str, stem: str, ending: str) -> str:
    """The first name that nothing has yet: `stem`, then `stem-2` and so on."""
    number = 1
    while True:
        path = os.path.join(folder, f"{stem}{'' if number == 1 else f'-{number}'}.{ending}")
        if not os.path.lexists(path):
            return path
        number += 1


def _inside(base: Base, path: str) -> bool:
    return is_inside(os.path.realpath(path), base.root)


def _one_line(path: str) -> str:
    return flat(path.encode("utf-8", "replace").decode())
