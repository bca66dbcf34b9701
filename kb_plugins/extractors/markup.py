"""HTML as text: what a reader would see, with headings and list items marked as in markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import NavigableString

_UNSEEN = ("script", "style", "noscript", "template", "head", "svg", "iframe", "object", "nav")
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p",
    "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"))
_ROWS = frozenset(("table", "tbody", "thead", "tfoot", "tr", "ul", "ol"))  # white space right inside them is layout
_HEADING = re.compile(r"h([1-6])")
_BLANK = re.compile(r"[ \t\r\n\f\v]+")


def html_text(data: bytes | str) -> tuple[str, str]:
    """(title, text) of an HTML document. Bytes are decoded as the document declares, else as UTF-8, else Windows-1252."""
    from bs4 import BeautifulSoup, Comment, Declaration, Doctype, ProcessingInstruction

    soup = BeautifulSoup(data, "html.parser")
    title = _BLANK.sub(" ", soup.title.get_text()).strip() if soup.title else ""
    for tag in soup.find_all(_UNSEEN):
        tag.extract()
    for tag in soup.find_all(lambda tag: tag.has_attr("hidden")):
        tag.extract()
    for note in soup.find_all(string=lambda text: isinstance(text, Comment | Declaration | Doctype | ProcessingInstruction)):
        note.extract()
    return title, tidy(_walk(soup))


def _walk(root: Tag) -> str:
    """The text in reading order, without recursion: the nesting of a page is as deep as its author likes."""
    from bs4 import Tag
    from bs4.element import NavigableString

    out = [""]
    stack: list[Tag | NavigableString | str] = [root]  # a plain str is the end of a block
    fixed = 0  # how many <pre> are open
    while stack:
        item = stack.pop()
        if isinstance(item, Tag):
            stack.extend(_open(item, out))
            fixed += item.name == "pre"
            stack.extend(reversed(item.contents))  # type: ignore[arg-type]
        elif not isinstance(item, NavigableString):
            fixed -= item == "pre"
            _break(out, "\n")
        elif fixed:
            out.append(str(item))
        elif item.parent is None or item.parent.name not in _ROWS or not item.isspace():
            text = _BLANK.sub(" ", str(item))
            text = text.lstrip() if out[-1].endswith(("\n", "- ", "# ")) else text
            out += [text] if text else []
    return "".join(out)


def _open(tag: Tag, out: list[str]) -> list[str]:
    """Write what stands before a tag's text, and return what is to follow it."""
    name = tag.name
    if name in ("td", "th"):
        out += [] if out[-1].endswith("\n") else [" | "]
    elif name == "img" and tag.get("alt"):
        out.append(f" {tag['alt']} ")
    if name not in _BLOCKS:
        return []
    heading = _HEADING.fullmatch(name)
    _break(out, "\n" if name in ("br", "tr", "li") else "\n\n")
    if heading or name == "li":
        out.append("#" * int(heading[1]) + " " if heading else "- ")
    return [name]


def _break(out: list[str], ends: str) -> None:
    """End the line, or the paragraph; nothing after a mark, whose text is still to come."""
    if not out[-1].endswith(("- ", "# ", ends)):
        out.append("\n" if out[-1].endswith("\n") else ends)


def tidy(text: str) -> str:
    """`text` without blanks at line ends and with at most one blank line in a row."""
    lines = [line.rstrip() for line in text.replace("\xa0", " ").replace("\f", "\n\n").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
