"""Promoters: the commands that classify, propose and review."""
