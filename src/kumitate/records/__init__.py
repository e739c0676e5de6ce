"""Results of runs: what they hold, what they say about themselves, and their files."""
