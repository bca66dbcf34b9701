"""The line structure of a markdown document, as CommonMark sees it: front matter, fences, headings, code, text.

One pass over the lines with a stack of open containers, after the parsing strategy in the appendix of the CommonMark
specification 0.31. Every line is looked at a bounded number of times, so the cost is linear in the length of the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

LineKind = Literal["front", "blank", "fence", "code", "heading", "underline", "text"]

BEGINS, CONTINUES, HTML = 0, 1, 2  # the levels of a text line

_DEEPEST = 100  # nesting of lists and quotes beyond which markers are text: nobody writes it, and each level costs time
_STRUCTURAL = frozenset(" \t#>-+*_=`~<0123456789")  # a line that begins with anything else is text
_TEXT_AFTER_ALL = re.compile(r"\*+[^*\s]|_+[^_\s]|\d++(?:[^.)]|$)|`{1,2}[^`]|[-+][^-+\s]|#++[^#\s]")
_SPACES = re.compile(" *")
_ATX = re.compile(r"(#{1,6})(?:[ \t]|$)")
_SETEXT = re.compile(r"(?:=++|-++)[ \t]*+$")
_FENCE = re.compile(r"(`{3,}+)[^`]*+$|(~{3,}+)")
_RULE = re.compile(r"(?:(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+)$")
_MARKER = re.compile(r"([-+*]|\d{1,9}[.)])( +|$)")
DEFINITION = re.compile(r" {0,3}\[(?:[^\[\]\\]|\\.){1,999}\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)"
                         r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$")

_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}  # first line -> what the last one may be

_ATTRIBUTE = r"[ \t]++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:[ \t]*+=[ \t]*+(?:[^ \t\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+"
_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem "
    "nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul")

@cache
def _html() -> tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...]:
    """How a block of HTML begins, and what its last line holds; None: it ends before a blank line.

    The last cannot interrupt a paragraph. Compiled on first use, because most notes hold no HTML.
    """
    return (
        (re.compile(r"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE),
         re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
        (re.compile(r"<!--"), re.compile(r"-->")),
        (re.compile(r"<\?"), re.compile(r"\?>")),
        (re.compile(r"<![A-Za-z]"), re.compile(r">")),
        (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
        (re.compile(rf"</?(?:{_BLOCK_TAGS.replace(' ', '|')})(?:[ \t]|/?>|$)", re.IGNORECASE), None),
        (re.compile(rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+[ \t]*+/?>|</[A-Za-z][A-Za-z0-9-]*+[ \t]*+>)[ \t]*+$"), None),
    )


class Line(NamedTuple):
    """One line. `text` is the line without its end, for headings the heading's own text.

    fence:     an opening or closing fence line, or a line inside one, also in a list or a quote.
    heading:   a heading of the document itself, `level` 1 to 6. One inside a list or a quote opens no section: it is text.
    underline: what follows the first line of a setext heading.
    text:      `level` is BEGINS for the first line of a block, CONTINUES for a further line of one paragraph, HTML for raw HTML.
    """

    kind: LineKind
    text: str
    level: int = 0
    raw: str = ""  # of a heading: its first line as it stands


def lines_of(text: str) -> list[str]:
    """The lines of `text`: split at LF only, one CR before it dropped, no empty item after a final LF."""
    found = text.split("\n")
    if found and found[-1] == "":
        found.pop()
    return [line[:-1] if line.endswith("\r") else line for line in found] if "\r" in text else found


def scan(text: str, *, front: bool = True) -> list[Line]:
    """Every line of the document with its kind, in order: item i is line i + 1 of the file.

    `front=False` is for a part of a document, which has no front matter.
    """
    raw = lines_of(text)
    start = front_matter_end(raw) if front else 0
    scanner = _Scanner([Line("front", line) for line in raw[:start]])
    scanner.feed(raw[start:])
    return scanner.lines


def scan_part(text: str, start: int, end: int) -> tuple[list[Line], int]:
    """The lines from `start`, where a block begins and nothing is open, to the first such place at or after `end`; and that place."""
    scanner = _Scanner([])
    while start < len(text):
        stop = next_block(text, max(end, start + 1))
        scanner.feed(lines_of(text[start:stop]))
        start = stop
        if not scanner.is_open:
            break
    return scanner.lines, start


def next_block(text: str, start: int) -> int:
    """The first place at or after `start` that follows an empty line and `is_at_margin`; the end of the text where there is none."""
    end = max(start - 2, 0)
    while (end := text.find("\n\n", end)) >= 0:
        if is_at_margin(text, end + 2):
            return end + 2
        end += 1
    return len(text)


def is_at_margin(text: str, place: int) -> bool:
    """Whether a line begins with a letter or a heading, so that after an empty line it is in no list, quote or indented code."""
    return text[place:place + 1].isalpha() or text.startswith("##", place)


class _Scanner:
    """The open blocks between two lines: containers from the outside in, and at most one leaf in the innermost.

    containers: 0 for a block quote, else the columns that the content of a list item is indented by.
    paragraph:  index in `lines` of the first line of the open paragraph, or -1.
    fence:      the run that opened the open fence, or "".
    html:       the index in _html() of the open block of HTML, or None.
    hollow:     whether the innermost list item began with a blank line, and has nothing yet.
    """

    __slots__ = ("containers", "fence", "hollow", "html", "lines", "paragraph")

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.containers: list[int] = []
        self.paragraph = -1
        self.fence = ""
        self.html: int | None = None
        self.hollow = False

    @property
    def is_open(self) -> bool:
        """Whether a fence or a block of HTML goes on, whatever the next line is."""
        return bool(self.fence) or self.html is not None

    def feed(self, raw: list[str]) -> None:
        """Add lines: those that no open block can claim and that begin with no mark go a short way."""
        lines, containers = self.lines, self.containers
        for line in raw:
            if containers or self.fence or self.html is not None:
                self.take(line)
            elif not line:
                lines.append(Line("blank", line))
                self.paragraph = -1
            elif line[0] == "#" and (atx := _ATX.match(line)):
                lines.append(Line("heading", _heading_text(line[len(atx[1]):]), len(atx[1]), line))
                self.paragraph = -1
            elif line[0] in _STRUCTURAL and not _TEXT_AFTER_ALL.match(line):
                self.take(line)
            elif self.paragraph < 0:
                self.paragraph = len(lines)
                lines.append(Line("text", line, BEGINS))
            else:
                lines.append(Line("text", line, CONTINUES))

    def take(self, raw: str) -> None:
        """Add one line."""
        line = raw.expandtabs(4) if "\t" in raw else raw  # tabs count as blanks up to the next multiple of four columns
        matched, pos = self._continued(line)
        self.hollow = False
        if matched == len(self.containers):
            if self.fence:
                self._add("fence", raw)
                if self._closes_fence(line, pos):
                    self.fence = ""
                return
            if self.html is not None and self._goes_on_as_html(raw, line, pos):
                return
        if not line[pos:].strip(" "):
            self._leave(matched)
            self.paragraph = -1
            self._add("text" if raw.strip(" \t") else "blank", raw)  # an empty line of a quote has its marker
            return
        self._open(raw, line, pos, matched)

    def _continued(self, line: str) -> tuple[int, int]:
        """(how many of the open containers the line belongs to, where its content begins)."""
        pos = matched = 0
        for width in self.containers:
            start = _SPACES.match(line, pos).end()  # type: ignore[union-attr]
            if width == 0:
                if start - pos > 3 or line[start:start + 1] != ">":
                    break
                pos = start + 1 + (line[start + 1:start + 2] == " ")
            elif start == len(line):
                if self.hollow and matched == len(self.containers) - 1:
                    break
                pos = min(pos + width, start)
            elif start - pos >= width:
                pos += width
            else:
                break
            matched += 1
        return matched, pos

    def _open(self, raw: str, line: str, pos: int, matched: int) -> None:
        """Open the containers and the leaf that a line begins, or add it to the open paragraph."""
        fresh = False  # whether the line opened a container: then it continues nothing
        while True:
            start = _SPACES.match(line, pos).end()  # type: ignore[union-attr]
            first = line[start]
            running = self.paragraph >= 0 and not fresh
            if start - pos >= 4:
                if running:
                    break
                self._leave(matched, fresh)
                self._add("code", raw)
                return
            if first not in _STRUCTURAL:
                break
            if self._opens_leaf(raw, line, start, first, matched, fresh):
                return
            width = self._container(line, pos, start, first, running and matched == len(self.containers))
            if width is None or len(self.containers) >= _DEEPEST:
                break
            self._leave(matched, fresh)
            self.paragraph = -1
            fresh = True
            self.containers.append(width)
            pos = start + 1 + (line[start + 1:start + 2] == " ") if width == 0 else min(pos + width, len(line))
            if not line[pos:].strip(" "):
                self.hollow = width > 0
                self._add("text", raw)
                return
        if self.paragraph >= 0 and not fresh:  # perhaps lazily: a paragraph goes on without the markers of its containers
            self._add("text", raw, CONTINUES)
            return
        self._leave(matched, fresh)
        self.paragraph = len(self.lines)
        self._add("text", raw)

    def _opens_leaf(self, raw: str, line: str, start: int, first: str, matched: int, fresh: bool) -> bool:
        """Add the line as a heading, an opening fence, HTML or a rule, if it is one."""
        running = self.paragraph >= 0 and not fresh
        if first == "#":
            atx = _ATX.match(line, start)
            if atx:
                self._leave(matched, fresh)
                self.paragraph = -1
                if self.containers:
                    self._add("text", raw)
                else:
                    self.lines.append(Line("heading", _heading_text(raw.lstrip(" ")[len(atx[1]):]), len(atx[1]), raw))
            return bool(atx)
        if first in "`~":
            opening = _FENCE.match(line, start)
            if opening:
                self._leave(matched, fresh)
                self.paragraph = -1
                self.fence = opening[1] or opening[2]
                self._add("fence", raw)
            return bool(opening)
        if first == "<":
            for number, (begins, _) in enumerate(_html() if not running else _html()[:-1]):
                if begins.match(line, start):
                    self._leave(matched, fresh)
                    self.paragraph = -1
                    self.html = number
                    self._goes_on_as_html(raw, line, start)
                    return True
            return False
        if running and matched == len(self.containers) and first in "=-" and _SETEXT.match(line, start):
            return self._underline(raw)
        if first in "-_*" and _RULE.match(line, start):
            self._leave(matched, fresh)
            self.paragraph = -1
            self._add("text", raw)
            return True
        return False

    def _underline(self, raw: str) -> bool:
        """Turn the open paragraph into a heading, less the link definitions that it begins with."""
        start = self.paragraph
        if not self.containers:
            while start < len(self.lines) and DEFINITION.match(self.lines[start].text):
                start += 1
            if start == len(self.lines):
                return False
            title = " ".join(item.text.strip() for item in self.lines[start:])
            self.lines[start:] = [Line("heading", title, 1 if "=" in raw else 2, self.lines[start].text),
                                  *(Line("underline", item.text) for item in self.lines[start + 1:]), Line("underline", raw)]
        else:
            self._add("text", raw, CONTINUES)
        self.paragraph = -1
        return True

    def _container(self, line: str, pos: int, start: int, first: str, interrupts: bool) -> int | None:
        """0 when a block quote begins at `start`, the width of a list item that does, else None."""
        if first == ">":
            return 0
        marker = _MARKER.match(line, start)
        if not marker or (interrupts and (marker.end() == len(line) or marker[1][:-1] not in ("", "1"))):
            return None
        blanks = len(marker[2])
        return start - pos + len(marker[1]) + (blanks if 1 <= blanks <= 4 and marker.end() < len(line) else 1)

    def _closes_fence(self, line: str, pos: int) -> bool:
        start = _SPACES.match(line, pos).end()  # type: ignore[union-attr]
        return (start - pos < 4 and line.startswith(self.fence, start)
                and not line[start:].rstrip(" ").lstrip(self.fence[0]))

    def _goes_on_as_html(self, raw: str, line: str, pos: int) -> bool:
        assert self.html is not None
        ends = _html()[self.html][1]
        if ends is None and not line[pos:].strip(" "):
            self.html = None
            return False
        self._add("text", raw, HTML)
        if ends is not None and ends.search(line, pos):
            self.html = None
        return True

    def _leave(self, matched: int, fresh: bool = False) -> None:
        """Close the containers that a line does not belong to, and with them their leaf."""
        if not fresh and matched < len(self.containers):
            del self.containers[matched:]
            self.paragraph, self.fence, self.html = -1, "", None

    def _add(self, kind: LineKind, text: str, level: int = 0) -> None:
        self.lines.append(Line(kind, text, level))


def _heading_text(rest: str) -> str:
    """What stands after the opening run of an ATX heading, without its closing run."""
    text = rest.strip()
    bare = text.rstrip("#")
    if bare == text or (bare and bare[-1] not in " \t"):
        return text
    return bare.rstrip()


def front_matter_end(lines: list[str]) -> int:
    """How many lines the front matter takes, its first and last included; 0 when there is none or it never closes.

    It is YAML between `---` and `---` or `...`, or what Hugo and Zola also take: TOML between two `+++`, and JSON from a `{` to a `}`
    that stand alone on their lines.
    """
    if not lines or lines[0][:1] not in ("-", "+", "{"):
        return 0
    closing = _FRONT_MATTER.get(lines[0].rstrip())
    if closing:
        for number, line in enumerate(lines[1:], start=2):
            if line.rstrip() in closing:
                return number
    return 0


def front_matter(lines: list[str]) -> dict[str, str]:
    """The first value of each `key: value` line of YAML front matter, keys lower-cased, values as written; empty for TOML and JSON.

    YAML types mean nothing here: a date, `no` or a title with a colon is the text that stands there. Indented lines
    belong to the key above and are skipped.
    """
    found: dict[str, str] = {}
    if not lines or not lines[0].startswith("---"):
        return found
    for line in lines[1:max(front_matter_end(lines) - 1, 0)]:
        if not line[:1].strip() or line[0] == "#":
            continue
        key, colon, value = line.partition(":")
        if colon and key.strip():
            found.setdefault(key.strip().lower(), value.strip())
    return found
