"""Robots of example-robot-data dropped onto their feet: the floor carries their weight, and nothing moves in the end."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate.dynamics import rnea
from kumitate.errors import InputError
from kumitate.examples.gallery import humanoid_standing, quadruped_standing
from kumitate.examples.legged import Stance, legged
from kumitate.kinematics import jacobian, total_mass

EXAMPLES = (quadruped_standing, humanoid_standing)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_torques_at_rest_balance_gravity_with_forces_from_below(example):
    stance = example.stance()
    robot, q = replace(stance.robot, gravity=(0.0, 0.0, -9.81)), stance.q.tolist()
    weight = np.array(rnea(robot.tree, q, [0.0] * robot.nv, [0.0] * robot.nv, gravity=robot.gravity))
    feet = np.array([np.array(jacobian(robot.tree, q, place))[5] for place in stance.soles])
    forces = np.linalg.lstsq(feet.T, weight - stance.torques, rcond=None)[0]
    # forces of the feet alone make up what the torques leave, in all joints and at the base
    np.testing.assert_allclose(feet.T @ forces, weight - stance.torques, atol=1e-8)
    assert forces.min() > 0.0
    assert forces.sum() == pytest.approx(9.81 * total_mass(robot.tree))
    assert not stance.torques[:6].any()


@pytest.mark.slow
@pytest.mark.parametrize(("example", "drop"), [(quadruped_standing, 0.05), (humanoid_standing, 0.02)])
def test_the_floor_carries_the_weight(example, drop):
    run = example.EXAMPLE.run()
    weight = 9.81 * total_mass(run.mechanism.tree)
    assert f"{weight:.0f} N" in example.EXAMPLE.summary
    record = run.contact
    assert {a for a, _ in record.bodies} == set(example.FEET)
    # it falls for √(2 h / g), a little less as unloaded legs stretch
    touched = run.time[np.argmax(record.normal_force.sum(axis=1) > 0.0)]
    assert touched == pytest.approx(np.sqrt(2.0 * drop / 9.81), rel=0.1)
    late = run.time > 1.5
    assert record.normal_force.sum(axis=1)[late] == pytest.approx(weight, rel=2e-3)
    # the center of pressure stands below the center of mass
    pressure = record.center_of_pressure()[late, :2].mean(axis=0)
    np.testing.assert_allclose(pressure, run.center_of_mass[late, :2].mean(axis=0), atol=2e-3)
    assert np.abs(run.v[-1]).max() < 5e-3
    assert record.penetration.max() < 1e-9
    assert record.cone_violation.max() < 1e-9


def test_a_stance_that_tips_over_is_refused():
    robot = legged(quadruped_standing.FILE, quadruped_standing.FEET)
    backwards = {name: 1.5 if name.endswith("HFE") else 0.0 for name in robot.v_names}
    with pytest.raises(InputError, match="cannot stand so"):
        _ = Stance(robot, backwards, stiffness=300.0, damping=10.0).torques


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"nothing\.urdf is not on this computer; it comes with pip install"):
        legged("nothing.urdf", ())


def test_a_foot_that_is_not_a_body_is_named():
    with pytest.raises(InputError, match="has no body paw"):
        legged(quadruped_standing.FILE, ["paw", "LF_FOOT"])
