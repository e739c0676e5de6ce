"""The table of the papers' rows is the one that `scripts/study rows` writes."""

import pytest

from kumitate.errors import InputError
from studies.papers import all_examples
from studies.rows import ROWS, row
from studies.rows_japanese import WHAT, japanese_page
from studies.rows_page import marks, page

from .sources import ROOT


def test_the_page_is_up_to_date():
    written = (ROOT / "docs" / "rows.md").read_text(encoding="utf-8")
    assert written == page(ROOT), "docs/rows.md is out of date; run scripts/study rows"


def test_the_japanese_page_is_up_to_date():
    assert list(WHAT) == [entry.id for entry in ROWS], "studies/rows_japanese.py: rows are missing, or in another order"
    written = (ROOT / "docs" / "ja" / "rows.md").read_text(encoding="utf-8")
    assert written == japanese_page(), "docs/ja/rows.md is out of date; run scripts/study rows"


def test_ids_are_unique():
    ids = [entry.id for entry in ROWS]
    assert len(ids) == len(set(ids))


def test_examples_name_rows_that_exist():
    known = {entry.id for entry in ROWS}
    for name, example in all_examples().items():
        assert set(example.rows) <= known, f"example {name}: {sorted(set(example.rows) - known)} are no rows"
        assert example.name == name
        assert example.title
        assert example.summary


def test_marks_name_rows_that_exist():
    known = {entry.id for entry in ROWS}
    for identity, tests in marks(ROOT / "tests").items():
        assert identity in known, f"{tests}: {identity!r} is no row"


def test_an_unknown_row_is_refused_with_its_neighbours():
    assert row("T-3.1").paper == "T"
    with pytest.raises(InputError, match=r"T-3\.1"):
        row("T-31")
