"""PDF, when it holds text. A scan is pictures of text, and is refused."""

from __future__ import annotations

from pathlib import Path

from kb.api import Extractor, KbError, hookimpl
from kb_plugins.extractors.markup import tidy
from kb_plugins.extractors.sniff import kind_of

MOST_PAGES = 5000


def extract(path: Path) -> str:
    """The text of every page. Raises KbError when the file is encrypted, scanned, damaged or no PDF."""
    with path.open("rb") as file:
        head = file.read(1024)
    if b"%PDF-" not in head:  # the format allows a little rubbish before its mark
        raise KbError(f"its name says PDF, and it is {kind_of(head) or 'something else'}")
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise KbError("the PDF is encrypted", hint="save a copy without a password")
        if len(reader.pages) > MOST_PAGES:
            raise KbError(f"the PDF has {len(reader.pages)} pages, and {MOST_PAGES} is the most", hint="split it")
        text = tidy("\n\n".join(page.extract_text() for page in reader.pages))
    except DependencyError:
        raise KbError("the PDF is encrypted in a way that needs the Python package cryptography",
                      hint="pip install cryptography, or save a copy without a password") from None
    except PyPdfError as error:
        raise KbError(f"the PDF is damaged: {error}") from None
    if not any(c.isalnum() for c in text):
        raise KbError("no page of the PDF holds text, so it is probably a scan",
                      hint="run it through OCR first, such as: ocrmypdf in.pdf out.pdf")
    return text


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`pdf`."""
    return [Extractor("pdf", ("pdf",), extract)]
