"""The deriver: the ledger lines that an episode stamped become candidate records. No clock, no chance, no network, no model.

The same ledger, the same git and the same notes give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kb.api import KbError
from kb_plugins.lifecycle import layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.evidence import Drafts, commit_evidence
from kb_plugins.lifecycle.exits import unwritable
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.policy import read_policy
from kb_plugins.lifecycle.records import Draft, read_record


@dataclass
class Derivation:
    """What a derivation did. `skipped` is (path, reason); in a dry run `written` is what would be."""

    episode: str | None
    dry_run: bool
    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, object]:
        """As JSON."""
        return {"schema": 1, "episode": self.episode, "dry_run": self.dry_run, "written": self.written,
                "unchanged": self.unchanged,
                "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped]}

    def text(self) -> Iterator[str]:
        """As lines: one per record, then the summary."""
        if self.episode is None:
            yield "knowledge derive: no episode to derive from; open one or pass --episode <id>"
            return
        yield from self.lines
        yield self.summary

    @property
    def summary(self) -> str:
        return (f"knowledge derive: {len(self.written)} written, {len(self.unchanged)} unchanged, "
                f"{len(self.skipped)} skipped for episode {self.episode}")


def derive(disk: Disk, ledger: Ledger, episode: str | None, *, dry_run: bool = False) -> Derivation:
    """Derive the candidates of an episode and append `knowledge.derived`, also when there are none.

    Raises KbError: 10 when the policy does not parse, 13 when a record or the line cannot be written.
    """
    read_policy(disk)
    result = Derivation(episode, dry_run)
    if episode is None:
        return result
    rows = ledger.stamped(episode)
    drafts = Drafts(disk, episode).of(rows)
    commits, touched = commit_evidence(disk, rows) if drafts else ([], [])
    if dry_run:
        for draft, conversation in drafts:
            _place(disk, draft, draft.text(commits, touched), conversation, result)
        return result
    if drafts:
        try:
            with disk.lock("knowledge"):
                for draft, conversation in drafts:
                    _place(disk, draft, draft.text(commits, touched), conversation, result)
        except OSError as error:
            raise unwritable(f"the candidates could not be written: {error.strerror or error}") from None
    ledger.append("knowledge.derived", episode, episode=episode, written=len(result.written),
                  unchanged=len(result.unchanged), skipped=len(result.skipped), paths=" ".join(result.written))
    return result


def _place(disk: Disk, draft: Draft, text: str, conversation: bool, result: Derivation) -> None:
    """Write one record where it belongs, or say why not."""
    tracked = f"{layout.CANDIDATES}/{draft.id}.md"
    refused = "transcript" if conversation else standing(disk, draft.id)
    if refused:
        result.skipped.append((tracked, refused))
        result.lines.append(f"skipped {tracked} ({refused})")
        return
    data = text.encode("utf-8", "replace")
    target = tracked
    if disk.checkout.on_trunk and disk.read(tracked) != data:
        target = f"{layout.OUTBOX_CANDIDATES}/{draft.id}.md"
    if disk.read(target) == data:
        result.unchanged.append(target)
        result.lines.append(f"unchanged {target}")
        return
    if not result.dry_run:
        disk.write(target, text)
    result.written.append(target)
    result.lines.append(f"{'would write' if result.dry_run else 'written'} {target}")


def standing(disk: Disk, name: str) -> str:
    """`promoted` or `superseded` when a person has already acted on this id, else ""."""
    if disk.exists(f"{layout.CURATED}/{name}.md"):
        return "promoted"
    record = read_record(disk, f"{layout.CANDIDATES}/{name}.md")
    if record is not None and not record.problem and record.field("status") not in ("candidate", ""):
        return "superseded"
    return ""


def derive_quietly(disk: Disk, ledger: Ledger, episode: str) -> tuple[bool, str]:
    """Derive at a boundary that must not fail: (whether it worked, one line about it)."""
    try:
        return True, derive(disk, ledger, episode).summary
    except KbError as error:
        return False, str(error)
