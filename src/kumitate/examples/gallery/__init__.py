"""The examples, one per module: each defines `EXAMPLE`, which the catalogue collects."""
