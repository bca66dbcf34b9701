"""`kb --help`: every usage, then the flags, the check codes and the exit codes."""

from __future__ import annotations

from kb.cli.verbs import VERBS

_WIDTH = 116
_DEEPER = " " * 12

_FLAGS = (
    ("path", "the base or the fleet to work on; the current folder when none is given"),
    ("--top N", "how many to show or to rank, 1 to 1000; 5 when not given; kb VERB --help says of what"),
    ("--all", "include the private layer too; nothing else changes"),
    ("--json", "JSON on stdout, as one line; a verb that a plugin adds may print several, and its --help says so"),
    ("--hybrid", "route: fuse the keyword ranking with full text"),
    ("--strict", "check: warnings fail too"),
    ("--format F", "check: text, json, github or sarif; --select and --ignore take code prefixes"),
    ("--dry-run", "write nothing: promote and consolidate ask every model all the same, ingest asks none"),
    ("--port N", "ui, serve --http: a port from 1 to 65535; ui uses 4114 when not given"),
    ("--adopt F", "init: make a base of F, a folder of notes that you have; --keys shows a key line for each"),
    ("--", "ends the options: what follows is taken as it stands"),
)

_EXITS = (
    ("0", "done; a question that the library cannot answer is an answer"),
    ("1", "failed or refused; check: errors found; panel --ledger: the round is open"),
    ("2", "the words of the command are wrong; nothing was done"),
    ("3", "a plugin that the verb needs is off or broken"),
    ("10-15", "a verb that a plugin adds may have codes of its own; its --help names them"),
    ("130", "interrupted"),
)


def help_text() -> str:
    """The whole help, ending in a newline."""
    from kb.app import shared_host
    from kb.cli.group import split_commands
    from kb.specs import Check

    host = shared_host()
    added = [command for _, command in split_commands()[0]]
    checks = sorted(host.specs("kb_checks", Check, lambda check: check.code), key=lambda check: check.code)
    lines = ["kb: which of my notes should this question open, and does the library hold the answer at all?", "", "usage:",
             "    kb --version"]
    for verb in VERBS:
        for usage in verb.usage:
            lines += _wrapped(usage)
    for command in added:
        for usage in command.usage or (f"kb {command.name}",):
            lines += _wrapped(usage)
    lines += ["", "kb VERB --help explains one verb.", "", "flags:"]
    lines += [f"    {name:<12} {meaning}" for name, meaning in _FLAGS]
    lines += ["", "checks (an error makes the exit code 1, a warning only under --strict):"]
    lines += [f"    {check.code:<5} {check.slug:<22} {check.level}" for check in checks]
    lines += ["    E02, W06 and W07 skip README.md, MAP.md, AGENTS.md, CLAUDE.md, what-goes-here.md, MOVED.md, and what",
              "    lies under inbox/, records/ or a calculation-log/ folder.",
              "", "aliases:",
              "    An alias cannot cause a miss, only a wrong confident hit: kb misses --apply needs --gold <tsv>, and the",
              "    model proposes and never decides.",
              "", "exit codes:"]
    lines += [f"    {code:<5} {meaning}" for code, meaning in _EXITS]
    return "\n".join(lines) + "\n"


def _wrapped(usage: str) -> list[str]:
    lines, line = [], "   "
    for word in usage.split(" "):
        if len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = _DEEPER + word
        else:
            line += f" {word}"
    return [*lines, line]
