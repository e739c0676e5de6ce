"""The study of steps as WebAssembly: sizes are judged, and times only reported."""

from studies.webassembly import CASES, PAGES, cells, measured, page, played

from ..repo.sources import ROOT
from ..tools import CHROMIUM, NODE


def test_an_arm_is_measured_and_printed():
    NODE.needed(), CHROMIUM.needed()
    found = measured(CASES[0], seconds=0.1, settle=10)
    assert found.size <= 10_000
    assert min(found.written, found.first, found.native, found.node, found.chromium) > 0.0
    row = played("pa10", PAGES["pa10"], 0.2)
    printed, kept = (
        page([found], [row]).splitlines(),
        (ROOT / "docs" / "webassembly.md").read_text(encoding="utf-8").splitlines(),
    )
    assert printed[:9] == kept[:9]
    begin = [lines.index("## In the page") for lines in (printed, kept)]
    assert printed[begin[0] :][:7] == kept[begin[1] :][:7]
    assert float(row[1].split()[0]) > 0.0
    assert len(cells(found)) == kept[8].count("|") - 1
