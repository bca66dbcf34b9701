"""The reading room: a local page over the same catalogue."""
