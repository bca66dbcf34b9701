"""What hooks return: named tuples, data plus a function. A plugin builds them, the host runs them.

Every question imports this module, and a frozen dataclass takes six times as long to make as a named tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from kb.core.ports import BaseUnderCheck, Library
    from kb.core.query import Query
    from kb.core.values import Ranking
    from kb.core.windows import Window

Level = Literal["error", "warning"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Command(NamedTuple):
    """A verb of the command line. `target` is `module:attribute` of a click command, imported when it is run."""

    name: str
    target: str
    summary: str
    usage: tuple[str, ...] = ()


class Problem(NamedTuple):
    """What a check yields: a file of the base (POSIX path inside it), a 1-based line or 0, and one message."""

    file: str
    line: int
    message: str


class Check(NamedTuple):
    """One code of the linter. `run` is called once per base and yields problems in any order.

    `doc` is the code's page in docs/: by convention the module's docstring.
    """

    code: str
    slug: str
    level: Level
    run: Callable[[BaseUnderCheck], Iterable[Problem]]
    doc: str = ""


class Scorer(NamedTuple):
    """Ranks files for a question. Exactly one scorer of a set carries the gate.

    name:  what `why` shows: `<name> #<rank>`.
    sets:  the names under which `scorers =` in fleet.txt selects it; the scorer's own name always does.
    rank:  (library, query) -> ranking over all files in scope, best first, scores positive.
    floor: for the gate scorer only: library -> the score under which its best file is a guess.
    """

    name: str
    sets: tuple[str, ...]
    rank: Callable[[Library, Query], Ranking]
    floor: Callable[[Library], float] | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every name that selects it."""
        return frozenset((*self.sets, self.name))


class Extractor(NamedTuple):
    """Turns a document into text. `extensions` are lower case without the dot, each read by one extractor only.

    `extract` takes the absolute path and returns text in reading order, headings and list items marked as in markdown
    where they are known. It raises KbError when the document is encrypted, scanned, damaged or not what its name says.
    It runs in a process of its own, with limits on memory, time and output; what it prints is no text, and whatever else
    it raises is told in one line.
    """

    name: str
    extensions: tuple[str, ...]
    extract: Callable[[Path], str]


Role = Literal["classifier", "answerer", "promoter", "reviewer"]


class ModelRequest(NamedTuple):
    """One question to a model.

    role:     which line of fleet.txt chose it.
    prompt:   everything it is to read, rules and question included; UTF-8 text of any length.
    root:     the fleet root (absolute).
    timeout:  how many seconds it may take.
    question: for an answerer, what was asked, on one line; else "".
    windows:  for an answerer, the served passages that the prompt holds, in its order; else empty.
    guess:    for an answerer, whether the best file stands below the floor, so that every passage is only a lead.
    """

    role: Role
    prompt: str
    root: Path
    timeout: float
    question: str = ""
    windows: Sequence[Window] = ()
    guess: bool = False


class Answerer(NamedTuple):
    """Turns served passages into an answer.

    accepts:        whether an `answerer =` value names this one.
    answer:         (value, request) -> the answer, not blank. Raises KbError when there is none.
    needs_approval: whether a value must be approved with `kb trust` before it is used. False only for an answerer
                    that starts no program and sends nothing anywhere.
    fallback:       asked only when no other plugin accepts the value.
    windows_only:   whether it reads the served passages and not the prompt, so that `kb answer --complete`, which serves none,
                    refuses it.
    """

    name: str
    accepts: Callable[[str], bool]
    answer: Callable[[str, ModelRequest], str]
    needs_approval: bool = True
    fallback: bool = False
    windows_only: bool = False


class Promoter(NamedTuple):
    """Answers a prompt in the role of classifier, promoter or reviewer, under the same rules as an answerer."""

    name: str
    accepts: Callable[[str], bool]
    ask: Callable[[str, ModelRequest], str]
    needs_approval: bool = True
    fallback: bool = False


class Tool(NamedTuple):
    """An MCP tool. `run` takes (app, arguments) and returns one text.

    input_schema: JSON Schema of an object. Before `run` is called the arguments are checked against its type, enum, const,
                  bounds, lengths, pattern, items, properties and required, and unknown arguments are refused; other
                  words of JSON Schema are shown to the model and not checked. Give every string a maxLength.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    run: Callable[[Any, Mapping[str, Any]], str]
    annotations: Mapping[str, Any] = _NOTHING


class Page(NamedTuple):
    """A page of the reading room. `render` takes (app, query parameters) and returns the safe HTML of its body."""

    path: str
    title: str
    render: Callable[[Any, Mapping[str, str]], str]
    in_menu: bool = True


class SessionEvent(NamedTuple):
    """Something that a session did, told to listeners after it is on disk.

    kind:    `session.opened`, `session.captured`, `session.concluded`, `handoff.saved`, `handoff.claimed`, `handoff.completed`
    session: the session's id, or "" when none is known.
    root:    the fleet root (absolute).
    data:    for a handoff, `path`: its file (absolute).
    """

    kind: str
    session: str
    root: Path
    agent: str = ""
    data: Mapping[str, Any] = _NOTHING
    texts: Sequence[str] = ()
