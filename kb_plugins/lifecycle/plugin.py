"""The lifecycle's door into kb: commands, check codes, tools, a page, and an ear for what sessions do."""

from __future__ import annotations

from collections.abc import Sequence

from kb.api import Check, Command, Page, SessionEvent, Tool, hookimpl

_AT = "kb_plugins.lifecycle.cli"


@hookimpl
def kb_commands() -> Sequence[Command]:
    """The commands of the second page, under kb."""
    return [
        Command("knowledge", f"{_AT}.knowledge:knowledge", "derive, review, promote and check knowledge records",
                ("kb knowledge derive [--episode ID] [--dry-run] [--json]",
                 "kb knowledge observe --kind K --subject REF [--evidence REF]... <statement>",
                 "kb knowledge candidates [--json]",
                 "kb knowledge promote <id> [--class C] [--keys <a, b>]",
                 "kb knowledge reject <id> --reason <why> [--by ID]",
                 "kb knowledge check|validate|sources|nodes|edges|status [--json]",
                 "kb knowledge record <id> [--json]")),
        Command("session", f"{_AT}.session:session", "open and close an episode of work",
                ("kb session start [--owner NAME] [--worker NAME] [--if-open refuse|keep]",
                 "kb session close [--outcome closed|interrupted] [--if-none refuse|ignore]",
                 "kb session status|list|latest [--json]", "kb session show <id>",
                 "kb session hook --provider P --event start|end|compact")),
        Command("recover", f"{_AT}.recover:recover", "close episodes that nobody closed",
                ("kb recover [status|episodes|records|orphans|all] [--older-than 12h] [--check]",)),
        Command("task", f"{_AT}.work:task", "begin and end a task",
                ("kb task start <task> --scope <path>[,<path>]",
                 "kb task finish --outcome O [--verify-command C] [--note FILE]")),
        Command("decision", f"{_AT}.work:decision", "record a decision", ("kb decision add <what> --why <why>",)),
        Command("question", f"{_AT}.work:question", "open and resolve questions",
                ("kb question add <question>", "kb question resolve <n|text> --answer <a>")),
        Command("history", f"{_AT}.state:history", "print the ledger",
                ("kb history [--event E] [--task ID] [--since 7d] [--limit N] [--all] [--json] [--rotate] [--validate]",)),
        Command("context", f"{_AT}.state:context", "say where this checkout stands", ("kb context [--json]",)),
        Command("doctor", f"{_AT}.state:doctor", "examine records, ledger, graph, queue and outbox", ("kb doctor [--json]",)),
        Command("watch", f"{_AT}.state:watch", "look for a stopped writer and a broken graph", ("kb watch [--json]",)),
    ]


@hookimpl
def kb_checks() -> Sequence[Check]:
    """The K codes: the families of faults that a knowledge record can have."""
    from kb_plugins.lifecycle.checks import checks

    return checks()


@hookimpl
def kb_tools() -> Sequence[Tool]:
    """Reading tools for a model. None of them promotes."""
    from kb_plugins.lifecycle.tools import tools

    return tools()


@hookimpl
def kb_pages() -> Sequence[Page]:
    """The review queue in the reading room."""
    from kb_plugins.lifecycle.pages import pages

    return pages()


@hookimpl
def kb_session_event(event: SessionEvent) -> None:
    """Feed what kb's own sessions do into the ledger of the repository that the fleet lies in."""
    from kb_plugins.lifecycle.listener import listen

    listen(event)
