"""The review queue as a page of the reading room. It shows; promoting and rejecting stay acts at a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from kb.api import Page, UsageError, printable


def pages() -> list[Page]:
    """One page."""
    return [Page("/knowledge", "Review queue", _queue)]


def _queue(app: Any, query: Mapping[str, str]) -> str:
    from kb_plugins.lifecycle.queue import Queue
    from kb_plugins.lifecycle.tools import world_of

    try:
        disk, ledger = world_of(app)
    except UsageError as error:
        return f"<p>{_text(error.message)}.</p>"
    queue = Queue(disk, ledger)
    if not queue.awaiting:
        return "<p>No knowledge candidates await review.</p>"
    rows = "".join(
        f"<tr><td>{_text(r.field('title'))}</td><td>{_text(r.field('class'))}</td><td>{_text(r.field('date'))}</td>"
        f"<td>{_text(queue.branch(r) or '-')}</td><td><code>{_text(r.stem)}</code></td></tr>" for r in queue.awaiting)
    groups = "".join(f"<li><code>{_text(g.about)}</code>: {len(g.candidates)} awaiting, {len(g.rejected)} rejected, "
                     f"{len(g.episodes)} episode(s)</li>" for g in queue.groups)
    return (f"<p>{len(queue.awaiting)} candidate(s) await a person. Promote one with "
            "<code>kb knowledge promote ID &lt; evidence.md</code>, or reject it with "
            "<code>kb knowledge reject ID --reason WHY</code>.</p>"
            "<table><thead><tr><th scope=\"col\">Assertion</th><th scope=\"col\">Class</th><th scope=\"col\">Date</th>"
            f"<th scope=\"col\">Branch</th><th scope=\"col\">Id</th></tr></thead><tbody>{rows}</tbody></table>"
            + (f"<h2>What recurs</h2><ul>{groups}</ul>" if groups else ""))


def _text(text: str) -> str:
    return escape(printable(text))
