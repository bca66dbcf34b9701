"""Built-in plugins: found by entry points like anyone's, never imported by the host."""
