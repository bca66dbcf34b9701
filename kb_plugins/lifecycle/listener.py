"""kb's own sessions in the ledger: boot opens an episode, a conclusion is recorded, capture closes it, handoffs are named."""

from __future__ import annotations

import sys

from kb.api import KbError, SessionEvent
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.git import holding, open_checkout
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.text import clean

_PROVIDER = "kb"
_HEARD = ("session.opened", "session.concluded", "session.captured", "handoff.saved", "handoff.completed")


def listen(event: SessionEvent) -> None:
    """Write what happened, if the fleet lies in a repository that has `.ai/`. Never creates `.ai/`."""
    if event.kind not in _HEARD or not event.session:
        return
    root = holding(event.root)
    if root is None:
        return
    disk = Disk(open_checkout(root))
    ledger = Ledger(disk)
    episodes = Episodes(disk)
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

            try:
                close(disk, ledger, _tell, provider_session=event.session)
            except KbError as error:
                _tell(str(error))
    else:
        path = str(event.data.get("path", "")) or f"handoffs/{event.session}"
        ledger.append("task.handed_over", stamp, handover_path=clean(path), closed=event.kind == "handoff.completed")


def _tell(line: str) -> None:
    sys.stderr.write(f"kb: {line}\n")
