"""The study of ADA in rounds: what it counts, and what the command leaves."""

import json
import math

import pytest

from kumitate.measure.timing import Effort
from kumitate.scalar import sin, trace
from studies.commands import levels as verb
from studies.comparison import levels
from studies.comparison.program_depth import program_depth


def test_depth_is_the_longest_row_of_operations():
    chain = trace(lambda x: [((x[0] * x[1]) * x[2]) * x[3]], {"x": 4}, "chain")
    side_by_side = trace(lambda x: [sin(x[0]), sin(x[1]), x[2] * x[3]], {"x": 4}, "side")
    assert program_depth(chain) == 3
    assert program_depth(side_by_side) == 1


@pytest.mark.row("T-f2")
def test_levels_and_depth_grow_with_the_logarithm():
    found = levels.compare_levels(lengths=(8, 4, 16), threads=(1,), effort=Effort.quick())
    assert [(line.links, line.levels) for line in found.lines] == [(n, math.ceil(math.log2(n + 1))) for n in (4, 8, 16)]
    depths = [line.depth for line in found.lines]
    assert depths[2] - depths[1] < 1.5 * (depths[1] - depths[0])  # twice as many links: as much deeper, not twice
    serial = [line.serial_depth for line in found.lines]
    assert serial[2] - serial[1] > 1.5 * (serial[1] - serial[0])
    assert all(line.residual <= 1e-11 and line.difference <= 1e-9 for line in found.lines)
    assert "![" in found.markdown()


def test_the_command_writes_page_and_figure(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(levels, "LENGTHS", (3, 6, 12))
    verb.levels(quick=True, threads=[1], markdown=tmp_path / "levels.md", figure=tmp_path / "levels.png", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [line["links"] for line in found["lines"]] == [3, 6, 12]
    assert (tmp_path / "levels.png").stat().st_size > 10_000
    assert "| 12 | 4 |" in (tmp_path / "levels.md").read_text(encoding="utf-8")
