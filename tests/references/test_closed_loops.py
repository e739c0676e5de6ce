"""Closed loops against what others computed: IFToMM's A01, A02 and A04, and the thesis's parallelogram (T-3.3)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import kumitate as km
from kumitate.analysis import LoopEquations, constraint_report
from kumitate.model import Distance, Loop, Mechanism
from kumitate.model.samples import bricard, distance_pendulum, four_bars, four_bars_start, planar_4r
from kumitate.spatial import Motion, Transform, pose
from kumitate_problems.closed_loops import A02_ANGLE
from kumitate_problems.pendulums import A01_END

from ..mechanisms import Hinge, Linkage, random_rotation

G = 9.81


def turned(mechanism: Mechanism, seed: int) -> Mechanism:
    """The mechanism somewhere else in the world and turned, with its gravity: nothing lies in a coordinate plane any more."""
    R = random_rotation(np.random.default_rng(seed))
    turn = pose((0.3, -0.2, 0.5), matrix=R.tolist())
    joints = tuple(
        replace(joint, pose=(turn @ joint.pose).dense()) if joint.parent == "world" else joint for joint in mechanism.joints
    )
    loops = mechanism.loops
    for body, key in (("body_a", "pose_a"), ("body_b", "pose_b")):
        loops = tuple(
            replace(lo, **{key: (turn @ getattr(lo, key)).dense()}) if getattr(lo, body) == "world" else lo for lo in loops
        )
    return replace(mechanism, joints=joints, loops=loops, gravity=tuple(R @ mechanism.gravity))


def swinging(factor: float, time: np.ndarray, angle: float, speed: float) -> np.ndarray:
    """φ of φ'' = factor·sin φ at these times."""
    motion = solve_ivp(
        lambda t, y: [y[1], factor * math.sin(y[0])], (0.0, time[-1]), [angle, speed],
        method="DOP853", rtol=1e-13, atol=1e-14, t_eval=time,
    )  # fmt: skip
    return motion.y[0]


# --- A01 ------------------------------------------------------------------------------------------------------------------
def on_a_rod() -> Mechanism:
    """A pendulum whose bob turns too: a floating body, held by a rod at its mass centre."""
    bob = km.Body("bob", 1.0, inertia=(0.2, 0.3, 0.4))
    return Mechanism(
        "A01", (bob,), (km.Joint("free", "floating", "world", "bob"),), (Loop("rod", Distance(1.0), "world", "bob"),)
    )


@pytest.mark.parametrize("free", ["a point on three slides", "a body that floats"])
def test_a01_by_a_distance(free):
    # the point has three prismatic joints: a floating joint would ask for a rotational inertia that a point does not have
    mechanism, start = (
        (distance_pendulum(), [-1.0, 0.0, 0.0]) if "slides" in free else (on_a_rod(), [0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0])
    )
    run = km.simulate(mechanism, start, duration=10.0, step=1e-3)
    _, cn, dn, _ = ellipj(math.sqrt(G) * run.time, 0.5)
    theta = -2.0 * np.arcsin(math.sin(math.pi / 4.0) * cn / dn)  # as the revolute and the spherical joint have it, to 1e-9
    np.testing.assert_allclose(run.center_of_mass[-1], (A01_END[0], 0.0, A01_END[1]), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.center_of_mass[:, 0], np.sin(theta), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.center_of_mass[:, 2], -np.cos(theta), rtol=0.0, atol=1e-9)
    assert run.audit.energy_drift < 1e-9  # the library's bar is 5e-5
    assert run.audit.loop_gaps[0].distance < 1e-12


def test_a01_the_rod_pulls_as_a_pendulum_does():
    robot = km.Robot(distance_pendulum())
    rng = np.random.default_rng(1)
    for angle, speed in rng.uniform(-3.0, 3.0, (5, 2)):
        s, c = math.sin(angle), math.cos(angle)
        q, v = np.array([s, 0.0, -c]), speed * np.array([c, 0.0, s])
        np.testing.assert_allclose(robot.forward_dynamics(q, v, np.zeros(3)) @ [c, 0.0, s], -G * s, rtol=1e-12, atol=1e-12)
        pull = robot.joint_wrenches(q, v, np.zeros(3))["string"]
        np.testing.assert_allclose(pull[3:], -(speed**2 + G * c) * q, rtol=1e-10, atol=1e-10)


# --- A02 ------------------------------------------------------------------------------------------------------------------
def check_a02(mechanism: Mechanism, count: int, tolerance: float, **options) -> None:
    q, v = four_bars_start(count, 0.0, 1.0)
    run = km.simulate(mechanism, q, v, duration=10.0, step=1e-3, **options)
    factor = G * ((count + 1) / 2.0 + count) / ((count + 1) / 3.0 + count)
    expected = swinging(factor, run.time, 0.0, 1.0)
    legs = [k for k, joint in enumerate(mechanism.joints) if joint.name.startswith("pivot")]
    assert np.abs(run.q[:, legs] - expected[:, None]).max() < tolerance  # all legs alike: the parallelogram branch
    if count == 2:
        assert run.q[-1, 0] == pytest.approx(A02_ANGLE, abs=tolerance)
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-10
    assert run.audit.energy_drift < 1e-6


@pytest.mark.parametrize("seed", [None, 0, 1], ids=["upright", "turned0", "turned1"])
def test_a02_two_four_bars_through_their_singular_postures(seed):
    mechanism = four_bars(2) if seed is None else turned(four_bars(2), seed)
    report = constraint_report(LoopEquations(mechanism), np.array(four_bars_start(2, 0.4, 0.0)[0]))
    assert (report.rows, report.redundant, report.mobility) == (10, 6, 1)  # three of five rows a loop are redundant
    check_a02(mechanism, 2, 1e-8)


def worst_of(starts: int, count: int, step: float) -> float:
    """The largest error of the first leg [rad] in ten seconds, of some starts, with about five singular postures in each."""
    errors = []
    sim = km.Simulation(four_bars(count), start=four_bars_start(count, 0.0, 1.0), step=step, integrator="rkf45")
    factor = G * ((count + 1) / 2.0 + count) / ((count + 1) / 3.0 + count)
    for speed in np.random.default_rng(1).uniform(0.5, 2.0, starts):
        run = sim.run(*four_bars_start(count, 0.0, speed), duration=10.0)
        errors.append(np.abs(run.q[:, 0] - swinging(factor, run.time, 0.0, speed)).max())
    return max(errors)


@pytest.mark.parametrize(("count", "step", "bar"), [(2, 5e-3, 2e-7), (2, 1e-2, 2e-6), (5, 5e-3, 2e-7)])
def test_a02_long_steps_pass_singular_postures_too(count, step, bar):
    assert worst_of(12, count, step) < bar


@pytest.mark.slow
def test_a02_ten_four_bars_in_space():
    check_a02(turned(four_bars(10), 3), 10, 1e-8)


@pytest.mark.slow
def test_a02_forty_four_bars_by_longer_steps():
    assert worst_of(6, 40, 2e-3) < 1e-8


# --- T-3.3 ----------------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-3.3")
def test_the_parallelogram_of_the_thesis():
    q = np.deg2rad([135.0, -45.0, 225.0])
    for mechanism in (planar_4r(), turned(planar_4r(), 2)):
        run = km.simulate(mechanism, q, duration=3.0, step=1e-3)
        theta = swinging(1.2 * G, run.time, q[0], 0.0)
        np.testing.assert_allclose(run.q[:, 0], theta, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(run.q[:, 1], math.pi / 2.0 - theta, rtol=0.0, atol=1e-9)
        assert run.audit.energy_drift < 1e-9
        gap = run.audit.loop_gaps[0]
        assert gap.distance < 1e-12
        assert gap.angle < 1e-12


# --- A04 ------------------------------------------------------------------------------------------------------------------
def ring_of(mechanism: Mechanism) -> Linkage:
    """The bars and hinges of Bricard's mechanism, with the bodies where they start."""
    at: dict[str, Transform] = {"world": Transform()}
    hinges = []
    for joint in mechanism.joints:
        at[joint.child] = at[joint.parent] @ joint.pose
        axes = (joint.axis, np.roll(joint.axis, 1))
        hinges.append(Hinge(joint.name, "revolute", joint.parent, joint.child, joint.pose, Transform(), axes, {}))
    (loop,) = mechanism.loops
    axes = (loop.axis, np.roll(loop.axis, 1))
    hinges.append(Hinge(loop.name, "revolute", loop.body_a, loop.body_b, loop.pose_a, loop.pose_b, axes, {}))
    return Linkage(mechanism.bodies, tuple(hinges), at)


@pytest.mark.slow
def test_a04_bricard_wherever_it_is_cut():
    linkage, runs = ring_of(bricard()), []
    still = {body.name: Motion() for body in linkage.bodies}
    drives = {hinge.name: [0.0] for hinge in linkage.hinges}
    for hinge in linkage.hinges:
        mechanism = replace(linkage.cut(hinge.name), gravity=(0.0, 0.0, -G))
        q, v, _ = linkage.state(mechanism, still, drives)
        run = km.simulate(mechanism, q, v, duration=10.0, step=1e-3)
        robot = km.Robot(mechanism)
        frames = [robot.pose(run.q[::50], f"{body.name}.own")[:, :3, 3] for body in linkage.bodies]
        runs.append(np.concatenate([run.center_of_mass[::50], *frames], axis=1))
        assert run.audit.energy_drift < 1e-8
        assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-10
    away = np.abs(runs[0] - runs[0][0]).max(axis=1)
    assert away.max() > 1.0  # it moves
    assert 0.05 * (60 + int(np.argmin(away[60:140]))) == pytest.approx(5.0, abs=0.051)  # and comes back in just under 5 s
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], rtol=0.0, atol=1e-9)
