"""Checkpoints and handovers: local notes of where work stands. They are continuation state, and never derived from."""

from __future__ import annotations

import os
import re

from kb_plugins.lifecycle import clock, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episode
from kb_plugins.lifecycle.exits import unwritable
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.tasks import current_task
from kb_plugins.lifecycle.yaml_subset import scalar


def checkpoint(disk: Disk, ledger: Ledger, episode: Episode | None) -> str:
    """Write what is known without asking anybody, and log `task.checkpoint`. Gives the path."""
    path = _write(disk, layout.CHECKPOINTS, "checkpoint", episode, _state(disk, ledger, episode))
    task = current_task(disk)
    ledger.append("task.checkpoint", episode.id if episode else None, **({"task_id": task.id} if task else {}),
                  checkpoint_path=path)
    return path


def handover(disk: Disk, ledger: Ledger, episode: Episode | None) -> str:
    """Write the handover that a provider's end leaves, and log `task.handed_over`. Gives the path."""
    task = current_task(disk)
    objective = task.title if task else "No task was active."
    body = f"# Objective\n\n{objective}\n\n# Current State\n\n{_state(disk, ledger, episode)}\n# Next Action\n\n" \
           "Read `majordomus context` and go on from there.\n"
    path = _write(disk, layout.HANDOVERS, "handover", episode, body)
    ledger.append("task.handed_over", episode.id if episode else None, **({"task_id": task.id} if task else {}),
                  handover_path=path, closed=task is not None)
    return path


def _state(disk: Disk, ledger: Ledger, episode: Episode | None) -> str:
    rows = ledger.stamped(episode.id) if episode else []
    decisions = [str(row.get("decision", "")) for row in rows if row["event"] == "decision.recorded"]
    dirty = [path for path in disk.checkout.dirty() if not path.startswith(f"{layout.LOCAL}/")]
    lines = [f"Branch {disk.checkout.branch} at {disk.checkout.head[:7]}; {len(dirty)} path(s) changed."]
    lines += [f"- changed: {path}" for path in dirty[:40]] + [f"- decided: {text}" for text in decisions]
    return "\n".join(lines) + "\n"


def _write(disk: Disk, folder: str, kind: str, episode: Episode | None, body: str) -> str:
    checkout, moment = disk.checkout, clock.now()
    task = current_task(disk)
    front = [f"schema: {kind}/v1", f"kind: {kind}", f"created_at: {clock.instant(moment)}",
             f"task_id: {scalar(task.id if task else 'none')}", f"session_id: {episode.id if episode else 'none'}",
             f"branch: {scalar(checkout.branch)}", f"head: {checkout.head}"]
    text = "---\n" + "".join(f"{line}\n" for line in front) + f"---\n\n{body}"
    key = re.sub(r"[^A-Za-z0-9._-]", "-", checkout.branch)[:100]
    for _ in range(10):
        path = f"{folder}/{clock.compact(moment)}--{key}--{checkout.head[:7]}--{os.urandom(8).hex()}.md"
        if disk.publish(path, text, mode=0o600):
            return path
    raise unwritable(f"no free name in {folder}")
