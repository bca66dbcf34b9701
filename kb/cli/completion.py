"""`kb completion`: the script that teaches a shell our verbs and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: eval "$(kb completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc; for fish:
    kb completion fish > ~/.config/fish/completions/kb.fish
    """
    from click.shell_completion import get_completion_class

    from kb.cli.group import root

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(root, {}, "kb", "_KB_COMPLETE").source())
