"""Scorers: each ranks files for a question."""
