"""The runs, a module each, which offers it as EXAMPLE."""
