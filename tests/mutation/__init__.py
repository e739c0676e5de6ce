"""Mutation testing: small changes of the package's sources, and whether a test fails."""
