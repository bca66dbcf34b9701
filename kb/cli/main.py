"""Where `kb` starts. The version is answered before anything is imported; everything else goes through the group.

What a command raises becomes an exit code and a line on stderr in kb/cli/boundary.py.
"""

from __future__ import annotations

import gc
import sys


def run() -> None:
    """The console script."""
    gc.set_threshold(20_000)  # imports make many objects and hardly a cycle: looking for some costs a twentieth of the start
    code = main(sys.argv[1:])
    gc.freeze()  # else the interpreter looks at every object once more before it ends
    sys.exit(code)


def main(words: list[str]) -> int:
    """Run one command line and return its exit code."""
    if words and words[0] in ("--version", "-V", "version"):
        from kb.cli.version import version_line

        try:
            print(version_line(), flush=True)
        except OSError as error:
            from kb.cli.boundary import unwritten

            return unwritten(error)
        return 0
    from kb.cli.boundary import guarded

    return guarded(words)

