"""The command group: verbs are `module:attribute` strings, imported when they are run."""

from __future__ import annotations

import importlib
from typing import Any

import click

from kb.cli.verbs import VERBS

# what people type who have not read the list, and the verb that does it
_MEANT = {"add": "write", "ask": "route", "doc": "--help", "docs": "--help", "find": "route", "help": "--help", "lint": "check",
          "new": "init", "query": "route", "search": "route", "validate": "check", "web": "ui"}


class LazyGroup(click.Group):
    """Looks a verb up in the host's table, then among the plugins' commands, and imports only that one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [verb.name for verb in VERBS] + [command.name for command in _plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = next((verb for verb in VERBS if verb.name == cmd_name), None)
        if verb is not None:
            return _load(verb.target)
        for command in _plugin_commands():
            if command.name == cmd_name:
                return _load_plugin(command.name, command.target)
        return None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None:
            import difflib

            near = [_MEANT[name]] if name in _MEANT else difflib.get_close_matches(name, self.list_commands(ctx), n=1, cutoff=0.7)
            meant = f" Did you mean {near[0]}?" if near else " kb --help lists the verbs."
            ctx.fail(f"there is no verb '{name}'.{meant}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        known = [(verb.name, verb.summary) for verb in VERBS]
        known += [(command.name, command.summary) for command in _plugin_commands()]
        return [CompletionItem(name, help=summary) for name, summary in known if name.startswith(incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from kb.cli.help import help_text

        formatter.write(help_text())


def _load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def _load_plugin(name: str, target: str) -> click.Command:
    from kb.errors import PluginError

    try:
        return _load(target)
    except (Exception, SystemExit) as error:
        raise PluginError(f"the verb {name} does not load from {target}: {type(error).__name__}: {error}",
                          hint="see kb plugins") from error


def _plugin_commands() -> list[Any]:
    from kb.app import shared_host
    from kb.errors import PluginError
    from kb.specs import Command

    taken = {verb.name for verb in VERBS}
    commands = shared_host().owned_specs("kb_commands", Command, lambda command: command.name)
    for plugin, command in commands:
        if command.name in taken:
            raise PluginError(f"plugin {plugin} provides the verb {command.name}, which is kb's own",
                              hint=f"turn it off with KB_DISABLE_PLUGINS={plugin}")
    return [command for _, command in commands]


@click.group(cls=LazyGroup, invoke_without_command=True, add_help_option=True,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.pass_context
def root(ctx: click.Context) -> None:
    """kb: which of my notes should this question open?"""
    if ctx.invoked_subcommand is None:
        from kb.cli.help import help_text

        click.echo(help_text(), nl=False)

