"""The command group: verbs are `module:attribute` strings, imported when they are run."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from kb.cli.verbs import VERBS

if TYPE_CHECKING:
    from kb.specs import Command

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
        for plugin, command in _owned_commands():
            if command.name == cmd_name:
                return _load_plugin(plugin, command)
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
        formatter.write(_help())


def _load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def _load_plugin(plugin: str, command: Command) -> click.Command:
    from kb.blame import ENDINGS, reason
    from kb.errors import PluginError

    try:
        return _load(command.target)
    except ENDINGS:
        raise
    except BaseException as error:
        raise PluginError(f"the verb {command.name} of plugin {plugin} does not load from {command.target}: {reason(error)}",
                          hint="see kb plugins") from error


def _plugin_commands() -> list[Command]:
    return [command for _, command in _owned_commands()]


def _owned_commands() -> list[tuple[str, Command]]:
    """The verbs of plugins, each with its plugin. Raises PluginError when one has the name of another verb."""
    from kb.errors import PluginError

    owned, clashes = split_commands()
    for plugin, told in clashes.items():
        raise PluginError(f"plugin {plugin} {told}", hint=f"turn it off with KB_DISABLE_PLUGINS={plugin}")
    return owned


def split_commands() -> tuple[list[tuple[str, Command]], dict[str, str]]:
    """The verbs that plugins add, each with its plugin; and by plugin what is wrong with one that takes the name of a verb of kb.

    Raises PluginError when two plugins provide one verb.
    """
    from kb.app import shared_host
    from kb.specs import Command

    taken = {verb.name for verb in VERBS}
    owned = shared_host().owned_specs("kb_commands", Command, lambda command: command.name)
    clashes = {plugin: f"provides the verb {command.name}, which is kb's own" for plugin, command in owned if command.name in taken}
    return [(plugin, command) for plugin, command in owned if command.name not in taken], clashes


def provider_of(name: str) -> str | None:
    """The stranger's plugin that a verb comes from; None for a verb of kb, and for one that nobody provides."""
    from kb.app import shared_host
    from kb.errors import PluginError

    if any(verb.name == name for verb in VERBS):
        return None
    try:
        found = next((plugin for plugin, command in split_commands()[0] if command.name == name), None)
    except PluginError:
        return None
    return None if found is None or any(one.name == found and one.built_in for one in shared_host().plugins) else found


def _help() -> str:
    """The whole help; a plugin whose verb is left out of it is told on stderr."""
    from kb.cli.help import help_text
    from kb.core.display import printable

    for plugin, told in split_commands()[1].items():
        click.echo(printable(f"kb: plugin {plugin} {told}; turn it off with KB_DISABLE_PLUGINS={plugin}"), err=True)
    return help_text()


@click.group(cls=LazyGroup, invoke_without_command=True, add_help_option=True,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.pass_context
def root(ctx: click.Context) -> None:
    """kb: which of my notes should this question open?"""
    if ctx.invoked_subcommand is None:
        click.echo(_help(), nl=False)

