"""The Model Context Protocol surface."""
