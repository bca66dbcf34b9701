"""The hooks. Each docstring is that hook's reference page: when it is called, with what, and what it returns.

An implementation is a module-level function marked `@hookimpl`, in a module named by an entry point of the group
`kb.plugins`. It may take fewer arguments than the hook offers. A name that is no hook is refused at registration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kb.specs import Answerer, Check, Command, Extractor, Page, Promoter, Scorer, SessionEvent, Tool

hookspec = pluggy.HookspecMarker("kb")
hookimpl = pluggy.HookimplMarker("kb")
LISTENERS = frozenset({"kb_session_event"})  # hooks that return nothing: all others must return specs


@hookspec
def kb_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Verbs to add to the command line.

    Called when the first word is no verb of the host, and by `kb --help` and completion. A name that the host or
    another plugin already has is an error that names both. Since 0.1.
    """


@hookspec
def kb_checks() -> Sequence[Check]:  # type: ignore[empty-body]
    """Codes to add to `kb check`.

    Called by `kb check`, by `kb --help`, and by the reading room for its page of findings. A plugin that fails here stops
    `kb check` with exit 3: a silently missing check is a false green. Since 0.1.
    """


@hookspec
def kb_scorers() -> Sequence[Scorer]:  # type: ignore[empty-body]
    """Rankings of files for a question.

    Called by every verb that asks a question, and by a server each time it looks at the fleet again, so return the same
    scorers each time and keep nothing in them. `scorers =` in fleet.txt, or KB_SCORERS, selects by set or by name; exactly
    one selected scorer carries the floor. Since 0.1.
    """


@hookspec
def kb_extractors() -> Sequence[Extractor]:  # type: ignore[empty-body]
    """Readers of documents that are not markdown, by file extension.

    Called by `kb ingest`, in a process with limits, when the fleet has no `tools/extract/<ext>.cmd`, `.sh` or `.py` of
    its own. Two extractors for one extension are an error that names both. Since 0.1.
    """


@hookspec
def kb_answerers() -> Sequence[Answerer]:  # type: ignore[empty-body]
    """Ways to turn served passages into an answer, chosen by `answerer =` in fleet.txt.

    Called by `kb answer`. The first one, in the order of the plugins' names, whose `accepts` is true for the value is
    used, one marked `fallback` only when no other accepts it. The built-in fallback runs the value as a command line.
    What `answer` raises as KbError is shown as the reason why the model did not reply. Since 0.1.
    """


@hookspec
def kb_promoters() -> Sequence[Promoter]:  # type: ignore[empty-body]
    """Ways to run `classifier =`, `promoter =` and `reviewer =` of fleet.txt.

    Called by boot, promote, ingest, consolidate, misses and eval, chosen by value like an answerer. A value is used
    only after a person approved it with `kb trust`, unless the spec says that it needs no approval. Since 0.1.
    """


@hookspec
def kb_tools() -> Sequence[Tool]:  # type: ignore[empty-body]
    """MCP tools to add after the five of the host.

    Called by `kb serve` when a client first lists the tools or calls one. Names match `[a-z0-9_]{1,64}`; a clash names both
    plugins. Since 0.1.
    """


@hookspec
def kb_pages() -> Sequence[Page]:  # type: ignore[empty-body]
    """Pages to add to the reading room's menu.

    Called once when `kb ui` starts. Since 0.1.
    """


@hookspec
def kb_session_event(event: SessionEvent) -> None:
    """Told what a session of kb did, after it is on disk.

    Called by boot, capture and handoff. What it returns is ignored; a failure is reported and changes nothing. Since 0.1.
    """
