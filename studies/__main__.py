"""`python -m studies`, which is what scripts/study runs."""

from kumitate.cli import main

main(commands="studies.command")
