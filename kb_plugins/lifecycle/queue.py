"""The review queue: the candidates that await a person, where they come from, how old they are, and what recurs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kb_plugins.lifecycle import clock, layout
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.episodes import Episodes
from kb_plugins.lifecycle.freshness import freshness
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.policy import Policy
from kb_plugins.lifecycle.records import RecordFile, read_folder
from kb_plugins.lifecycle.session_records import session_fields

SHOWN = 5


@dataclass(frozen=True)
class Group:
    """The records of the folder about one subject. `candidates` await review, `rejected` were superseded."""

    about: str
    route: str
    candidates: tuple[str, ...]
    rejected: tuple[str, ...]
    episodes: tuple[str, ...]


class Queue:
    """What stands in `candidates/`, read once. Nothing staged in the outbox is part of it."""

    def __init__(self, disk: Disk, ledger: Ledger) -> None:
        self.disk = disk
        self.ledger = ledger
        self.records = [record for record in read_folder(disk, layout.CANDIDATES) if not record.problem]

    @cached_property
    def awaiting(self) -> list[RecordFile]:
        """The candidates, by id."""
        return sorted((r for r in self.records if r.field("status") == "candidate"), key=lambda r: r.stem)

    @cached_property
    def groups(self) -> list[Group]:
        """One group per subject that observations name, by subject. Recurrence is read, never stored."""
        about: dict[str, list[RecordFile]] = {}
        for record in sorted(self.records, key=lambda r: r.stem):
            if record.field("about") and record.field("status") in ("candidate", "superseded"):
                about.setdefault(record.field("about"), []).append(record)
        return [Group(subject, members[0].field("route"), _ids(members, "candidate"), _ids(members, "superseded"),
                      tuple(dict.fromkeys(r.episode for r in members if r.episode)))
                for subject, members in sorted(about.items())]

    # -- whose branch ----------------------------------------------------------------------------------------------

    def branch(self, record: RecordFile) -> str | None:
        """The branch of the episode behind a record, or None when this checkout knows no such episode."""
        return self._branches.get(record.episode) if record.episode else None

    @cached_property
    def _branches(self) -> dict[str, str]:
        wanted = {record.episode for record in self.awaiting if record.episode}
        found: dict[str, str] = {}
        if not wanted:
            return found
        for folder in (layout.SESSIONS, layout.OUTBOX_SESSIONS):
            for name in self.disk.names(folder):
                if "--s-" in name and not any(episode in name for episode in wanted):
                    continue
                fields = session_fields(self.disk.read(f"{folder}/{name}") or b"")
                if fields.get("session_id") in wanted and isinstance(fields.get("branch"), str):
                    found.setdefault(fields["session_id"], fields["branch"])
        for episode in Episodes(self.disk).all():
            if episode.id in wanted and "branch" in episode.fields:
                found.setdefault(episode.id, episode.fields["branch"])
        if wanted - found.keys():
            for row in self.ledger.of("session.started"):
                if row.get("session") in wanted and isinstance(row.get("branch"), str):
                    found.setdefault(row["session"], row["branch"])
        return found

    @property
    def here(self) -> list[RecordFile]:
        """Candidates of the current branch."""
        return [record for record in self.awaiting if self.branch(record) == self.disk.checkout.branch]

    @property
    def unattributed(self) -> list[RecordFile]:
        """Candidates whose episode is not known in this checkout."""
        return [record for record in self.awaiting if self.branch(record) is None]

    # -- how old ---------------------------------------------------------------------------------------------------

    def dated(self, record: RecordFile) -> tuple[str, str]:
        """(time, source) from which a candidate waits; the source is `derivation`, `commit` or `date`."""
        name = f"{record.stem}.md"
        if name in self._derived:
            return self._derived[name], "derivation"
        if name in self._added:
            return self._added[name], "commit"
        return f"{record.field('date')}T00:00:00Z", "date"

    @cached_property
    def _derived(self) -> dict[str, str]:
        """File name -> the oldest derivation that wrote it. By name: a record keeps its name when it is carried."""
        found: dict[str, str] = {}
        for row in self.ledger.of("knowledge.derived"):
            paths = row.get("paths")
            for path in paths.split(" ") if isinstance(paths, str) else ():
                name = path.rsplit("/", 1)[-1]
                if name and clock.parse(row["ts"]) and row["ts"] < found.get(name, "~"):
                    found[name] = row["ts"]
        return found

    @cached_property
    def _added(self) -> dict[str, str]:
        from datetime import UTC, datetime

        names = self.disk.checkout.added(layout.CANDIDATES)
        return {name: clock.instant(datetime.fromtimestamp(when, UTC)) for name, when in names.items()}

    # -- shown -----------------------------------------------------------------------------------------------------

    def shown(self, policy: Policy) -> dict[str, object]:
        """As JSON: every row with its age, the groups, and what the policy says about the whole."""
        fresh, stale = policy.number("session.freshness.fresh_minutes"), policy.number("session.freshness.stale_minutes")
        cap, limit = policy.number("knowledge.candidates_max_files"), policy.number("knowledge.candidate_max_age_minutes")
        rows = [self._row(record, fresh, stale) for record in self.awaiting]
        old = sum(1 for row in rows if isinstance(row.get("age_minutes"), int) and int(str(row["age_minutes"])) >= limit)
        findings = [said for count, said in (
            (len(self.unattributed), f"{len(self.unattributed)} candidate(s) whose episode is not known in this checkout"),
            (max(len(rows) - cap, 0), f"{len(rows)} candidate(s) await review, over cap {cap}"),
            (old, f"{old} candidate(s) are older than knowledge.candidate_max_age_minutes")) if count]
        return {"schema": 1, "total": len(rows), "on_this_branch": len(self.here), "unattributed": len(self.unattributed),
                "branch": self.disk.checkout.branch, "candidates": rows,
                "groups": [{"about": g.about, "route": g.route, "candidates": list(g.candidates),
                            "rejected": list(g.rejected), "episodes": list(g.episodes)} for g in self.groups],
                "cap": cap, "over_cap": len(rows) > cap, "findings": findings}

    def _row(self, record: RecordFile, fresh: int, stale: int) -> dict[str, object]:
        ts, source = self.dated(record)
        age = freshness(ts, fresh, stale)
        row: dict[str, object] = {
            "id": record.stem, "class": record.field("class"), "status": "candidate",
            "epistemics": record.field("epistemics"), "date": record.field("date"), "episode": record.episode or None,
            "branch": self.branch(record), "path": record.path, "title": record.field("title")}
        if record.field("about"):
            row |= {"about": record.field("about"), "route": record.field("route")}
        row |= {"uri": f"majordomus://knowledge/{record.stem}", "derived_from": record.derived_from, "freshness": age.word}
        if age.age is not None:
            row["age_minutes"] = age.age
        return {**row, "freshness_reason": age.reason, "age_source": source}

    def text(self) -> list[str]:
        """As columns, then the count, then a line per group."""
        lines = [f"{r.stem:<46} {r.field('class'):<10} {r.field('date'):<10} {self.branch(r) or '-':<24} {r.field('title')}"
                 for r in self.awaiting]
        lines.append(f"knowledge candidates: {len(self.awaiting)} awaiting review")
        return lines + [f"about {g.about}  route {g.route}  awaiting {len(g.candidates)}  rejected {len(g.rejected)}  "
                        f"episodes {len(g.episodes)}" for g in self.groups]


def section(queue: Queue) -> list[str]:
    """The lines that a briefing and `context` show about the queue: bounded, and absence is said."""
    here, lost = queue.here, queue.unattributed
    if here:
        lines = [f"Knowledge candidates awaiting review on this branch: {len(here)}", *_bounded(here)]
    else:
        lines = ["No knowledge candidates await review on this branch (majordomus knowledge candidates lists them all)"]
    if lost:
        lines += [f"{len(lost)} candidate(s) whose episode is not known in this checkout:", *_bounded(lost)]
    return lines


def _bounded(records: list[RecordFile]) -> list[str]:
    lines = [f"- {record.stem}  {record.field('title')}" for record in records[:SHOWN]]
    if len(records) > SHOWN:
        lines.append(f"- ... and {len(records) - SHOWN} more candidate(s)")
    return lines


def _ids(members: Iterable[RecordFile], status: str) -> tuple[str, ...]:
    return tuple(record.stem for record in members if record.field("status") == status)
