"""`kb blocks`."""

from __future__ import annotations

import os

import click

from kb.cli.options import path
from kb.core.blocks import PROSE_BYTES
from kb.core.display import printable
from kb.ops.blocks import SizedBlock, constitution, read_blocks

_CLOSING = """
A prompt is reused only up to the first token that differs, so a change in one block means that every later
resident block is read again. This is the worst case: a host that caches nothing pays it on every message."""


@click.command()
@path()
@click.option("--emit", is_flag=True, help="Print the assembled resident constitution instead.")
def blocks(path: str, emit: bool) -> None:
    """Report each block of PATH's blocks.txt: mode, files, bytes, tokens, and what changing it costs."""
    if emit:
        click.echo(constitution(path), nl=False)
        return
    sized = read_blocks(path)
    click.echo(f"{printable(os.path.join(path, 'blocks.txt'))}\n")
    click.echo("  #   block      mode       files   on disk      sent   ~tokens  cumulative")
    running = 0
    for number, item in enumerate(sized, start=1):
        running += item.tokens if item.block.resident else 0
        mode = "resident" if item.block.resident else "on-demand"
        total = str(running) if item.block.resident else "-"
        click.echo(f"  {number:<3} {printable(item.block.name):<10} {mode:<10} {len(item.texts):>5} {item.on_disk:>9} "
                   f"{item.sent:>9} {item.tokens:>9} {total:>11}")
        for missing in item.missing:
            click.echo(f"      missing file: {printable(missing)}")
    _costs([item for item in sized if item.block.resident], running)


def _costs(resident: list[SizedBlock], total: int) -> None:
    click.echo(f"\n  resident: about {total} tokens")
    stripped = sum(item.on_disk - item.sent for item in resident)
    if stripped:
        click.echo(f"  {stripped} bytes of key lines stay on disk and are not sent;")
        click.echo(f"  they would have cost about {int(stripped / PROSE_BYTES + 0.5)} tokens")
    click.echo("\n  what changing a block costs, in tokens to read again:")
    for number, item in enumerate(resident):
        click.echo(f"    {printable(item.block.name):<10}{sum(later.tokens for later in resident[number:]):>7}")
    click.echo(_CLOSING)
