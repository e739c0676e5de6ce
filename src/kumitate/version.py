"""The version of the package, which results, sweeps and the command name."""

__version__ = "0.2.0"
