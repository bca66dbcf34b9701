"""What a question could not look at, on stderr: one line for each reason, whatever the number of bases or files."""

from __future__ import annotations

from collections.abc import Iterable

from kb.cli.boundary import say

_NAMED = 3  # of more than this many that share a reason


def say_skipped(sentences: Iterable[str]) -> None:
    """Each sentence on stderr, those that differ only in what they are about as one."""
    for line in gathered(sentences):
        say(line)


def gathered(sentences: Iterable[str]) -> list[str]:
    """`<what>: <reason>` sentences with one reason as one line, when there are more than three; order is of first sight.

    `kb index` and `kb check` name each of them, so a verb that answers a question need not.
    """
    groups: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        what, colon, reason = sentence.partition(": ")
        groups.setdefault(reason if colon else sentence, []).append(what)
    lines = []
    for reason, named in groups.items():
        if len(named) > _NAMED:
            lines.append(f"{', '.join(named[:_NAMED])} and {len(named) - _NAMED} more: {reason}")
        else:
            lines += [reason if what == reason else f"{what}: {reason}" for what in named]
    return lines
