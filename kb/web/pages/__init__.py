"""One module per page: read the fleet through operations, hand facts to a template."""
