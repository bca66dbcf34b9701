"""Text of notes on its way into a page: control characters shown, words marked, markdown without HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit

from kb.core.display import harmless
from kb.core.header import split_label
from kb.core.words import analyse, is_unspaced, normalise

if TYPE_CHECKING:
    from markupsafe import Markup

RENDERED_AT_MOST = 200_000  # characters; what is longer is shown as it is, because rendering it costs more than it tells
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|#]*)(#[^\[\]\n|]*)?(?:\\?\|([^\[\]\n]*))?\]\](?!\()")
BRACKETS_AT_MOST = 5_000    # opening ones: what never closes is searched for again from each of them
_ROOT = 4  # letters that two forms of a word must share
_MARKUP = re.compile(r"\*\*|__|`+|^#{1,6} ", re.MULTILINE)
_WEBLINK = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\([^()\s]*\)")
_CITATION = re.compile(r"\[src:([^\]\n]{1,80})\]")


def note_url(base: str, path: str) -> str:
    """Where a note is read."""
    return "/note?" + urlencode({"base": base, "rel": path})


def ask_url(question: str) -> str:
    """Where a question is asked."""
    return "/?" + urlencode({"q": question})


def marked(text: str, words: Iterable[str]) -> Markup:
    """`text` escaped, with every word that folds to one of `words`, or to an inflection of one, in a <mark>."""
    from markupsafe import Markup, escape

    wanted = {word for item in words for word in normalise(item)}
    beginnings: dict[str, list[str]] = {}
    for word in wanted:
        if len(word) >= _ROOT:
            beginnings.setdefault(word[:_ROOT], []).append(word)
    text = harmless(text)
    parts: list[Markup] = []
    end = 0
    for found in _WORD.finditer(text) if wanted else ():
        if any(word in wanted or any(_inflected(word, other) for other in beginnings.get(word[:_ROOT], ()))
               for word in analyse(found[0])):
            parts.append(escape(text[end:found.start()]))
            parts.append(_mark_pairs(found[0], wanted) if is_unspaced(found[0]) else Markup("<mark>%s</mark>") % found[0])
            end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _mark_pairs(run: str, wanted: set[str]) -> Markup:
    """A run without blanks between its words: only the pairs that were asked for are marked."""
    from markupsafe import Markup, escape

    hit = [False] * len(run)
    for word in wanted:
        at = run.find(word)
        while at >= 0:
            hit[at:at + len(word)] = [True] * len(word)
            at = run.find(word, at + 1)
    return Markup("").join(Markup("<mark>%s</mark>") % "".join(c for _, c in group) if marked_here else
                           escape("".join(c for _, c in group))
                           for marked_here, group in groupby(zip(hit, run, strict=True), key=lambda pair: pair[0]))


def _inflected(a: str, b: str) -> bool:
    """Whether two words differ in an ending: all but the last letter of the shorter is shared, and three at most are added."""
    root = min(len(a), len(b)) - 1
    return abs(len(a) - len(b)) <= 3 and a[:root] == b[:root]


def plain(text: str) -> str:
    """A passage without what marks it up: emphasis, code ticks, brackets of links; a purpose line without its label."""
    lines = (split_label(line)[1] if split_label(line)[0] == "purpose" else line for line in text.split("\n"))
    text = _WIKILINK.sub(lambda found: found[3] or found[1] or found[0], "\n".join(lines))
    return _MARKUP.sub("", _WEBLINK.sub(r"\1", text))


def under(heading_path: str, title: str) -> str:
    """A heading path without the note's own title in front."""
    rest = heading_path.removeprefix(title).removeprefix(" > ") if title else heading_path
    return rest or "the opening"


class Linker:
    """What links of one note lead to. `resolve` maps a wikilink's target to a path of the base, or None."""

    def __init__(self, base: str, path: str, files: frozenset[str], resolve: Callable[[str], str | None]) -> None:
        self.base = base
        self.path = path
        self.files = files
        self.resolve = resolve

    def wikilink(self, target: str) -> str | None:
        """The address of a wikilink, or None when it leads nowhere in scope."""
        path = self.resolve(target)
        return None if path is None else note_url(self.base, path)

    def address(self, href: str) -> str | None:
        """The address of an ordinary link: the web, an anchor of this page, or a note of the base. Else None."""
        try:
            parts = urlsplit(href)
        except ValueError:
            return None
        if parts.scheme.lower() in ("http", "https", "mailto"):
            return href
        if parts.scheme or parts.netloc:
            return None
        if not parts.path:
            return "#" + parts.fragment if parts.fragment else None
        folder = self.path.rpartition("/")[0].split("/") if "/" in self.path else []
        steps = [] if parts.path.startswith("/") else list(folder)
        for step in unquote(parts.path).split("/"):
            if step == "..":
                if not steps:
                    return None
                steps.pop()
            elif step not in ("", "."):
                steps.append(step)
        path = "/".join(steps)
        return note_url(self.base, path) if path in self.files else None


def rendered(text: str, linker: Linker) -> Markup | None:
    """A note's markdown as HTML that holds nothing of the note but text and safe links; None when it is too long or too tangled."""
    from markupsafe import Markup

    if len(text) > RENDERED_AT_MOST or text.count("[") > BRACKETS_AT_MOST:
        return None
    return Markup(_parser(linker).render(harmless(text)))


def _parser(linker: Linker) -> Any:
    from markdown_it import MarkdownIt

    parser: Any = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": 40})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda url: linker.address(url) is not None
    parser.inline.ruler.before("link", "wikilink", _wikilink_rule(linker))
    parser.core.ruler.push("dir", _direct)
    parser.renderer.rules.update({"link_open": _link_open(parser, linker), "image": _image, "table_open": _table_open,
                                  "table_close": _table_close, "fence": _code, "code_block": _code})
    return parser


def _wikilink_rule(linker: Linker) -> Callable[[Any, bool], bool]:
    def rule(state: Any, silent: bool) -> bool:
        citation = _CITATION.match(state.src, state.pos)
        found = _WIKILINK.match(state.src, state.pos)
        if citation is not None:
            if not silent:
                _push_link(state, "/sources?" + urlencode({"key": citation[1].strip()}), "citation", citation[1].strip())
            state.pos = citation.end()
            return True
        if found is None or not found[1].strip():
            return False
        state.pos = found.end()
        if silent:
            return True
        target = found[1].strip()
        words = (found[3] or "").strip() or target + (found[2] or "")
        address = linker.wikilink(target)
        if address is None:
            opening = state.push("span_open", "span", 1)
            opening.attrs = {"class": "broken", "title": "this link leads to no file in scope"}
            state.push("text", "", 0).content = words
            state.push("span_close", "span", -1)
        else:
            _push_link(state, address, "wikilink", words)
        return True

    return rule


def _push_link(state: Any, address: str, kind: str, words: str) -> None:
    opening = state.push("link_open", "a", 1)
    opening.attrs = {"href": address, "class": kind}
    opening.meta = {"ours": True}
    state.push("text", "", 0).content = words
    state.push("link_close", "a", -1)


def _link_open(parser: Any, linker: Linker) -> Callable[..., str]:
    def render(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
        token = tokens[index]
        if not token.meta.get("ours"):
            address = linker.address(str(token.attrs.get("href", "")))
            token.attrs = {key: value for key, value in token.attrs.items() if key == "title"}
            if address is not None:
                token.attrs["href"] = address
                if not address.startswith(("/", "#")):
                    token.attrs.update({"rel": "noreferrer noopener external", "class": "outward"})
        return str(parser.renderer.renderToken(tokens, index, options, env))

    return render


def _image(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    """Images are named and never fetched: nothing but markdown is served, and nothing leaves the machine."""
    from markupsafe import escape

    return f'<span class="image">[image: {escape(tokens[index].content or "without a description")}]</span>'


def _code(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    """Code runs left to right, and a box of it that scrolls can be reached with the keyboard."""
    from markupsafe import escape

    return f'<pre dir="ltr" tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _table_open(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    return '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n'


def _table_close(tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _direct(state: Any) -> None:
    """Every block finds its own direction: a right-to-left paragraph does not turn its neighbours round.

    Headings of a note stand under the page's own.
    """
    for token in state.tokens:
        if token.type in ("paragraph_open", "heading_open", "th_open", "td_open", "bullet_list_open", "ordered_list_open",
                          "blockquote_open"):
            token.attrSet("dir", "auto")
        if token.type in ("th_open", "td_open"):
            align = str(token.attrs.pop("style", "")).rpartition(":")[2]
            if align in ("left", "center", "right"):
                token.attrSet("class", align)
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h2" if token.tag == "h1" else token.tag
