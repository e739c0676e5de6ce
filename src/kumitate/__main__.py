"""`python -m kumitate` is the command `kumitate`."""

from .cli import main

main()
