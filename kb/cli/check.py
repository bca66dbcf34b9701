"""`kb check`."""

from __future__ import annotations

import gc

import click

from kb.app import open_app
from kb.cli.boundary import say, until_the_reader_leaves
from kb.cli.findings import FORMATS
from kb.cli.options import everything, option, paths
from kb.errors import KbError
from kb.ops.check import check as grade
from kb.store.fleet import real_folder


@click.command()
@paths()
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@everything()
@option("--format", "format_", type=click.Choice(list(FORMATS)), default="text", help="How to print the findings. Default text.")
@click.option("--select", multiple=True, metavar="CODES", help="Only codes with these prefixes; comma lists, may repeat.")
@click.option("--ignore", multiple=True, metavar="CODES", help="No codes with these prefixes; comma lists, may repeat.")
@click.pass_context
def check(ctx: click.Context, paths: tuple[str, ...], strict: bool, include_private: bool, format_: str,
          select: tuple[str, ...], ignore: tuple[str, ...]) -> None:
    """Lint every base: broken links, notes without keys, dead citations and the like. It fixes nothing and touches no file.

    Each finding has a code. An error makes the exit code 1, a warning does so under --strict; docs/reference/checks.md
    explains every code, and kb --help lists them with their levels.
    """
    gc.disable()  # a base of ten thousand notes is a million small objects and no cycles
    bad = 0
    good = []
    for path in paths:
        try:
            real_folder(path)
            good.append(path)
        except KbError as error:
            say(str(error))
            bad += 1
    if good:
        app = open_app(good, include_private)
        graded = grade(app, _prefixes(select), _prefixes(ignore))
        with until_the_reader_leaves():
            FORMATS[format_](graded)
        for line in dict.fromkeys((*graded.failures, *app.fleet.skipped)):
            say(line)
        bad += graded.failed(strict)
    if bad:
        ctx.exit(1)


def _prefixes(values: tuple[str, ...]) -> list[str]:
    return [part.strip().upper() for value in values for part in value.split(",") if part.strip()]
