"""The line that says what a reply cites and should not, or should cite and does not."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kb.core.display import printable


def say_citations(unserved: Sequence[str], uncited: Sequence[str] = ()) -> None:
    """One line on stderr, `citations: ...`; nothing when all is as it should be."""
    told = [f"cited and not served: {', '.join(unserved)}"] if unserved else []
    told += [f"served and not cited: {', '.join(uncited)}"] if uncited else []
    if told:
        click.echo(f"citations: {printable('; '.join(told))}", err=True)
