"""ParallelBench: programs agree on a robot with a loop, loops hold, and the results are plain data."""

from __future__ import annotations

import json
from pathlib import Path

from studies.parallel_bench.run import measured, table

ROBOTS = Path(__file__).resolve().parents[1] / "data" / "parallel-robots"


def test_programs_agree_on_a_five_bar_and_loops_stay_closed():
    found = json.loads(json.dumps(measured(ROBOTS, ["5bar_linkage"])))
    (robot,) = found["robots"]
    assert set(robot["programs"]) == {"kumitate", "Pinocchio"}
    for told in robot["programs"].values():
        assert told["apart"] < 1e-9
        assert told["drift_m"] < 1e-6
        assert told["acceleration_seconds"] > 0.0
    assert "`5bar_linkage` | Pinocchio" in table(found)
