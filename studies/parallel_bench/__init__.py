"""ParallelBench: programs on published robots with closed loops, by one command, with results as JSON."""
