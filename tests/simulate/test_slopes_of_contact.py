"""Derivatives of steps with contact, stops and drives: closed forms, differences away from borders, what is reported."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.slopes import ContactMode
from kumitate.slopes.direct import Along

H, G = 0.01, 9.80665
UPRIGHT = [0.0, 0.0, 0.0, 1.0]
BOX, BALL = km.Box((0.2, 0.3, 0.1)), km.Sphere(0.1)
MASS, INERTIA = 2.0, 0.03


def thrown(shape, surface, **options):
    """A free body above the floor, with the velocities of its body in its own axes."""
    body = km.Body("body", MASS, inertia=(INERTIA, INERTIA, INERTIA), collisions=(km.Geometry(shape),))
    mechanism = km.Mechanism("thrown", (body,), (km.Joint("free", "floating", "world", "body"),), gravity=(0.0, 0.0, -G))
    contact = km.Contact("rigid", surface=surface)
    return km.Simulation(mechanism, contact=contact, step=H, integrator="semi_implicit_euler", **options)


def differences(sim, state, tau, small):
    """A and the columns of B by tau, by central differences of the step, of order four."""
    n, found = sim.mechanism.nv, sim.slopes(state, tau=tau)
    u = state.carried["u"].copy()
    sim.actuation.put(u, tau, {}, {}, {})

    def end(x):
        start = sim.robot.integrate(state.carried["q"], x[:n]), state.carried["v"] + x[n : 2 * n], 0.0
        acting = u + np.r_[x[2 * n :], np.zeros(len(u) - n)]
        after = sim.side_by_side.compiled.kernel("program")(state.time, sim.step_size, *start, acting)
        return np.r_[sim.robot.difference(found.q, after[0]), after[1] - found.v]

    steps = small * np.eye(3 * n)
    columns = [(8.0 * (end(x) - end(-x)) - (end(2.0 * x) - end(-2.0 * x))) / (12.0 * small) for x in steps]
    return found, np.array(columns).T


CASES = {
    "a sliding box": (BOX, km.Surface(0.3), [0.0, 0.0, 0.05], [0.0, 0.0, 0.2, 1.0, 0.5, 0.0], 0, 1e-6),
    "a ball that slides and spins": (BALL, km.Surface(0.2), [0.0, 0.0, 0.1], [1.0, 2.0, 3.0, 1.0, 0.5, 0.0], 3, 1e-5),
    "a rolling ball": (BALL, km.Surface(0.5), [0.0, 0.0, 0.1], [0.0, 10.0, 0.0, 1.0, 0.0, 0.0], 3, 1e-5),
    "a bounce": (BALL, km.Surface(0.2, restitution=0.7), [0.0, 0.0, 0.1005], [1.0, 2.0, 3.0, 1.0, 0.5, -2.0], 0, 1e-5),
    "flight": (BALL, km.Surface(0.2), [0.0, 0.0, 0.5], [1.0, 2.0, 3.0, 1.0, 0.5, -2.0], 0, 1e-4),
}


@pytest.mark.parametrize(("shape", "surface", "place", "v", "steps", "small"), CASES.values(), ids=CASES)
def test_differences_away_from_borders(shape, surface, place, v, steps, small):
    sim = thrown(shape, surface)
    state = sim.start([*UPRIGHT, *place], v)
    state = sim.step(state, steps) if steps else state
    found, expected = differences(sim, state, np.array([0.1, -0.2, 0.05, 0.3, 0.2, 0.1]), small)
    assert not found.active.one_sided
    # the step itself is solved to 1e-11 of its velocities, which differences divide by the displacement
    np.testing.assert_allclose(np.hstack([found.A, found.by("tau")]), expected, rtol=0, atol=3e-11 / small)


def test_a_sliding_box_in_closed_form():
    """v' = v − μ g h v/|v| for a low box that slides along x: friction changes only with the direction."""
    sim = thrown(BOX, km.Surface(0.3))
    found = sim.slopes(sim.start([*UPRIGHT, 0.0, 0.0, 0.05], [0.0, 0.0, 0.0, 1.5, 0.0, 0.0]))
    across = 1.0 - 0.3 * G * H / 1.5
    np.testing.assert_allclose(found.A[9:11, 9:11], [[1.0, 0.0], [0.0, across]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.A[3:5, 9:11], [[H, 0.0], [0.0, H * across]], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.by("tau")[9:11, 3:5], [[H / MASS, 0.0], [0.0, across * H / MASS]], rtol=0, atol=1e-9)
    assert found.active.lines() == 4 * ["'body' on 'ground': sliding"]
    np.testing.assert_allclose(found.by("tau")[9, 5], 0.3 * H / MASS, rtol=1e-6)  # lifting it takes weight off


def test_a_rolling_ball_in_closed_form():
    """Friction keeps the touching point at rest: v' = (m v + J ω/r)/(m + J/r²), here for a ball at rest."""
    sim, r = thrown(BALL, km.Surface(0.9)), 0.1
    found = sim.slopes(sim.start([*UPRIGHT, 0.0, 0.0, r], np.zeros(6)))
    whole = MASS + INERTIA / r**2
    np.testing.assert_allclose(found.A[9, [7, 9]], [INERTIA / r / whole, MASS / whole], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.A[7, [7, 9]], [INERTIA / r**2 / whole, MASS / r / whole], rtol=0, atol=1e-8)
    assert found.active.lines() == ["'body' on 'ground': resting"]


def test_a_bounce_in_closed_form():
    """v' = −e v − g h without friction; the height does not change when, within the step, it bounces."""
    sim = thrown(BALL, km.Surface(0.0, restitution=0.6))
    found = sim.slopes(sim.start([*UPRIGHT, 0.0, 0.0, 0.105], [0.0, 0.0, 0.0, 0.0, 0.0, -2.0]))
    assert found.v[5] == pytest.approx(0.6 * 2.0 - G * H, rel=1e-9)
    np.testing.assert_allclose(found.A[[5, 11]][:, [5, 11]], [[1.0, -0.6 * H], [0.0, -0.6]], rtol=0, atol=1e-9)


def test_borders_are_reported():
    """A box that is pushed as hard as friction holds it, and one that is not."""
    sim = thrown(BOX, km.Surface(0.5))
    state = sim.start([*UPRIGHT, 0.0, 0.0, 0.05], np.zeros(6))
    at_limit = sim.slopes(state, tau=[0.0, 0.0, 0.0, 0.5 * MASS * G, 0.0, 0.0])
    assert at_limit.active.one_sided
    assert any("at the border" in line for line in at_limit.active.lines())
    resting = sim.slopes(state, tau=[0.0, 0.0, 0.0, 0.1 * MASS * G, 0.0, 0.0]).active
    assert resting.lines() == 4 * ["'body' on 'ground': resting"]
    assert not resting.one_sided


@pytest.mark.parametrize(("early", "border"), [(1e-7, True), (1e-3, False)])
def test_a_ball_that_falls_just_to_the_floor_is_at_a_border(early, border):
    """It ends the step so small a part of its way above the floor."""
    gap, sim = 0.01, thrown(BALL, km.Surface(0.0))
    fall = -(1.0 - early) * gap / H + G * H
    active = sim.slopes(sim.start([*UPRIGHT, 0.0, 0.0, 0.1 + gap], [0.0] * 5 + [fall])).active
    assert active.modes[0] == ContactMode.OPEN
    assert active.one_sided == border


def test_batches_report_every_row():
    sim = thrown(BOX, km.Surface(0.3))
    batch = sim.batch(
        np.tile([*UPRIGHT, 0.0, 0.0, 0.05], (3, 1)), [[0.0] * 6, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0] * 5 + [3.0]]
    )
    found = sim.slopes(batch)
    modes = [ContactMode.RESTING, ContactMode.SLIDING, ContactMode.OPEN]
    np.testing.assert_array_equal(found.active.modes[:, :4], np.repeat(np.array(modes)[:, None], 4, axis=1))
    for k in range(3):
        alone = sim.slopes(sim.start(batch.q[k], batch.v[k]))
        np.testing.assert_allclose(found.A[k], alone.A, rtol=0, atol=1e-9)


def lift(**joint):
    body = km.Body("block", MASS, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("lift", "prismatic", "world", "block", axis=(1, 0, 0), **joint)
    return km.Mechanism("slider", (body,), (slide,))


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_stops_in_closed_form(integrator):
    """A step that ends at a stop ends there wherever it begins: x' = limit, v' = (limit − x)/h."""
    sim = km.Simulation(lift(limits=(km.Limits(-1.0, 0.5),)), step=H, integrator=integrator)
    held = sim.slopes(sim.start([0.495], [2.0]))
    np.testing.assert_allclose(held.A, [[0.0, 0.0], [-1.0 / H, 0.0]], rtol=0, atol=2e-5)
    assert held.active.lines() == ["'lift' at 0.5: holding"]
    free = sim.slopes(sim.start([0.3], [2.0]))
    np.testing.assert_allclose(free.A, [[1.0, H], [0.0, 1.0]], rtol=0, atol=1e-12)
    assert free.active.lines() == []
    assert not free.active.one_sided
    assert sim.slopes(sim.start([0.48], [2.0])).active.one_sided  # it just comes there
    both = sim.slopes(sim.batch([[0.495], [0.3]], [[2.0], [2.0]]))
    np.testing.assert_allclose(both.A, [held.A, free.A], rtol=0, atol=1e-9)


def test_drives_in_closed_form():
    """A position drive, implicit in the step: v' = (v + h kp (target − x)/m)/(1 + h (kd + h kp)/m); constant at its limit."""
    kp, kd = 400.0, 9.0
    drive = km.PositionDrive(kp=kp, kd=kd)
    for effort, gain in ((inf, 1.0 / (1.0 + H * (kd + H * kp) / MASS)), (0.5, 1.0)):
        sim = km.Simulation(lift(drive=drive, limits=(km.Limits(effort=effort),)), step=H, integrator="semi_implicit_euler")
        found = sim.slopes(sim.start([0.1], [0.3]), inputs={"target": [0.4]})
        pull = H * kp / MASS * gain if effort == inf else 0.0
        np.testing.assert_allclose(found.A, [[1.0 - H * pull, H * gain], [-pull, gain]], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.by("target"), [[H * pull], [pull]], rtol=0, atol=1e-12)


def follow(t, q, v, change):
    """Targets of drives that know the time, the state and an input."""
    return np.array([0.5 + change[0] * np.cos(t), 0.4 + 0.1 * change[0] * q[7] * v[9] + change[1]])


#: By what functions steps are driven: none, the targets of drives, and efforts and a wrench.
FUNCTIONS = {
    "none": {"wrenches": {"arm": None}},
    "targets": {"wrenches": {"arm": None}, "inputs": {"change": 2, "target": follow}},
    "efforts": {
        "controller": lambda t, q, v: np.concatenate([np.zeros(6), -0.3 * q[7:] - 0.1 * v[6:] ** 2]),
        "wrenches": {"arm": lambda t, q, v, push: np.concatenate([[0.1 * q[0] * t, 0.0, 0.0], push * (v[3:6] - 1.0)])},
        "inputs": {"push": 3},
    },
}


@pytest.mark.parametrize(
    ("driven", "mode"),
    [*((name, "resting") for name in FUNCTIONS), ("none", "sliding"), ("none", "flying")],
)
def test_two_ways_for_joints_on_the_floor(driven, mode):
    """One linear system at the solution, and the differentiated program of the step: drives, one at its limit, and a stop."""
    stiff = 0.01 if mode == "flying" else 1.0  # where joints are stiff, there are no Runge-Kutta steps in flight
    drives = [km.PositionDrive(kp=900.0 * stiff, kd=20.0 * stiff, limit=1.0), km.PositionDrive(kp=3.0 * stiff, kd=0.2 * stiff)]
    inertia, bodies, joints = (INERTIA, INERTIA, INERTIA), [], [km.Joint("free", "floating", "world", "sole")]
    for k, name in enumerate(("sole", "shin", "thigh")):
        bodies.append(km.Body(name, MASS, inertia=inertia, collisions=(km.Geometry(BOX),) if k == 0 else ()))
    for k, (parent, child) in enumerate((("sole", "shin"), ("shin", "thigh"))):
        placed = km.spatial.pose((0.0, 0.0, 0.2))
        limits = (km.Limits(-2.0, 0.3 if k else 2.0),)
        joints.append(
            km.Joint(
                f"j{k}", "revolute", parent, child, placed, axis=(0, 1, 0), damping=0.1 * stiff, drive=drives[k], limits=limits
            )
        )
    bodies.append(km.Body("arm", 0.5, inertia=inertia))
    joints.append(km.Joint("swing", "universal", "thigh", "arm", km.spatial.pose((0.0, 0.1, 0.1))))
    mechanism = km.Mechanism("leg", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, -G))
    contact = km.Contact("rigid", surface=km.Surface(0.9))
    sim = km.Simulation(
        mechanism,
        contact=contact,
        step=H,
        integrator="auto" if mode == "flying" else "semi_implicit_euler",
        **FUNCTIONS[driven],
    )
    moving, height = ([0.0] * 3 + [1.0, 0.5, 0.0] if mode == "sliding" else [0.0] * 6), (0.3 if mode == "flying" else 0.05)
    state = sim.start([*UPRIGHT, 0.0, 0.0, height, 0.1, 0.299, 0.3, -0.4], [*moving, 0.0, 0.15, 0.7, -0.5])
    given = {"target": [0.5, 0.4], "change": [-0.05, 0.02], "push": [0.3, -0.2, 0.1]}
    given = {name: np.array(values) for name, values in given.items() if name in sim.actuation.forcing.values_of_inputs}
    found = sim.slopes(state, inputs=given)
    assert (sim.integrator.flight is None) == (mode != "flying")
    assert sim._sloped._direct is not None
    assert (f"'sole' on 'ground': {mode}" in found.active.lines()) == (mode != "flying")
    assert ("'j1' at 0.3: holding" in found.active.lines()) == (mode == "resting")
    assert not found.active.one_sided
    u = state.carried["u"].copy()
    sim.actuation.put(u, None, {}, {}, given)
    columns = found.B.shape[-1]
    *after, slopes = Along(sim.side_by_side.compiled.code, sim.actuation.program)(
        0.0, H, state.carried["q"], state.carried["v"], u, np.eye(columns, len(u))
    )
    expected = [*after, *np.split(slopes, [2 * mechanism.nv], axis=-1)]
    for one, other in zip((found.q, found.v, found.A, found.B), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-7 * max(1.0, np.abs(other).max()))


def test_a_pendulum_on_a_standing_sole_is_linearized_without_the_floor_and_its_steps_with_it():
    """`linearize` has no contact: the sole falls. A step with contact agrees with differences, and the sole stays."""
    sole = km.Body("sole", MASS, inertia=(INERTIA, INERTIA, INERTIA), collisions=(km.Geometry(BOX),))
    rod = km.Body("rod", 0.2, (0.0, 0.0, -0.3), (1e-3, 1e-3, 1e-4))
    hinge = km.Joint("hinge", "revolute", "sole", "rod", km.spatial.pose((0.0, 0.0, 0.5)), axis=(0, 1, 0), damping=0.01)
    joints = (km.Joint("free", "floating", "world", "sole"), hinge)
    mechanism = km.Mechanism("bell", (sole, rod), joints, gravity=(0.0, 0.0, -G))
    linear = km.linearize(mechanism, [*UPRIGHT, 0.0, 0.0, 0.05, 0.0])
    assert linear.a[5] == pytest.approx(-G, abs=1e-12)
    assert linear.A[12] == pytest.approx([0.0] * 14, abs=1e-12)  # of what falls, nothing swings
    contact = km.Contact("rigid", surface=km.Surface(0.9))
    sim = km.Simulation(mechanism, contact=contact, step=H, integrator="semi_implicit_euler")
    found, expected = differences(sim, sim.start([*UPRIGHT, 0.0, 0.0, 0.05, 0.2]), np.zeros(7), 1e-6)
    assert set(found.active.lines()) == {"'sole' on 'ground': resting"}
    np.testing.assert_allclose(np.hstack([found.A, found.by("tau")]), expected, rtol=0, atol=1e-4)
    assert np.abs(found.A[:6, 6:]).max() < 1e-4  # the sole does not move
    assert found.A[-1, 6] == pytest.approx(-H * 0.2 * G * 0.3 * np.cos(0.2) / (1e-3 + 0.2 * 0.3**2 + H * 0.01), rel=1e-4)


def test_scenes_of_many_bodies_refuse():
    balls = [km.Body(f"ball{k}", MASS, inertia=(INERTIA,) * 3, collisions=(km.Geometry(BALL),)) for k in range(5)]
    joints = [km.Joint(f"free{k}", "floating", "world", f"ball{k}") for k in range(5)]
    sim = km.Simulation(km.Mechanism("balls", tuple(balls), tuple(joints)), contact="rigid", step=H)
    with pytest.raises(InputError, match=r"scene of many bodies cannot be differentiated.* Simulation\(side_by_side=True\)"):
        sim.slopes(sim.start([x for k in range(5) for x in (*UPRIGHT, k, 0.0, 0.1)]))


def test_models_that_obey_some_of_the_laws_refuse():
    sim = km.Simulation(thrown(BALL, km.Surface(0.5)).mechanism, contact="multipoint", step=H)
    with pytest.raises(InputError, match=r"'multipoint' cannot be differentiated.* Take contact='rigid'"):
        sim.slopes(sim.start([*UPRIGHT, 0.0, 0.0, 0.1]))


def test_forces_of_springs_at_points_of_contact_are_differentiated():
    sim = km.Simulation(thrown(BALL, km.Surface(0.5)).mechanism, contact=km.Contact("penalty"), step=1e-4, integrator="rk4")
    state = sim.step(sim.start([*UPRIGHT, 0.0, 0.0, 0.0999], [1.0, 2.0, 0.0, 0.3, 0.1, -0.1]), 3)
    found, expected = differences(sim, state, np.zeros(6), 1e-6)
    np.testing.assert_allclose(np.hstack([found.A, found.by("tau")]), expected, rtol=0, atol=1e-7)


def test_a_closed_loop_that_slides_along_the_floor():
    """Differences of steps from closed states on both sides: what A leaves of them is of third order, and is taken out."""
    bar = km.load("four_bar")
    cart = km.Body("cart", 1.0, inertia=(0.1, 0.1, 0.1))
    joints = tuple(replace(j, parent="cart" if j.parent == "world" else j.parent) for j in bar.mechanism.joints)
    lift = km.Joint("lift", "prismatic", "world", "cart", axis=(0, 0, 1))
    bodies = tuple(
        replace(b, collisions=(km.Geometry(km.Sphere(0.05)),) if b.name == "leg1" else ()) for b in bar.mechanism.bodies
    )
    mechanism = replace(bar.mechanism, bodies=(cart, *bodies), joints=(lift, *joints))
    robot, q = km.Robot(mechanism), np.r_[0.0, bar.start[0]]
    moved = robot.assemble(q + np.array([0.0, 0.3, 0.0, 0.0]))
    height = float(robot.compile("pose", place="leg1")(moved)[2, 3]) - 0.05
    floor = km.Geometry(km.Plane(), km.spatial.pose((0.0, 0.0, height - 0.001)))
    contact = km.Contact("rigid", ground=(floor,), surface=km.Surface(0.2))
    sim = km.Simulation(
        mechanism, contact=contact, step=2e-3, integrator="semi_implicit_euler", start=(moved, np.zeros(robot.nv))
    )
    state = sim.step(sim.start(), 25)
    found = sim.slopes(state)
    assert found.active.lines() == ["'leg1' on 'ground': sliding"]
    assert not found.active.one_sided
    motions = km.linearize(robot, state.q, state.v).motions
    along, faster = np.random.default_rng(3).normal(size=(2, motions.shape[1]))

    def both(size):
        start = sim.start(*robot.assemble(state.q + size * motions @ along, state.v + size * motions @ faster))
        return start.carried, sim.step(start).carried

    def missed(size):
        (ahead, after), (behind, before) = both(size), both(-size)
        moved, ended = (np.r_[robot.difference(b["q"], a["q"]), a["v"] - b["v"]] for a, b in ((ahead, behind), (after, before)))
        return ended - found.A @ moved, ended

    (once, change), (twice, _) = missed(1e-6), missed(2e-6)
    assert np.abs(8.0 * once - twice).max() < 1e-6 * np.abs(change).max()


def test_a_rebound_that_was_reduced_has_no_derivative():
    """A rod at 40° to the floor whose end would gain energy by restitution and friction (Kane and Levinson 1985)."""
    end = (km.Geometry(km.Sphere(0.02), km.spatial.pose((0.5, 0.0, 0.0))),)
    rod = km.Body("rod", 1.0, inertia=(0.001, 0.083, 0.083), collisions=end)
    mechanism = km.Mechanism("rod", (rod,), (km.Joint("free", "floating", "world", "rod"),))
    contact = km.Contact("rigid", surface=km.Surface(0.6, restitution=0.9))
    sim = km.Simulation(mechanism, contact=contact, step=1e-3, integrator="semi_implicit_euler")
    tilt = np.radians(40.0)
    c, s = np.cos(tilt), np.sin(tilt)
    q = [0.0, np.sin(0.5 * tilt), 0.0, np.cos(0.5 * tilt), 0.0, 0.0, 0.5 * s + 0.0201]
    v = [[0.0, 0.0, 0.0, c * -0.5 + s, 0.0, -0.5 * s - c], [0.0, 0.0, 0.0, c * 5.0 + s, 0.0, 5.0 * s - c]]
    with pytest.raises(InputError, match=r"rod: the step cannot be differentiated.* less restitution"):
        sim.slopes(sim.start(q, v[0]))
    both = sim.slopes(sim.batch([q, q], v))
    assert np.isnan(both.A[0]).any()  # never a silent zero
    assert np.isfinite(both.A[1]).all()
