"""Studies: the papers' rows, the examples that reproduce them, sweeps and benchmarks."""
