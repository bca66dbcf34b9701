"""Checks: one module per code of `kb check`."""
