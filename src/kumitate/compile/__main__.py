"""Prints what happens between a page of Python and machine code: `python -m kumitate.compile`."""

import sys

from .pipeline import pass_table

if __name__ == "__main__":
    sys.stdout.write(f"{pass_table()}\n")
