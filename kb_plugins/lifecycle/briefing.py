"""What the next worker is told: `context` on demand, and the same within a budget when a provider starts a session."""

from __future__ import annotations

from kb_plugins.lifecycle import layout, outbox
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.notebook import read_questions
from kb_plugins.lifecycle.queue import SHOWN, Queue, section
from kb_plugins.lifecycle.tasks import current_task


def context(disk: Disk, ledger: Ledger) -> list[str]:
    """Where this checkout stands, line by line, the outbox included."""
    waiting = outbox.notice(disk)
    return [*lines(disk, ledger), *([f"outbox  {waiting}"] if waiting else [])]


def lines(disk: Disk, ledger: Ledger) -> list[str]:
    """Branch, episode, task, open questions, the review queue, and what the last handover left."""
    checkout = disk.checkout
    task, episode = current_task(disk), Episodes(disk).mine()
    said = [f"Branch {checkout.branch} at {checkout.head[:7]}" + (" (the trunk)" if checkout.on_trunk else ""),
            f"Episode {episode.id}, open since {episode.started_at}" if episode else "No episode is open",
            f"Task {task.id}: {task.title}" if task else "No task is active"]
    opened = [item for item in read_questions(disk) if item.number]
    said.append(f"Open questions: {len(opened)}" if opened else "No questions are open")
    said += [f"- {item.number}. {item.text}" for item in opened[:SHOWN]]
    if len(opened) > SHOWN:
        said.append(f"- ... and {len(opened) - SHOWN} more question(s)")
    said += section(Queue(disk, ledger))
    names = disk.names(layout.HANDOVERS)
    said.append(f"Last handover: {layout.HANDOVERS}/{names[-1]}" if names else "No handover was left")
    return said


def bounded(said: list[str], budget: int) -> list[str]:
    """The briefing cut to the policy's budget; one line says that it was."""
    if len(said) <= budget:
        return said
    keep = max(budget - 1, 0)
    return [*said[:keep], f"... {len(said) - keep} more line(s); majordomus context shows them"]
