"""kb's own sessions in the ledger: boot opens an episode, a conclusion is recorded, capture closes it, handoffs are named."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from kb.api import KbError, SessionEvent, printable
from kb_plugins.lifecycle import layout

_PROVIDER = "kb"
_HEARD = ("session.opened", "session.concluded", "session.captured", "handoff.saved", "handoff.completed")


def listen(event: SessionEvent) -> None:
    """Write what happened, if the fleet lies in a repository that has `.ai/`. Never creates `.ai/`.

    What goes wrong is told on stderr and stops nothing: the session itself is already on disk.
    """
    if event.kind not in _HEARD or not event.session:
        return
    root = layout.holding(event.root)
    if root is None:
        return
    if event.kind == "session.opened" and os.path.exists(
            os.path.join(root, layout.OPEN, f"{layout.safe_key(event.session)}.yaml")):
        return  # the next message of a session that is already open: asked on every prompt, so nothing else is loaded
    try:
        _write(root, event)
    except (KbError, OSError) as error:
        _tell(f"the ledger does not have {event.kind}: {error}")


def _write(root: str, event: SessionEvent) -> None:
    from kb_plugins.lifecycle.disk import Disk
    from kb_plugins.lifecycle.episodes import Episodes
    from kb_plugins.lifecycle.git import open_checkout
    from kb_plugins.lifecycle.ledger import Ledger
    from kb_plugins.lifecycle.text import clean

    disk = Disk(open_checkout(root))
    ledger, episodes = Ledger(disk), Episodes(disk)
    if event.kind == "session.opened":
        episodes.start(ledger, provider=_PROVIDER, provider_session=event.session, keep=True)
        return
    episode = episodes.mine(event.session)
    stamp = episode.id if episode else None
    if event.kind == "session.concluded":
        for text in event.texts:
            if text.strip():
                ledger.append("decision.recorded", stamp, task_id="none", decision=clean(text))
    elif event.kind == "session.captured":
        if episode is not None:
            from kb_plugins.lifecycle.sessions import close

            close(disk, ledger, _tell, provider_session=event.session)
    else:
        closed = event.kind == "handoff.completed"
        ledger.append("task.handed_over", stamp, handover_path=_handoff(root, event), closed=closed)


def _handoff(root: str, event: SessionEvent) -> str:
    """The handoff that the event names, as a path of the repository."""
    return os.path.relpath(os.path.realpath(event.data["path"]), root).replace(os.sep, "/")


def _tell(line: str) -> None:
    with suppress(OSError, ValueError):  # a closed stderr is no reason not to keep the record
        sys.stderr.write(f"kb: {printable(line)}\n")
