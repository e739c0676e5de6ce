"""The examples, one a module: each offers `EXAMPLE`, which the catalogue collects."""
