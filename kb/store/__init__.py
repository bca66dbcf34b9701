"""Disk: walking, reading, atomic writes, locks, logs, the index and its caches."""
