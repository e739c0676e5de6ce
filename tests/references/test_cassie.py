"""Cassie, a robot whose file closes loops: put together, hanging by its pelvis, its loops closed while it swings."""

import numpy as np
import pytest

from kumitate.analysis import LoopEquations, constraint_report
from kumitate.examples.catalogue import example
from kumitate.examples.gallery import cassie


@pytest.fixture(scope="module")
def robot():
    return cassie.cassie()


def test_each_leg_has_its_two_loops(robot):
    kinds = {loop.name: loop.kind.name for loop in robot.loops}
    assert kinds == {
        "left-tarsus-spring-joint": "revolute", "right-tarsus-spring-joint": "revolute",
        "left-plantar-foot-joint": "spherical", "right-plantar-foot-joint": "spherical",
    }  # fmt: skip


def test_it_is_put_together(robot):
    loops = LoopEquations(robot)
    q = cassie.start(robot)
    for gap in loops.gaps(q, np.zeros(robot.nv)):
        assert gap.distance < 1e-12, gap
        assert gap.angle < 1e-12, gap
    report = constraint_report(loops, q)
    # two loops of five equations and two of three; the foot's rod, in the plane of its crank, is held across it twice
    assert (report.freedoms, report.rows, report.rank, report.mobility, report.redundant) == (26, 16, 14, 12, 2)
    assert not report.singular
    assert report.dependent == ("right-plantar-foot-joint: fz", "left-plantar-foot-joint: fz")
    assert all(report.determined["left-roll-op"])
    assert not all(report.determined["left-foot-op"])


@pytest.mark.slow
def test_its_loops_stay_closed_while_it_swings():
    run = example("cassie").run()
    for gap in run.audit.loop_gaps:
        assert gap.distance < 1e-12, gap
        assert gap.angle < 1e-12, gap
    assert run.audit.energy_drift < 1e-4
    assert run.audit.work < 0.0  # damping takes
    assert np.abs(run.v[-1]).max() < np.abs(run.v).max()
