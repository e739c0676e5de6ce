"""An open chain that moves as a closed linkage: the closed forms of the thesis's chapter 7."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis.loops import loop_equations
from kumitate.control import closed_by, virtual_loop
from kumitate.errors import InputError
from kumitate.model import KINDS, Body, Joint, Loop, Mechanism
from kumitate.spatial import pose

from ..mechanisms import random_rotation, seeds

LENGTHS = (1.0, 1.0, 1.0, 0.5)


def open_chain() -> Mechanism:
    """Fig. 7.2: four rods in the plane x-z, joints about y, the last half as long."""
    bodies, joints = [], []
    for k, l in enumerate(LENGTHS):
        bodies.append(Body(f"link{k + 1}", 1.0, (0.0, 0.0, l / 2.0), (l * l / 12.0, l * l / 12.0, 0.0)))
        where = pose((0.0, 0.0, LENGTHS[k - 1])) if k else pose()
        joints.append(
            Joint(
                f"joint{k + 1}", KINDS["revolute"], bodies[k - 1].name if k else "world", f"link{k + 1}", where, (0.0, 1.0, 0.0)
            )
        )
    return Mechanism("planar_4_link", tuple(bodies), tuple(joints))


def tip(q: np.ndarray) -> np.ndarray:
    """(x, z) of the end of the last rod, by hand."""
    angle = np.cumsum(q, axis=-1)
    return np.stack([np.sin(angle) @ LENGTHS, np.cos(angle) @ LENGTHS], axis=-1)


def held(q0: np.ndarray, kind: str = "fixed", **options) -> Loop:
    """The last link on the ground, where it stands at q0."""
    foot = km.Robot(open_chain()).pose(q0, "link4")
    return Loop("ground", KINDS[kind], "world", "link4", pose(foot[:3, 3], matrix=foot[:3, :3]), pose(), **options)


def four_bar(degrees, goal: float, **options):
    q0 = np.radians(degrees)
    gains = np.array([5.0, 0.0, 0.0, 0.0])
    aim = np.array([goal, 0.0, 0.0, 0.0])
    law = virtual_loop(open_chain(), [held(q0)], efforts=lambda t, q, v: gains * (aim - q) - gains * v, **options)
    return q0, law


def closed_form(t, start: float, goal: float):
    """θ of θ̈ + 3θ̇ + 3(θ − θ_des) = 0 from rest."""
    w = math.sqrt(0.75)
    return goal + (start - goal) * np.exp(-1.5 * t) * (np.cos(w * t) + 1.5 / w * np.sin(w * t))


@pytest.mark.row("T-7.1")
def test_without_control_it_falls_with_its_energy():
    q0 = np.radians([60.0, 30.0, 150.0, 300.0])
    run = km.simulate(open_chain(), q0, np.zeros(4), duration=2.0, step=1e-3)
    assert run.audit.energy_drift < 1e-5
    assert np.linalg.norm(tip(run.q) - tip(q0), axis=1).max() > 0.5


@pytest.mark.row("T-7.2")
def test_as_a_parallel_four_bar_linkage():
    q0, law = four_bar([60.0, 30.0, 150.0, -60.0], 0.0)
    run = km.simulate(open_chain(), q0, np.zeros(4), duration=5.0, step=1e-3, integrator="rk4", controller=law)
    assert run.settings["forcing"] == "compiled"
    away = np.linalg.norm(tip(run.q) - tip(q0), axis=1).max()
    error = np.abs(run.q[:, 0] - closed_form(run.time, q0[0], 0.0)).max()
    print(f"T-7.2: θ1 off its closed form by {error:.2e} rad, tip by {away:.2e} m, end {math.degrees(run.q[-1, 0]):.6f} deg")
    assert error < 1e-6
    assert away < 1e-9
    assert math.degrees(run.q[-1, 0]) == pytest.approx(-0.065708, abs=1e-6)
    called = km.simulate(
        open_chain(), q0, np.zeros(4), duration=0.02, step=1e-3, integrator="rk4", controller=law, traced=False
    )
    np.testing.assert_allclose(called.q, run.q[:21], atol=1e-10)


@pytest.mark.row("T-7.3")
def test_as_a_slider_crank():
    """Link 4 slides along x, joint 3 is locked; a virtual force along x at the tip."""
    q0 = np.radians([30.0, 85.7, 0.0, 64.3])
    chain = open_chain()
    robot = km.Robot(chain)
    slide = Loop("slider", KINDS["prismatic"], "world", "link4", pose(robot.pose(q0, "link4")[:3, 3]),
                 pose(matrix=robot.pose(q0, "link4")[:3, :3].T), axis=(1.0, 0.0, 0.0))  # fmt: skip
    lock = Loop("lock", KINDS["fixed"], "link2", "link3", pose((0.0, 0.0, 1.0)))
    goal, ends = 1.49, np.array(LENGTHS)

    def push(t, q, v):
        angle = np.array([q[0], q[0] + q[1], q[0] + q[1] + q[2], q[0] + q[1] + q[2] + q[3]])
        rate = np.array([v[0], v[0] + v[1], v[0] + v[1] + v[2], v[0] + v[1] + v[2] + v[3]])
        x, speed = (np.sin(angle) * ends).sum(), (np.cos(angle) * rate * ends).sum()
        return [0.0, 0.0, 0.0, 10.0 * (goal - x) - 10.0 * speed, 0.0, 0.0]

    law = virtual_loop(chain, [slide, lock], wrenches={"link4": push})
    run = km.simulate(chain, q0, np.zeros(4), duration=5.0, step=1e-3, integrator="rk4", controller=law)
    assert run.settings["forcing"] == "compiled"
    x, z = tip(run.q).T
    print(f"T-7.3: tip's z off by {np.abs(z - z[0]).max():.2e} m, x from {x[0]:.4f} to {x[-1]:.4f} m")
    assert np.abs(z - z[0]).max() < 1e-6
    assert x[-1] == pytest.approx(goal, abs=0.02)
    assert np.abs(run.q[:, 2]).max() < 1e-6


@pytest.mark.row("T-7.4")
def test_through_the_singular_posture():
    """All rods in a line on the way: the closed form goes on, and the torques are those of the closed form's motion."""
    start, goal = math.radians(85.0), math.radians(95.0)
    q0, law = four_bar([85.0, 5.0, 175.0, -85.0], goal)
    chain = open_chain()
    run = km.simulate(chain, q0, np.zeros(4), duration=5.0, step=1e-3, integrator="rk4", controller=law)
    t = run.time
    away = np.linalg.norm(tip(run.q) - tip(q0), axis=1).max()
    theta = closed_form(t, start, goal)
    error = np.abs(run.q[:, 0] - theta).max()
    w = math.sqrt(0.75)
    rate = -(start - goal) * np.exp(-1.5 * t) * (1.5**2 / w + w) * np.sin(w * t)
    bend = -3.0 * rate - 3.0 * (theta - goal)
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    q = np.outer(theta, signs) + np.radians([0.0, 90.0, 90.0, 0.0])
    wanted = km.Robot(chain).inverse_dynamics(q, np.outer(rate, signs), np.outer(bend, signs))
    jump = np.abs(run.tau - wanted).max()
    print(f"T-7.4: θ1 off by {error:.2e} rad, tip by {away:.2e} m, torques by {jump:.2e} N·m")
    assert error < 1e-6
    assert away < 1e-6
    assert jump < 1e-3
    assert math.degrees(run.q[-1, 0]) == pytest.approx(95.010951, abs=1e-5)


def tilted(chain: Mechanism, seed: int) -> Mechanism:
    """The chain on a slope: along no axis of the world, so that no redundant row is zero as written."""
    R = random_rotation(np.random.default_rng(seed))
    first, *others = chain.joints
    return replace(chain, joints=(replace(first, pose=pose(matrix=R.tolist())), *others), gravity=tuple(R @ chain.gravity))


@pytest.mark.row("T-7.2", "T-7.4")
@pytest.mark.parametrize(**seeds(3))
@pytest.mark.parametrize(("degrees", "goal"), [([60.0, 30.0, 150.0, -60.0], 0.0), ([85.0, 5.0, 175.0, -85.0], 95.0)])
def test_redundant_rows_do_not_matter(seed, degrees, goal):
    q0, goal = np.radians(degrees), math.radians(goal)
    chain = tilted(open_chain(), seed)
    foot = km.Robot(chain).pose(q0, "link4")
    ground = Loop("ground", KINDS["fixed"], "world", "link4", pose(foot[:3, 3], matrix=foot[:3, :3]))
    gains, aim = np.array([5.0, 0.0, 0.0, 0.0]), np.array([goal, 0.0, 0.0, 0.0])
    law = virtual_loop(chain, [ground], efforts=lambda t, q, v: gains * (aim - q) - gains * v, stiffness=1e4, damping=200.0)
    run = km.simulate(chain, q0, np.zeros(4), duration=2.0, step=1e-3, integrator="rk4", controller=law)
    np.testing.assert_allclose(run.q[:, 0], closed_form(run.time, q0[0], goal), atol=1e-6)
    assert np.linalg.norm(tip(run.q) - tip(q0), axis=1).max() < 1e-6


@pytest.mark.row("T-7.2")
def test_the_open_robot_moves_as_the_closed_one_does():
    """In space: the controlled open chain and the closed mechanism itself, pushed alike, without weight."""
    rng = np.random.default_rng(2)
    chain = open_chain()
    q0 = np.radians([60.0, 30.0, 150.0, -60.0])
    loop = held(q0)
    closed = km.Robot(closed_by(chain, [loop]))
    push = rng.normal(size=6)
    law = virtual_loop(chain, [loop], wrenches={"link2": lambda t, q, v: push})
    q, v = closed.assemble(q0, [0.5, -0.5, 0.5, -0.5])
    weightless = km.Robot(Mechanism("w", chain.bodies, chain.joints, loops=(loop,), gravity=(0.0, 0.0, 0.0)))
    a = weightless.forward_dynamics(q, v, np.zeros(4), wrenches={"link2": push})
    found = km.Robot(chain).forward_dynamics(q, v, law(0.0, q, v))
    np.testing.assert_allclose(found, a, atol=1e-8)


def test_the_state_can_be_drawn_back_to_the_loop():
    """A start off the loop: with the spring it comes back, with neither projection nor spring it does not."""
    q0, law = four_bar([60.0, 30.0, 150.0, -60.0], 1.0, stiffness=400.0, damping=40.0)
    beside = q0 + np.array([0.0, 0.02, 0.0, -0.01])
    chain = open_chain()
    run = km.simulate(chain, beside, np.zeros(4), duration=1.5, step=1e-3, integrator="rk4", controller=law)
    assert np.linalg.norm(tip(run.q[0]) - tip(q0)) > 1e-2
    assert np.linalg.norm(tip(run.q[-1]) - tip(q0)) < 1e-6


@pytest.mark.parametrize("options", [{"damping": 40.0}, {"stiffness": 400.0}], ids=str)
def test_a_spring_and_a_damper_act_alone_too(options):
    """J a = J a₀ − damping · J v, whatever J v is; and a spring acts where the loop is open alone."""
    q0, law = four_bar([60.0, 30.0, 150.0, -60.0], 1.0, **options)
    _, plain = four_bar([60.0, 30.0, 150.0, -60.0], 1.0)
    chain = open_chain()
    robot, v = km.Robot(chain), np.array([0.3, -0.2, 0.1, 0.4])
    J = loop_equations(closed_by(chain, [held(q0)])).state(q0, v).J
    more = robot.forward_dynamics(q0, v, law(0.0, q0, v)) - robot.forward_dynamics(q0, v, plain(0.0, q0, v))
    np.testing.assert_allclose(J @ more, -options.get("damping", 0.0) * (J @ v), atol=1e-8)
    beside = q0 + np.array([0.0, 0.02, 0.0, -0.01])
    assert ("stiffness" in options) == (np.abs(law(0.0, beside, 0.0 * v) - plain(0.0, beside, 0.0 * v)).max() > 1e-3)


def test_nonsense_is_refused():
    q0 = np.radians([60.0, 30.0, 150.0, -60.0])
    with pytest.raises(InputError, match="hand"):
        virtual_loop(open_chain(), [held(q0)], wrenches={"hand": lambda t, q, v: np.zeros(6)})
    with pytest.raises(InputError, match="on_loop"):
        virtual_loop(open_chain(), [held(q0)], on_loop=False, stiffness=1.0)
