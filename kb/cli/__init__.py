"""The command line: one module per verb that parses, calls the op and renders its result."""
