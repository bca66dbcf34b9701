"""`python -m kb` is `kb`."""

from kb.cli.main import run

run()
