"""Prints the passes from a Python function to machine code: `python -m kumitate.compile`."""

import sys

from .pipeline import pass_table

if __name__ == "__main__":
    sys.stdout.write(f"{pass_table()}\n")
