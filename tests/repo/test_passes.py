"""The architecture's page shows the passes of the compiler as the code has them."""

from kumitate.compile.pipeline import pass_table

from .sources import ROOT


def test_the_architecture_lists_the_passes_of_the_compiler():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert pass_table() in page, "write the output of `python -m kumitate.compile` into docs/architecture.md"
