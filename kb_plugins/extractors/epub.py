"""Electronic books (epub), chapter by chapter in the order of the spine."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kb.api import Extractor, KbError, hookimpl
from kb_plugins.extractors.markup import html_text
from kb_plugins.extractors.zipped import member, open_archive

if TYPE_CHECKING:
    from zipfile import ZipFile

    from bs4 import BeautifulSoup

_TEXT = ("application/xhtml+xml", "text/html")


def extract(path: Path) -> str:
    """The chapters that the spine lists, in its order. Raises KbError, for a protected book too."""
    with open_archive(path, "epub") as archive:
        package = _package(archive)
        protected = _protected(archive)
        chapters = []
        for name in _spine(archive, package):
            if name in protected:
                raise KbError("the book is protected (DRM), so its text cannot be read")
            data = member(archive, name)
            if data is not None:
                chapters.append(html_text(data)[1])
    return "\n\n".join(chapter for chapter in chapters if chapter)


def _package(archive: ZipFile) -> str:
    """The path of the package document inside the archive."""
    container = member(archive, "META-INF/container.xml")
    if container is None:
        raise KbError("its name says epub, and it is a zip archive without a book in it")
    root = _soup(container).find("rootfile")
    name = root.get("full-path") if root is not None else None
    if not isinstance(name, str) or name not in archive.namelist():
        raise KbError("the epub is damaged: it does not say where its package is")
    return name


def _spine(archive: ZipFile, package: str) -> list[str]:
    """The paths of the chapters inside the archive, in reading order."""
    soup = _soup(member(archive, package) or b"")
    items = {str(item.get("id")): item for item in soup.find_all("item")}
    folder = posixpath.dirname(package)
    found = []
    for reference in soup.find_all("itemref"):
        item = items.get(str(reference.get("idref")))
        if item is not None and str(item.get("media-type", "")).lower() in _TEXT:
            place = unquote(str(item.get("href", "")).partition("#")[0])
            found.append(posixpath.normpath(posixpath.join(folder, place)))
    if not found:
        raise KbError("the epub is damaged: its spine lists no chapter")
    return found


def _protected(archive: ZipFile) -> set[str]:
    """The entries that are encrypted. Fonts often are, in books that anybody may read."""
    data = member(archive, "META-INF/encryption.xml")
    if data is None:
        return set()
    return {posixpath.normpath(unquote(str(place.get("uri", "")))) for place in _soup(data).find_all(
        lambda tag: tag.name.rpartition(":")[2] == "cipherreference")}


def _soup(data: bytes) -> BeautifulSoup:
    """Small XML read leniently: names come in lower case, prefixes stay."""
    import warnings

    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(data, "html.parser")


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`epub`."""
    return [Extractor("epub", ("epub",), extract)]
