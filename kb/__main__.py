"""`python -m kb` is `kb`. The current folder, which Python puts on the import path, may be a base: it is taken off first."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from kb.cli.main import run

run()
