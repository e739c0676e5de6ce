"""The study of steps as WebAssembly: sizes are judged, and times only reported."""

from studies.webassembly import CASES, cells, measured, page

from ..repo.sources import ROOT
from ..tools import CHROMIUM, NODE


def test_an_arm_is_measured_and_printed():
    NODE.needed(), CHROMIUM.needed()
    found = measured(CASES[0], seconds=0.1, settle=10)
    assert found.size <= 10_000
    assert min(found.written, found.first, found.native, found.node, found.chromium) > 0.0
    printed, kept = page([found]).splitlines(), (ROOT / "docs" / "webassembly.md").read_text(encoding="utf-8").splitlines()
    assert printed[:9] == kept[:9]
    assert len(cells(found)) == kept[8].count("|") - 1
