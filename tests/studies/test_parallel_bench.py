"""ParallelBench: programs agree on a robot with a loop, loops hold, and the results are plain data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import kumitate as km
from kumitate.analysis import LoopEquations, constraint_report
from studies.parallel_bench.robots import BUILT, with_hinges
from studies.parallel_bench.run import PROGRAMS, measured, page, table

ROBOTS = Path(__file__).resolve().parents[1] / "data" / "parallel-robots"


def test_programs_agree_and_loops_stay_closed():
    """MuJoCo's loops give way."""
    found = json.loads(json.dumps(measured(ROBOTS, ["5bar_linkage"])))
    (robot,) = found["robots"]
    assert set(robot["programs"]) == {"kumitate", "MuJoCo", "Pinocchio"}
    for name, told in robot["programs"].items():
        assert told["apart"] < (1e-3 if name == "MuJoCo" else 1e-9)
        assert told["drift_m"] < 1e-6
        assert told["acceleration_seconds"] > 0.0
    assert "`5bar_linkage` (8 bodies, 1 loop) | Pinocchio" in table(found)
    assert "a motion of 0.25 s" in page(found)


def test_robots_that_are_built_here_start_closed():
    """They have the freedoms of their kind: a delta robot moves in three ways, a hexapod in six."""
    freedoms = {}
    for name in ("delta", "hexapod"):
        mechanism, q = BUILT[name]()
        mechanism = with_hinges(mechanism)
        report = constraint_report(LoopEquations(mechanism), km.Robot(mechanism).assemble(q))
        freedoms[name] = report.mobility
    assert freedoms == {"delta": 3, "hexapod": 6}


def test_the_page_has_every_robot_by_every_program():
    text = (ROBOTS.parents[2] / "docs" / "parallel-bench.md").read_text(encoding="utf-8")
    files = {file.parent.name for file in ROBOTS.glob("*/robot.yaml")}
    for name in {*files, *BUILT} - {"kangaroo_like"}:
        assert all(re.search(rf"^\| `{name}` \(.*\) \| {program} \|", text, re.MULTILINE) for program in PROGRAMS)
