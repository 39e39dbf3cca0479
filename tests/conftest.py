"""Its place puts `tests/` on the path, so that every test finds the made-up records beside it."""
