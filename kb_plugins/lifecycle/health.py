"""`doctor`, `watch` and `check`: the four rules of the knowledge lifecycle, the policy, the ledger and the outbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kb.api import KbError
from kb_plugins.lifecycle import boundaries, clock, integrity, layout, outbox, status
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.freshness import span
from kb_plugins.lifecycle.graph import compile_graph
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.policy import DEFAULTS, Policy, read_policy
from kb_plugins.lifecycle.queue import Queue

_CHECK = "majordomus knowledge check"
_QUEUE = "majordomus knowledge candidates"
_SOURCES = {"derivation": "the derivation that wrote it", "commit": "the commit that added it", "date": "its own date"}


@dataclass(frozen=True)
class Finding:
    """One line of a report. Only FAIL and DRIFT count for the exit."""

    level: str
    category: str
    subject: str
    message: str
    reproduce: str = ""

    def shown(self) -> dict[str, str]:
        return {"level": self.level, "category": self.category, "subject": self.subject, "message": self.message,
                "reproduce": self.reproduce}

    def text(self) -> str:
        tail = f"  [reproduce: {self.reproduce}]" if self.reproduce else ""
        return f"{self.level:<4} {self.category:<11} {self.subject} — {self.message}{tail}"


@dataclass(frozen=True)
class Patient:
    """What the rules look at."""

    disk: Disk
    ledger: Ledger
    policy: Policy


Rule = Callable[[Patient], Iterator[Finding]]


def doctor(disk: Disk, ledger: Ledger) -> list[Finding]:
    """Everything. A policy that does not parse is the only finding then: nothing can be judged without it."""
    try:
        patient = Patient(disk, ledger, read_policy(disk))
    except KbError as error:
        return [Finding("FAIL", "policy", layout.POLICY, str(error))]
    rules = (policy_rule, ledger_rule, observed_rule, integrity_rule, graph_rule, reviewed_rule, outbox_rule)
    return [finding for rule in rules for finding in _run(rule, patient)]


def watch(disk: Disk, ledger: Ledger) -> list[Finding]:
    """The two rules that a hook may watch; every violation is DRIFT. Raises KbError (10) when the policy does not parse."""
    patient = Patient(disk, ledger, read_policy(disk))
    return [replace(finding, level="DRIFT") if finding.level in ("FAIL", "WARN") else finding
            for rule in (observed_rule, graph_rule) for finding in _run(rule, patient)]


def check(disk: Disk, ledger: Ledger) -> list[Finding]:
    """The rule that a person's own check enforces: the integrity of the records."""
    return _run(integrity_rule, Patient(disk, ledger, read_policy(disk)))


def _run(rule: Rule, patient: Patient) -> list[Finding]:
    try:
        return list(rule(patient))
    except KbError as error:  # a rule that cannot be judged is a failure, never a clean pass
        return [Finding("FAIL", "doctrine", rule.__name__.removesuffix("_rule"), f"the rule could not be judged: {error}")]


def policy_rule(patient: Patient) -> Iterator[Finding]:
    """The policy file says what it must and nothing unknown."""
    policy = patient.policy
    for key in policy.unknown:
        yield Finding("WARN", "policy", key, f"{layout.POLICY} says {key}, which nothing reads")
    for key in policy.malformed:
        yield Finding("WARN", "policy", key, f"{layout.POLICY} gives {key} a value of the wrong form; "
                                             f"the built-in {DEFAULTS[key]} holds")
    for key in policy.missing if policy.from_file else ():
        if not key.startswith("knowledge.") and key not in policy.malformed:
            yield Finding("WARN", "policy", key, f"{layout.POLICY} leaves {key} out; the built-in {DEFAULTS[key]} holds")
    if not policy.unknown and not policy.malformed and not (policy.from_file and policy.missing):
        yield Finding("OK", "policy", layout.POLICY if policy.from_file else "built-in", "the policy is complete")


def ledger_rule(patient: Patient) -> Iterator[Finding]:
    """Every line of the ledger parses, and there are not too many."""
    ledger, cap = patient.ledger, patient.policy.number("ledger.retention_max_lines")
    if ledger.malformed:
        yield Finding("WARN", "ledger", layout.LEDGER, f"{ledger.malformed} line(s) do not parse and are skipped",
                      "majordomus history --validate")
    if len(ledger.lines) > cap:
        yield Finding("INFO", "ledger", layout.LEDGER, f"{len(ledger.lines)} lines, over ledger.retention_max_lines {cap}; "
                                                       "fix: majordomus history --rotate", "wc -l " + layout.LEDGER)
    if not ledger.malformed:
        yield Finding("OK", "ledger", layout.LEDGER, f"{len(ledger.lines)} line(s)")


def observed_rule(patient: Patient) -> Iterator[Finding]:
    """majordomus.knowledge-observed: both boundaries call the deriver, and the newest closed episode was derived."""
    policy = patient.policy
    broken = [key for key in boundaries.unwired() if policy.on(key)]
    for key in broken:
        yield Finding("FAIL", "knowledge", boundaries.SOURCES[key], f"{key} is on and this path never calls the deriver")
    if not broken:
        yield Finding("OK", "knowledge", "wiring", "every boundary that is switched on calls the deriver")
    writer = status.judge(patient.ledger, policy)
    closed = writer.last_closed
    if not patient.ledger.lines or closed is None:
        yield Finding("OK", "knowledge", "deriver", "no episode was closed here")
    elif writer.why and writer.freshness.word == "unknown" and writer.freshness.age is None:
        yield Finding("INFO", "knowledge", "deriver", f"not judged: {writer.why}")
    elif writer.covered:
        yield Finding("OK", "knowledge", "deriver", f"the newest closed episode {closed.get('session')} was derived")
    elif policy.stated("session.freshness.stale_minutes") is None:
        yield Finding("FAIL", "knowledge", "deriver", f"{layout.POLICY} leaves session.freshness.stale_minutes out")
    elif writer.freshness.word == "invalid" and "future" in writer.freshness.reason:
        yield Finding("INFO", "knowledge", "deriver", f"not judged: {writer.freshness.reason}")
    elif writer.freshness.age is None:
        yield Finding("FAIL", "knowledge", "deriver", f"the newest close cannot be dated: {writer.freshness.reason}")
    elif writer.freshness.age >= (policy.stated("session.freshness.stale_minutes") or 0):
        episode = closed.get("session")
        yield Finding("FAIL", "knowledge", "deriver",
                      f"the episode {episode} closed {span(writer.freshness.age)} ago and was never derived: "
                      f"the writer has stopped; fix: majordomus knowledge derive --episode {episode}",
                      "majordomus history --event session.closed; majordomus history --event knowledge.derived")
    else:
        yield Finding("OK", "knowledge", "deriver", f"the episode {closed.get('session')} awaits its derivation")


def integrity_rule(patient: Patient) -> Iterator[Finding]:
    """majordomus.knowledge-integrity: every record is what a record must be."""
    verdict = integrity.check(patient.disk, patient.ledger)
    for fault in verdict.faults:
        yield Finding("FAIL", "knowledge", fault.path, f"{fault.code}: {fault.message}", _CHECK)
    if not verdict.faults:
        yield Finding("OK", "knowledge", "records", f"{len(verdict.records)} record(s), none failing")


def graph_rule(patient: Patient) -> Iterator[Finding]:
    """majordomus.knowledge-graph: what the compiler found, classified; compiling it here is the proof that it can be."""
    graph = compile_graph(patient.disk)
    prose = [found for found in graph.findings if found.owner == "authored"]
    judged = [found for found in graph.findings if found.owner not in ("authored", "-")]
    for found in judged:
        yield Finding("WARN", "knowledge", found.subject, f"{found.code}: {found.message}", "majordomus knowledge validate")
    if prose:
        yield Finding("INFO", "knowledge", "prose", f"{len(prose)} link(s) and reference(s) in prose resolve to nothing",
                      "majordomus knowledge validate")
    if not judged:
        yield Finding("OK", "knowledge", "graph", f"{len(graph.nodes)} node(s), {len(graph.edges)} edge(s); "
                                                  "compiled now, never stored")


def reviewed_rule(patient: Patient) -> Iterator[Finding]:
    """majordomus.candidates-reviewed: the queue is measured, never emptied."""
    policy, queue = patient.policy, Queue(patient.disk, patient.ledger)
    cap, limit = policy.stated("knowledge.candidates_max_files"), policy.stated("knowledge.candidate_max_age_minutes")
    if cap is None or limit is None:
        key = "knowledge.candidates_max_files" if cap is None else "knowledge.candidate_max_age_minutes"
        yield Finding("WARN", "knowledge", key, f"{layout.POLICY} leaves {key} out, so the queue is not judged", _QUEUE)
        return
    names = [record.stem for record in queue.awaiting]
    if len(names) > cap:
        yield Finding("WARN", "knowledge", "candidates",
                      f"{len(names)} candidate(s) await review, over cap {cap}: {', '.join(names[:3])}…", _QUEUE)
    else:
        yield Finding("OK", "knowledge", "candidates", f"{len(names)} await review, cap {cap}")
    old = 0
    for record in queue.awaiting:
        ts, source = queue.dated(record)
        moment = clock.parse(ts)
        age = int((clock.now() - moment).total_seconds() // 60) if moment else 0
        if age >= limit:
            old += 1
            yield Finding("WARN", "knowledge", record.path,
                          f"it has waited {span(age)}, knowledge.candidate_max_age_minutes is {span(limit)} (dated by "
                          f"{_SOURCES[source]}); promote or reject it", _QUEUE)
    if not old:
        yield Finding("OK", "knowledge", "review age", f"no candidate has waited {span(limit)}")
    loose = [path for path in patient.disk.checkout.untracked(layout.CANDIDATES) if not path.endswith("/README.md")
             and path.endswith(".md")]
    if loose:
        shown = ", ".join(path.rsplit("/", 1)[1] for path in loose[:3])
        yield Finding("WARN", "knowledge", layout.CANDIDATES,
                      f"git does not track {len(loose)} candidate(s): {shown}; fix: git add {layout.CANDIDATES}",
                      f"git status --porcelain {layout.CANDIDATES}")


def outbox_rule(patient: Patient) -> Iterator[Finding]:
    """What waits in the outbox is information, never a failure."""
    waiting = outbox.notice(patient.disk)
    if waiting:
        yield Finding("INFO", "clone", "outbox", waiting, f"ls {layout.OUTBOX}/*/")
