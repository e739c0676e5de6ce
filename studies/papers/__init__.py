"""The runs that reproduce the papers row by row, and what several of them share: `scripts/study papers`."""

import kumitate.papers  # noqa: F401 (its methods are then in the tables of methods)
from kumitate.examples.catalogue import Example, examples

__all__ = ["GALLERY", "all_examples", "command_of"]

#: The package of the runs, as `kumitate.examples.catalogue` takes it.
GALLERY = "studies.papers.runs"


def all_examples() -> dict[str, Example]:
    """The examples that are installed with the package and the runs of the papers, in the order of their names."""
    return dict(sorted({**examples(), **examples(GALLERY)}.items()))


def command_of(name: str) -> str:
    """The command that runs an example."""
    return f"kumitate examples {name}" if name in examples() else f"scripts/study papers {name}"
