"""One module per verb: op(app, ...) -> a frozen result. Nothing is printed here."""
