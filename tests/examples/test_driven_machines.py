"""The delta robot and the excavator: kinematics in closed form, loops that stay closed, drives that do what they say."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.analysis import LoopEquations
from kumitate.examples.catalogue import example
from kumitate.examples.gallery.delta_robot import (
    ARM,
    BASE,
    PICK,
    PLATFORM,
    PUT,
    ROD,
    TURNS,
    angles_of,
    delta_robot,
    place,
    posture,
    rates_of,
)
from kumitate.examples.gallery.excavator import CYLINDERS, PATH, excavator
from kumitate.examples.gallery.excavator import posture as stance

MOTORS = ("motor1", "motor2", "motor3")


def place_of(angles):
    """The platform's place (3) [m] at the motors' angles (3): the lower of the two points a rod's length from three elbows.

    Each elbow is moved inward by the platform's radius; the point is the intersection of three spheres around them.
    """
    along = [(BASE - PLATFORM + ARM * np.cos(angle), -ARM * np.sin(angle)) for angle in angles]
    first, second, third = (
        np.array([x * np.cos(turn), x * np.sin(turn), z]) for (x, z), turn in zip(along, TURNS, strict=True)
    )
    a, b = second - first, third - first
    normal = np.cross(a, b)
    # the center of the circle through the three, and the height above it
    middle = np.cross((a @ a) * b - (b @ b) * a, normal) / (2.0 * normal @ normal)
    down = -normal if normal[2] > 0.0 else normal
    return first + middle + np.sqrt(ROD**2 - middle @ middle) * down / np.linalg.norm(normal)


@pytest.mark.parametrize("seed", range(5))
def test_angles_and_place_of_a_delta_robot_are_inverse_to_each_other(seed):
    rng = np.random.default_rng(seed)
    there, speed = np.array([*rng.uniform(-0.2, 0.2, 2), rng.uniform(-0.85, -0.6)]), rng.normal(size=3)
    np.testing.assert_allclose(place_of(angles_of(there)), there, rtol=0.0, atol=1e-12)
    h = 1e-6
    ends = [np.array(angles_of(there + sign * h * speed)) for sign in (1.0, -1.0)]
    np.testing.assert_allclose(rates_of(there, speed), (ends[0] - ends[1]) / (2.0 * h), rtol=1e-8, atol=1e-8)
    machine = delta_robot()
    assert np.abs(LoopEquations(machine).state(posture(machine, there), np.zeros(machine.nv)).error).max() < 1e-12


@pytest.mark.slow  # a step of 24 bodies and loops with its functions is compiled
def test_a_delta_robot_carries_its_platform_level_where_three_spheres_meet():
    run = example("delta_robot").run()
    m = run.mechanism
    at = [m.q_names.index(name) for name in MOTORS]
    found = np.array([place_of(angles) for angles in run.q[::10, at]])
    np.testing.assert_allclose(found, run.q[::10, 4:7], rtol=0.0, atol=1e-9)
    assert np.abs(run.q[:, :3]).max() < 1e-9  # the platform does not turn
    wanted = np.array([place(t) for t in run.time], dtype=float)
    assert np.abs(wanted - run.q[:, 4:7]).max() < 2e-3
    np.testing.assert_allclose(place(0.25), PUT, atol=1e-12)
    np.testing.assert_allclose(place(0.5), PICK, atol=1e-12)
    assert np.abs(run.tau[:, [m.v_names.index(name) for name in MOTORS]]).max() < 120.0
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-12


def test_an_excavator_stands_closed_in_all_postures_of_its_path():
    machine = excavator()
    equations = LoopEquations(machine)
    for _, *angles in PATH:
        assert np.abs(equations.state(stance(machine, *angles), np.zeros(machine.nv)).error).max() < 1e-12


@pytest.mark.slow  # as above
def test_an_excavator_digs_with_pressures_that_are_its_forces():
    run = example("excavator").run()
    m = run.mechanism
    drives = {loop.name: loop.drive for loop in m.loops}
    for name in CYLINDERS:
        A, B = drives[f"{name}_cylinder"].piston_area, drives[f"{name}_cylinder"].rod_side_area
        record = run.loops[f"{name}_cylinder"]
        a, b = (run.drive_states[f"{name}_cylinder.{side}_pressure"] for side in ("piston", "rod"))
        np.testing.assert_allclose(record.tau[:, 0], A * a - B * b, rtol=1e-12, atol=1e-6)
        assert min(a.min(), b.min()) > 0.0
        assert max(a.max(), b.max()) < 4.5e7
    left, right = (run.loops[f"boom_{side}_cylinder"].q for side in ("left", "right"))
    np.testing.assert_allclose(left, right, rtol=0.0, atol=1e-12)
    names = [m.q_names.index(name) for name in ("boom", "arm", "bucket", "swing")]
    for t, *angles in PATH:
        k = int(np.argmin(np.abs(run.time - t)))
        np.testing.assert_allclose(run.q[k, names], angles, rtol=0.0, atol=0.12)
    assert np.abs(run.wrenches["teeth"][:, 3:]).max() > 1e4  # the bucket was in the ground
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-12
    assert run.audit.energy_drift < 0.01 * abs(run.audit.work)


# --- a cube that is picked up -------------------------------------------------------------------------------------------------
def test_the_cube_is_carried_by_two_fingers_and_put_down():
    """Pressed with the drives' 20 N, its weight hangs by friction on both; the floor bears it before and after."""
    run = example("pick_up").run()
    weight, record = 0.3 * 9.81, run.contact
    cube = run.q[:, -3:]
    np.testing.assert_allclose(cube[-1], [0.4, 0.5, 0.03], atol=1e-3)
    assert cube[2000, 2] > 0.33
    for k in (10, -2):
        np.testing.assert_allclose(record.between("cube", "ground")[k], [0.0, 0.0, weight], atol=1e-6)
    k = 2000  # at rest above the floor
    assert not record.between("cube", "ground")[k].any()
    fingers = [f"{side}_finger" for side in ("left", "right")]
    assert sum(record.between("cube", finger)[k] for finger in fingers)[2] == pytest.approx(weight, rel=0.1)
    pressed = [record.normal_force[k, n] for n, pair in enumerate(record.bodies) if set(pair) & set(fingers)]
    np.testing.assert_allclose(pressed, [20.0, 20.0], rtol=0.02)
    assert run.audit.efforts == ("the controller: compiled", "the input 'target': compiled")
