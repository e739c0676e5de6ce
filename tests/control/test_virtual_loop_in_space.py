"""Virtual loops in three dimensions and on floating bases (T-f5)."""

from functools import cache

import numpy as np
import pytest

import kumitate as km
from kumitate.control import closed_by, loop_accelerations, virtual_loop
from kumitate.dynamics import Wrenches, crba, rnea
from kumitate.errors import InputError
from kumitate.model import KINDS, Body, Joint, Loop, Mechanism
from kumitate.spatial import pose
from studies.papers.runs import virtual_rssr, virtual_two_arms

from ..mechanisms import random_body, random_pose, seeds


# --- the spatial four-bar linkage ---------------------------------------------------------------------------------------
@pytest.mark.row("T-f5")
def test_a_chain_in_space_moves_as_the_spatial_four_bar_linkage():
    """The loop stays closed; the rocker is where the linkage's closed form has it; the closed mechanism moves alike."""
    q0, held = virtual_rssr.start()
    chain = virtual_rssr.mechanism()
    law = virtual_loop(chain, [held], efforts=virtual_rssr.efforts)
    options = {"duration": 5.0, "step": 1e-3, "integrator": "rk4"}
    run = km.simulate(chain, q0, np.zeros(7), controller=law, **options)
    assert run.settings["forcing"] == "compiled"
    gap = virtual_rssr.gap(run).max()
    ball = virtual_rssr.rocker_end(virtual_rssr.rocker_angle(run.q[:, 0])).T
    off = np.linalg.norm(virtual_rssr.ball2(run.q) - ball, axis=1).max()
    print(f"RSSR: loop open by {gap:.2e} m, ball off its closed form by {off:.2e} m")
    assert gap < 1e-6
    assert off < 1e-6
    assert np.degrees(run.q[-1, 0]) == pytest.approx(200.0, abs=2.0)
    linkage = Mechanism("linkage", chain.bodies, chain.joints, (held,), gravity=(0.0, 0.0, 0.0))
    alike = km.simulate(linkage, q0, np.zeros(7), controller=virtual_rssr.efforts, **options)
    np.testing.assert_allclose(run.q[:, 0], alike.q[:, 0], rtol=0.0, atol=1e-6)


# --- a floating robot that holds a bar with both hands ------------------------------------------------------------------
@cache
def two_arms(gravity=(0.0, 0.0, 0.0)):
    q0, grip = virtual_two_arms.start()
    robot = virtual_two_arms.mechanism(gravity)
    law = virtual_loop(robot, [grip], efforts=virtual_two_arms.efforts, undriven=("base",))
    return km.simulate(robot, q0, np.zeros(18), duration=5.0, step=1e-3, integrator="rk4", controller=law)


@pytest.mark.slow
@pytest.mark.row("T-f5")
def test_a_floating_robot_holds_a_bar_by_its_torques_alone():
    run = two_arms()
    assert run.settings["forcing"] == "compiled"
    gap = virtual_two_arms.gap(run).max()
    print(f"two arms: hand off the bar by {gap:.2e} m, momentum {np.abs(run.momentum).max():.2e}")
    assert gap < 1e-6
    assert not np.any(run.tau[:, :6])  # exactly: there is no drive
    assert np.abs(run.momentum).max() < 1e-10
    assert np.abs(run.q[-1, :3]).max() > 0.1  # the trunk turns in reaction
    assert np.abs(run.q[-1, 7:13] - virtual_two_arms.GOAL).max() < 0.1


@pytest.mark.slow
@pytest.mark.row("T-f5")
def test_it_moves_as_if_the_hand_were_welded_to_the_bar():
    """The loop's forces cancel in the whole: base and all, the open robot moves as the closed mechanism does."""
    q0, grip = virtual_two_arms.start()
    closed = closed_by(virtual_two_arms.mechanism(), [grip])
    options = {"duration": 5.0, "step": 1e-3, "integrator": "rk4"}
    welded = km.simulate(closed, q0, np.zeros(18), controller=virtual_two_arms.efforts, **options)
    np.testing.assert_allclose(two_arms().q, welded.q, rtol=0.0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.row("T-f5")
def test_falling_freely_it_moves_its_arms_alike():
    """No drive can hold the base against the weight; its joints feel none of it."""
    still, falling = two_arms(), two_arms((1.0, 2.0, -9.81))
    np.testing.assert_allclose(falling.q[:, 7:], still.q[:, 7:], rtol=0.0, atol=1e-7)
    fall = 0.5 * still.time[:, None] ** 2 * np.array([1.0, 2.0, -9.81])
    np.testing.assert_allclose(falling.center_of_mass, still.center_of_mass + fall, rtol=0.0, atol=1e-7)


# --- loops to the world on a floating base --------------------------------------------------------------------------------
def snake(seed: int, gravity=(0.0, 0.0, 0.0)) -> Mechanism:
    """A floating body with five links in a row."""
    rng = np.random.default_rng(seed)
    bodies = [Body("body", 2.0, inertia=(0.06, 0.05, 0.07))]
    joints = [Joint("base", KINDS["floating"], "world", "body")]
    for k in range(5):
        bodies.append(random_body(rng, f"link{k + 1}"))
        where, axis = pose(rng.uniform(0.1, 0.3, 3)), rng.normal(size=3)
        joints.append(Joint(f"joint{k + 1}", KINDS["revolute"], bodies[k].name, bodies[k + 1].name, where, axis))
    return Mechanism("snake", tuple(bodies), tuple(joints), gravity=gravity)


@pytest.mark.row("T-f5")
@pytest.mark.parametrize(("seed", "falls"), [(0, 0.0), pytest.param(1, -0.5, marks=pytest.mark.slow)])
def test_a_point_of_a_floating_robot_stays_where_it_is(seed, falls):
    """A virtual ball joint to the world: no force acts from outside, the rest of the robot swings for it."""
    robot = snake(seed, (0.0, 0.0, falls))
    q0 = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.4, -0.5, 0.6, -0.4, 0.5])
    place = km.Robot(robot).pose(q0, "link5")[:3, 3]
    rail = Loop("rail", KINDS["spherical"], "world", "link5", pose(place))

    def efforts(t, q, v):
        return np.concatenate([np.zeros(6), 0.3 * np.sin(3.0 * t) - 0.5 * v[6:]])

    law = virtual_loop(robot, [rail], efforts=efforts, undriven=("base",), stiffness=400.0, damping=40.0)
    run = km.simulate(robot, q0, np.zeros(11), duration=0.5, step=1e-3, integrator="rk4", controller=law)
    points = np.array([km.Robot(robot).pose(q, "link5")[:3, 3] for q in run.q[::25]])
    assert np.linalg.norm(points - place, axis=1).max() < 1e-6
    assert not np.any(run.tau[:, :6])
    moved = 0.5 * falls * run.time[-1] ** 2
    np.testing.assert_allclose(run.center_of_mass[-1] - run.center_of_mass[0], [0.0, 0.0, moved], rtol=0.0, atol=1e-9)
    assert np.abs(run.q[-1] - q0).max() > 1e-2


@pytest.mark.row("T-f5")
@pytest.mark.parametrize(**seeds(5))
@pytest.mark.parametrize("inner", [True, False])
def test_the_drives_do_what_the_loop_would(seed, inner):
    """Nothing at the undriven joints, the loop's rows keep from accelerating, and what the drives add is in J_gᵀ's span.

    Of a loop among the robot's own links that is the closed mechanism's motion itself.
    """
    rng = np.random.default_rng(seed)
    robot = snake(seed, (0.3, 0.0, -9.81))
    q = np.array([*(part := rng.normal(size=4)) / np.linalg.norm(part), *rng.normal(size=8)])
    X_A, X_B = (
        np.eye(4) if name == "world" else km.Robot(robot).pose(q, name) for name in ("body" if inner else "world", "link5")
    )
    hold = random_pose(rng)
    place = np.linalg.inv(X_A) @ X_B @ [*hold.translation, 1.0]  # closed there: its forces act at one point
    loop = Loop("loop", KINDS["spherical"], "body" if inner else "world", "link5", pose(place[:3]), hold)
    closed = closed_by(robot, [loop])
    v, tau, push = rng.normal(size=11), np.concatenate([np.zeros(6), rng.normal(size=5)]), rng.normal(size=6)
    tree, free = closed.tree, range(6)
    pushed = None if inner else Wrenches(tree, {"link3": push.tolist()})
    options = {"gravity": robot.gravity, "wrenches": pushed}
    a = np.array(loop_accelerations(tree, q.tolist(), v.tolist(), tau.tolist(), undriven=free, **options))
    bias = np.array(rnea(tree, q.tolist(), v.tolist(), [0.0] * 11, gravity=robot.gravity))
    M = np.array(crba(tree, q.tolist()))
    efforts = M @ a + bias
    np.testing.assert_allclose(efforts[:6], 0.0, atol=1e-9 * np.abs(efforts).max())

    equations = km.analysis.LoopEquations(closed)
    J = equations.state(q, v).J
    size = max(1.0, float(np.abs(a).max()))
    as_loop = np.array(loop_accelerations(tree, q.tolist(), v.tolist(), tau.tolist(), **options))
    np.testing.assert_allclose(J @ a, J @ as_loop, atol=1e-6 * size)  # both are −J̇v
    if inner:
        np.testing.assert_allclose(a, as_loop, atol=1e-6 * size)
    reduced = J[:, 6:] - J[:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])  # the generalised Jacobian
    wrench = np.zeros(11) if inner else km.Robot(robot).jacobian(q, "link3").T @ push
    external = wrench[6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], wrench[:6])
    rest = efforts[6:] - tau[6:] - external
    remainder = rest - reduced.T @ np.linalg.lstsq(reduced.T, rest, rcond=None)[0]
    np.testing.assert_allclose(remainder, 0.0, atol=1e-6 * max(1.0, float(np.abs(rest).max())))


def test_nonsense_is_refused():
    robot = snake(0)
    loop = Loop("loop", KINDS["spherical"], "body", "link5")
    with pytest.raises(InputError, match="foot"):
        virtual_loop(robot, [loop], undriven=("foot",))
    with pytest.raises(InputError, match="leave gravity out"):
        virtual_loop(robot, [loop], undriven=("base",), gravity=(0.0, 0.0, -9.81))
