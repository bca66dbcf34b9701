"""What a note says inside its lines: wikilinks, citations and bibliography lines, with what no reader sees left out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kb.core.markdown import BEGINS, DEFINITION, HTML, Line, front_matter_end, is_at_margin, lines_of, scan, scan_part

_RUN = re.compile(r"`+")
_HIDING = ("    ", "\t", "<", "~~~")  # without these, at the beginning of a line, and "```" there is no indented code, HTML or fence
_MARKERS = " \t>*+-.)0123456789"
_FENCE = re.compile(r"```[^`\n]*\n")
_FENCE_END = re.compile(r"^ {0,3}`{3,}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "$$": "$$"}  # what is hidden from the one to the other
_NOT_A_LINE_END = re.compile(r"[^\n]")
_DELIMITER_ROW = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*$")
_MARK = re.compile(r"\[\[|\[src:")
_DEFINES = re.compile(r"\]:")
_LINK = re.compile(r"(?<!\\)(\\*+)(!?)\[\[(?!\[[^\[\]\n]*\]\]\])([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]\]")
_TARGET = re.compile(r"\([ \t]*+(?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"  # what follows the text of `[text](url "title")`
                     r"(?:[ \t]++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+[ \t]*+\)")
_REFERENCE = re.compile(r"\[([^\[\]]*+)\]")
_LABEL = re.compile(r" {0,3}\[([^\[\]]+)\]:")
_CITATION = re.compile(r"\[src:([^\[\]\n]*+)\]")
_BIBLIOGRAPHY = re.compile(r"\s*[-*] +\[src:([^\[\]\n]*+)\](.*)")


@cache
def _token() -> re.Pattern[str]:
    """What decides, from left to right, where text is hidden. Compiled on first use, because most notes need none of it."""
    attribute = r"\s++[A-Za-z_:][\w:.-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+"
    return re.compile(
        r"\\[!-/:-@\[-`{-~]|`+|<!--|<\?|<!\[CDATA\["
        r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>|<[\w.!#$%&'*+/=?^`{|}~-]++@[\w.-]++>"   # autolinks
        rf"|<[A-Za-z][A-Za-z0-9-]*+(?:{attribute})*+\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>|<![A-Za-z][^>]*+>"
        rf"|\]{_TARGET.pattern}"
        r"|\$\$|\$(?=[^\s$])(?=[^$\n`]*[\\^_{])[^$\n`]*(?<=\S)\$(?!\d)")


class WikiLink(NamedTuple):
    """`[[target#anchor|alias]]` on a 1-based line. `target` is what stands before the first `|` and `#`, trimmed."""

    line: int
    target: str
    embed: bool


class Citation(NamedTuple):
    """`[src:token]` on a 1-based line; the token is as written."""

    line: int
    token: str


class BibliographyLine(NamedTuple):
    """`- [src:key] rendering` on a 1-based line."""

    line: int
    key: str
    rendering: str


def prose_of(text: str) -> list[tuple[int, str]]:
    """(1-based line, its text with what a reader does not see blanked) for the lines that may hold a link or a citation.

    Fences, indented code, raw HTML and front matter are left out, and so is a paragraph with no `[[`, `[src:` or `]:`.
    """
    number = 1
    marks = _marks(text)
    if not marks:
        return []
    if "\r" in text or text.startswith(("---", "+++", "{")):
        lines = lines_of(text)
        number += front_matter_end(lines)
        text = "\n".join(lines[number - 1:])
        marks = _marks(text)
        if not marks:
            return []
    if "%%" in text:  # such a comment may run over blocks
        return [(number - 1 + line, seen) for line, seen in visible(scan(text, front=False))]
    end = text.find("\n\n", marks[-1])
    if end >= 0:
        text = text[:end]  # nothing that follows the last mark's block tells anything of a mark
    # What stands between two empty lines means the same alone as in its document, until something may hide a line. A fence at
    # the left margin hides up to its end and nothing else; what else may hide a line is left to the scanner, up to the next
    # block that stands in nothing.
    hiding = [sign for sign in _HIDING if sign in text]
    found: list[tuple[int, str]] = []
    start = 0
    while start < len(text):
        fence = text.find("```", start)
        end = fence if fence >= 0 else len(text)
        hidden = min((place for sign in hiding if (place := _at_line_start(text, sign, start, end)) >= 0), default=-1)
        opening = _FENCE.match(text, fence) if fence >= 0 and hidden < 0 and (fence == start or text[fence - 1] == "\n") else None
        if hidden < 0 and (fence < 0 or opening):
            found += _in_blocks(text, marks, start, end, number)
            closing = _FENCE_END.search(text, opening.end()) if opening else None
            if not closing:
                return found
            stop = closing.end()
        else:
            end = hidden if hidden >= 0 else end
            fresh = _last_block(text, start, end)
            found += _in_blocks(text, marks, start, fresh, number)
            before = number - 1 + text.count("\n", start, fresh)
            part, stop = scan_part(text, fresh, end)
            if bisect_left(marks, fresh) < bisect_left(marks, stop):
                found += [(before + line, seen) for line, seen in visible(part)]
        number += text.count("\n", start, stop)
        start = stop
    return found


def _at_line_start(text: str, sign: str, start: int, end: int) -> int:
    """The first place between two where `sign` stands with nothing before it on its line but markers of lists and quotes, or -1."""
    while (place := text.find(sign, start, end)) >= 0:
        line = text.rfind("\n", start, place) + 1
        if not text[max(line, start):place].strip(_MARKERS):
            return place
        start = text.find("\n", place, end) + 1
        if not start:
            break
    return -1


def _in_blocks(text: str, marks: Sequence[int], start: int, end: int, number: int) -> list[tuple[int, str]]:
    """The lines of the blocks with marks between two places of a text, of which the first is on line `number`."""
    found: list[tuple[int, str]] = []
    counted = done = start
    for place in marks[bisect_left(marks, start):bisect_left(marks, end)]:
        if place < done:
            continue
        before = text.rfind("\n\n", start, place)
        begin = before + 2 if before >= 0 else start
        done = text.find("\n\n", place, end)
        done = done if done >= 0 else end
        number += text.count("\n", counted, begin)
        counted = begin
        found += _simple(text[begin:done], number)
    return found


def _marks(text: str) -> list[int]:
    """Where a wikilink, a citation or, if there is one of these, the definition of a label may stand; ascending."""
    found = [match.start() for match in _MARK.finditer(text)]
    if found and "]:" in text:
        found = sorted(found + [match.start() for match in _DEFINES.finditer(text)])
    return found


def _last_block(text: str, start: int, end: int) -> int:
    """The last place between `start` and `end` that follows an empty line and is at the margin, else `start`."""
    while (end := text.rfind("\n\n", start, end)) >= 0:
        if is_at_margin(text, end + 2):
            return end + 2
    return start


def _simple(block: str, number: int) -> Iterable[tuple[int, str]]:
    """The lines of a block that holds no block of HTML and no indented code; the first is line `number`."""
    if "]:" in block or "<" in block or "](" in block or "$" in block:  # whether `]:` defines depends on where paragraphs begin
        return _visible_from(block, number)
    if "`" not in block:
        return enumerate(lines_of(block), start=number)
    lines = lines_of(block)
    if "``" in block or "\\" in block:
        return _visible_from(block, number)
    found = []  # every span begins and ends on its line
    for place, line in enumerate(lines, start=number):
        pieces = line.split("`")
        if len(pieces) % 2 == 0:
            return _visible_from(block, number)
        if len(pieces) > 1 and holds_any(line):
            pieces[1::2] = [" " * len(piece) for piece in pieces[1::2]]
            line = "`".join(pieces)
        found.append((place, line))
    return found


def _visible_from(block: str, number: int) -> list[tuple[int, str]]:
    return [(number - 1 + line, seen) for line, seen in visible(scan(block, front=False))]


def holds_any(text: str) -> bool:
    """Whether there is anything in a text that this module finds."""
    return "[[" in text or "[src:" in text or "]:" in text or "%%" in text


def visible(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """What `prose_of` gives, from scanned lines.

    A code span may run over the ends of lines inside one paragraph, as CommonMark has it, but not over the rows of a table.
    """
    found: list[tuple[int, str]] = []
    paragraph: list[str] = []
    first = 0

    def close() -> None:
        if not any(map(holds_any, paragraph)):
            paragraph.clear()
            return
        if len(paragraph) > 1 and not any(map(_DELIMITER_ROW.match, paragraph)):
            texts = without_hidden("\n".join(paragraph)).split("\n")
        else:
            texts = [without_hidden(text) for text in paragraph]
        found.extend(enumerate(texts, start=first))
        paragraph.clear()

    for number, line in enumerate(lines, start=1):
        if line.kind == "text" and line.level != HTML:
            if line.level == BEGINS:
                close()
                first = number
            paragraph.append(line.text)
        elif line.kind == "underline":
            paragraph.append(line.text)
        else:
            close()
            if line.kind == "heading":
                first = number
                paragraph.append(line.raw)
    close()
    return _without_remarks(found) if any("%%" in text for _, text in found) else found


def without_hidden(text: str) -> str:
    """The text of one paragraph with what is no text in it blanked, line ends kept: the inside of code spans, HTML tags, comments,
    autolinks, the destination and title of links, and formulas.

    They are looked for from left to right, as CommonMark does. A run of backticks that nothing closes is text, and so is a mark
    behind a backslash. Formulas are GitHub's and Obsidian's: from `$$` to `$$`, and from `$` to `$` on a line, with no blank next to the
    signs and at least one of `\\^_{` between them, because `$` is money as well.
    """
    if "`" not in text and "<" not in text and "](" not in text and "$" not in text:
        return text
    closers: dict[int, list[int]] = {}
    for match in reversed(list(_RUN.finditer(text))):
        closers.setdefault(match.end() - match.start(), []).append(match.start())  # the nearest last: cheap to take off
    pieces: list[str] = []
    position = copied = 0
    last = {sign: text.rfind(sign) for sign in _ENDS.values()}  # behind the last one nothing is looked for
    while token := _token().search(text, position):
        position = token.end()
        mark = token[0]
        start = end = after = -1  # what is blanked, and where it goes on
        if mark[0] == "`":
            same = closers.get(len(mark), [])
            while same and same[-1] < position:
                same.pop()
            if same:
                start, end, after = position, same[-1], same[-1] + len(mark)
        elif mark in _ENDS:
            sign = _ENDS[mark]
            if last[sign] >= position:
                start, end = position, text.find(sign, position)
                after = end + len(sign)
        elif mark[0] == "<" or mark[0] == "$":
            start, end = token.start() + 1, position - 1
        elif mark[0] == "]":
            start, end = token.start() + 2, position - 1
        if end >= 0:
            pieces += [text[copied:start], _NOT_A_LINE_END.sub(" ", text[start:end])]
            copied, position = end, max(after, position)
    return "".join([*pieces, text[copied:]])


def _without_remarks(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines with Obsidian's comments blanked, from `%%` to the next `%%`, over the ends of paragraphs too."""
    paired = sum(text.count("%%") for _, text in lines) // 2 * 2  # a last one that nothing closes is text
    found = []
    passed = 0
    for number, text in lines:
        pieces = text.split("%%")
        for place in range(len(pieces)):
            if passed % 2 and passed < paired:
                pieces[place] = " " * len(pieces[place])
            passed += place < len(pieces) - 1
        found.append((number, "%%".join(pieces)))
    return found


def wikilinks(lines: Sequence[tuple[int, str]]) -> list[WikiLink]:
    """Every wikilink with a target. An escaped pipe, as tables need it, separates the alias too.

    No wikilink is `\\[[x]]`, whose bracket is escaped, `[[x]](url)` and `[[x]][label]` with a label that the document defines,
    and `[[x]]` itself where it defines that one (`[x]: path`, as Foam writes at the end of a note): these are ordinary links.
    What a bibliography line repeats of a record is none either, nor is what a template fills in: `[[{{date}}]]`.
    """
    found = []
    defined: Mapping[int, str] | None = None
    labels: frozenset[str] = frozenset()
    for number, text in lines:
        if "[[" not in text or ("[src:" in text and _BIBLIOGRAPHY.match(text)):
            continue
        for match in _LINK.finditer(text):
            slashes, embed, inner = match.groups()
            target = inner.partition("|")[0].removesuffix("\\").partition("#")[0].strip()
            if not target or (len(slashes) % 2 and not embed) or "{{" in target or "<%" in target:
                continue
            after = text[match.end():match.end() + 1]
            if after == "(" and _TARGET.match(text, match.end()):
                continue
            if defined is None:
                defined = _definitions(lines)
                labels = frozenset(defined.values())
            if labels and (number in defined or _label(inner) in labels
                           or (after == "[" and (reference := _REFERENCE.match(text, match.end())) and _label(reference[1]) in labels)):
                continue
            found.append(WikiLink(number, target, bool(embed) and len(slashes) % 2 == 0))
    return found


def _definitions(lines: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Line number -> the label that the document defines there.

    A definition stands at the beginning of a paragraph, or below another one.
    """
    found = {}
    previous, open_text = 0, False
    for number, text in lines:
        running = open_text and number == previous + 1
        defines = "]:" in text and not running and DEFINITION.match(text)
        if defines and (label := _LABEL.match(text)):
            found[number] = _label(label[1])
        previous, open_text = number, not defines and bool(text.strip()) and text[0] != "#"
    return found


def _label(text: str) -> str:
    """A link label as CommonMark compares it: case and white space aside."""
    return " ".join(text.casefold().split())


def citations(prose: Sequence[tuple[int, str]]) -> list[Citation]:
    """Every citation. A bibliography line is one of its own record, whatever the record's title says; a definition has none behind
    its label."""
    found = []
    defined: Mapping[int, str] | None = None
    for number, text in prose:
        if "[src:" in text:
            line = _BIBLIOGRAPHY.match(text)
            if "]:" in text and not line:
                defined = _definitions(prose) if defined is None else defined
                text = text[:text.index("]:") + 1] if number in defined else text
            tokens = [line[1]] if line else _CITATION.findall(text)
            found += [Citation(number, token.strip()) for token in tokens]
    return found


def bibliography(prose: Sequence[tuple[int, str]], lines: Sequence[str]) -> list[BibliographyLine]:
    """Every bibliography line, its rendering as it stands in the file."""
    found = []
    for number, text in prose:
        if "[src:" in text:
            match = _BIBLIOGRAPHY.match(text)
            if match:
                raw = lines[number - 1]
                found.append(BibliographyLine(number, match[1].strip(), raw[raw.index("]") + 1:].strip()))
    return found
