"""Published robots with closed loops: closed from neutral, and the table of all of them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis.loops import loop_equations
from studies.parallel_robots import closing, largest_gap, mass_matrix_difference, moved_by_motors

from ..robots import PARALLEL_ROBOTS

TABLE = Path(__file__).parents[2] / "docs" / "parallel-robots.md"
NAMES = ("5bar_linkage", "battobot_6d", "digit_like_2legs", "disney_robot", "talos_like", "wl16_like")


def robot(name: str) -> km.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return km.load(PARALLEL_ROBOTS / name / "robot.yaml")


@pytest.mark.parametrize("name", ["5bar_linkage", "digit_like_2legs", "talos_like", "wl16_like"])
def test_a_robot_is_closed_from_its_neutral_posture_within_its_limits(name):
    made = robot(name)
    q = made.assemble(made.neutral())
    assert max(gap.size(1.0) for gap in made.constraint_residual(q)) < 1e-12
    at = 0
    for joint in made.mechanism.joints:
        for k, limit in enumerate(joint.limits if joint.kind.nq == joint.kind.nv else ()):
            assert limit.lower is None or q[at + k] >= limit.lower, joint.name
            assert limit.upper is None or q[at + k] <= limit.upper, joint.name
        at += joint.kind.nq


def test_the_arms_of_the_five_bar_linkage_swing_closed():
    """Two masses of 654 t, as published, on rods of 25 kg."""
    made = robot("5bar_linkage")
    run = moved_by_motors(made, closing(made).q, 2.0)
    assert largest_gap(loop_equations(run.mechanism), run.q) < 1e-12
    k = made.mechanism.q_names.index("mot1")
    np.testing.assert_allclose(run.q[500:, k] - run.q[0, k], 0.1 * np.sin(np.pi * run.time[500:]), atol=0.01)


@pytest.mark.parametrize("name", ["5bar_linkage", "wl16_like"])
def test_the_mass_matrix_is_pinocchios(name):
    assert mass_matrix_difference(PARALLEL_ROBOTS / name / "robot.urdf") < 1e-13


def test_all_robots_of_the_table_stay_closed():
    text = TABLE.read_text(encoding="utf-8")
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")]
    assert [row[0].split("`")[1] for row in rows] == [*NAMES, "kangaroo_like"]
    for row in rows:
        assert float(row[9].removesuffix(" m")) < 1e-12, row[0]
        assert float(row[11]) < 1e-12, row[0]
    (kangaroo,) = re.findall(r"^- `kangaroo_like`: (.*)$", text, re.MULTILINE)
    assert re.search(r"closes 'closedloop2_A-closedloop2_B' by itself \(no joint closes the last .* of n", kangaroo)
    assert kangaroo.endswith("All loops close if all of kind fixed (6d) are points (spherical, or 3d in YAML).")
