"""What the ground does by two routes; momentum by parts; the mass centre's motion; power by source."""

import time
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import kinetic_energy, momentum, potential_energy
from kumitate.analysis.balance import center_of_pressure, ground_wrench, momentum_rate, push_force, zero_moment_point
from kumitate.analysis.momentum import (
    body_momenta,
    centroidal_momentum,
    centroidal_momentum_rate,
    mass_center_motion,
    momentum_matrix,
    powers,
)
from kumitate.compile import Kernel
from kumitate.dynamics import Acting, Wrenches, aba, aba_with_loops
from kumitate.kinematics import center_of_mass, integrate, link_poses, place_pose, total_mass
from kumitate.model import KINDS, Body, Joint, Loop, Mechanism
from kumitate.model.samples import four_bars, four_bars_start
from kumitate.scalar import trace
from kumitate.spatial import pose

from ..mechanisms import agree, cases, near, random_case, seeds, slope

over_cases = pytest.mark.parametrize(**cases(12, every=2))


def later(case, t: float) -> tuple[list[float], list[float]]:
    """The state after the time t along `case.a`, to first order in v and second in q: enough for second derivatives."""
    tree = case.mechanism.tree
    v = [rate + t * more for rate, more in zip(case.v, case.a, strict=True)]
    return integrate(tree, case.q, [t * rate for rate in case.v]), v


def pushes(case) -> dict[str, list[float]]:
    rng = np.random.default_rng(5)
    return {frame.name: (3.0 * rng.normal(size=6)).tolist() for frame in case.mechanism.frames[:2]}


def moved(case, name: str, wrench) -> np.ndarray:
    """A wrench on a frame, about the world's origin."""
    tree = case.mechanism.tree
    p = list(place_pose(tree, link_poses(tree, case.q), tree.places[name]).translation)
    return np.array([*(np.array(wrench[:3]) + np.cross(p, wrench[3:])), *wrench[3:]])


@pytest.mark.row("T-5.3")
@over_cases
def test_momentum_rate_is_the_slope_of_the_momentum(make):
    case = make()
    tree = case.mechanism.tree
    near(momentum_rate(tree, case.q, case.v, case.a), slope(lambda t: momentum(tree, *later(case, t))), 1e-7)
    near(
        centroidal_momentum_rate(tree, case.q, case.v, case.a),
        slope(lambda t: centroidal_momentum(tree, *later(case, t))),
        1e-7,
    )


@pytest.mark.row("T-5.3")
@over_cases
def test_mass_center_moves_as_its_slopes_say(make):
    case = make()
    tree = case.mechanism.tree
    motion = mass_center_motion(tree, case.q, case.v, case.a)
    near(motion["velocity"], slope(lambda t: center_of_mass(tree, later(case, t)[0])))
    near(motion["acceleration"], slope(lambda t: mass_center_motion(tree, *later(case, t), case.a)["velocity"]), 1e-7)
    agree(motion["position"], center_of_mass(tree, case.q), case.n)


@pytest.mark.row("T-5.3")
@over_cases
def test_bodies_momenta_and_the_momentum_matrix_add_up(make):
    case = make()
    tree = case.mechanism.tree
    whole = np.array(momentum(tree, case.q, case.v))
    agree(np.sum(body_momenta(case.mechanism, case.q, case.v), axis=0), whole, case.n)
    agree(np.array(momentum_matrix(tree, case.q)) @ case.v, whole, case.n)
    c = np.array(center_of_mass(tree, case.q))
    central = centroidal_momentum(tree, case.q, case.v)
    agree(central, [*(whole[:3] - np.cross(c, whole[3:])), *whole[3:]], case.n)


@pytest.mark.row("T-5.3")
@pytest.mark.parametrize(**seeds(8))
def test_ground_does_what_the_joint_to_the_world_does(seed):
    """A single fixed root: its joint's force is the ground's wrench, known wrenches taken off."""
    case = random_case(seed, root="fixed")
    fixed = Mechanism(
        "held", (Body("foot"), *case.mechanism.bodies),
        (Joint("sole", KINDS["prismatic"], "world", "foot"), *(
            Joint(j.name, j.kind, "foot" if j.parent == "world" else j.parent, j.child, j.pose, j.axis, j.second_axis)
            for j in case.mechanism.joints
        )), frames=case.mechanism.frames, gravity=case.mechanism.gravity,
    )  # fmt: skip
    robot, applied = km.Robot(fixed), pushes(case)
    q, v, tau = [0.0, *case.q], [0.0, *case.v], [4.0, *case.tau]
    a = robot.forward_dynamics(q, v, tau, wrenches=applied)
    wrenches = Wrenches(fixed.tree, applied)
    found = ground_wrench(fixed.tree, q, v, a.tolist(), gravity=fixed.gravity, wrenches=wrenches)
    held = robot.joint_wrenches(q, v, tau, wrenches=applied)["sole"]  # at the world's origin, in its axes
    np.testing.assert_allclose(found, held, rtol=0.0, atol=1e-8 * (1.0 + np.abs(held).max()))


@pytest.mark.row("T-5.3")
@pytest.mark.parametrize(**seeds(6))
def test_a_free_mechanism_has_no_ground_and_keeps_its_momentum(seed):
    case = random_case(seed, root="floating")
    tree, g = case.mechanism.tree, case.mechanism.gravity
    tau = [0.0] * 6 + case.tau[6:]
    a = aba(tree, case.q, case.v, tau, Acting(g))
    np.testing.assert_allclose(ground_wrench(tree, case.q, case.v, a, gravity=g), np.zeros(6), atol=1e-8)
    afloat = aba(tree, case.q, case.v, tau, Acting((0.0, 0.0, 0.0)))
    np.testing.assert_allclose(momentum_rate(tree, case.q, case.v, afloat), np.zeros(6), atol=1e-8)


@pytest.mark.row("T-5.3")
@over_cases
def test_zmp_at_rest_lies_below_the_mass_center(make):
    case = make()
    tree, still = case.mechanism.tree, [0.0] * case.mechanism.nv
    c = center_of_mass(tree, case.q)
    if total_mass(tree) == 0.0:
        return
    held = ground_wrench(tree, case.q, still, still, gravity=(0.0, 0.0, -9.81))
    found = zero_moment_point(held, point=(0.0, 0.0, -0.3))
    np.testing.assert_allclose(found, [c[0], c[1], -0.3], atol=1e-10)


def biped(width: float = 0.2) -> Mechanism:
    """A trunk on two legs whose feet stand on the ground: each by a joint, one in the tree, one a loop."""
    shape = {"mass": 2.0, "center_of_mass": (0.02, 0.0, 0.1), "inertia": (0.02, 0.02, 0.01)}
    bodies = [Body(name, **shape) for name in ("left", "trunk", "right")]
    up, y = pose((0.0, 0.0, 0.4)), (0.0, 1.0, 0.0)
    joints = (
        Joint("ankle_left", KINDS["revolute"], "world", "left", axis=y),
        Joint("hip_left", KINDS["spherical_euler"], "left", "trunk", up),
        Joint("hip_right", KINDS["revolute"], "trunk", "right", pose((0.0, -width, 0.0)), axis=y),
    )
    sole = Loop("ankle_right", KINDS["revolute"], "world", "right", pose((0.0, -width, 0.4)), pose((0.0, 0.0, 0.0)), axis=y)
    return Mechanism("biped", tuple(bodies), joints, (sole,))


@pytest.mark.row("T-5.3")
def test_zmp_of_the_motion_is_that_of_the_forces_at_the_feet():
    """With loops: the rate of momentum on one side, the forces in the two ankles on the other."""
    robot = km.Robot(biped())
    q = robot.assemble([0.3, 0.2, -0.4, 0.0, -0.4])
    rng = np.random.default_rng(1)
    q, v = robot.assemble(q, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    a = aba_with_loops(
        robot.mechanism.base_parameter_tree, q.tolist(), v.tolist(), tau.tolist(), Acting(robot.mechanism.gravity)
    )
    found = zero_moment_point(ground_wrench(robot.mechanism.tree, q, v, a, gravity=robot.mechanism.gravity))
    forces = robot.joint_wrenches(q, v, tau, in_world=True)
    total = np.zeros(6)
    for name, p in (("ankle_left", np.zeros(3)), ("ankle_right", np.array([0.0, -0.2, 0.4]))):
        n, f = forces[name][:3], forces[name][3:]
        total += [*(n + np.cross(p, f)), *f]
    np.testing.assert_allclose(found, zero_moment_point(total.tolist()), atol=1e-9)


@pytest.mark.parametrize(**seeds(5))
def test_zmp_of_contact_forces_is_their_center_of_pressure(seed):
    """On flat ground, slanted too, with tangential forces that must not matter."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    across = np.linalg.svd(normal[None])[2][1:]
    point = rng.normal(size=3)
    points = point + rng.normal(size=(7, 2)) @ across
    forces = rng.uniform(1.0, 5.0, (7, 1)) * normal + rng.normal(size=(7, 2)) @ across
    wrench = np.concatenate([np.cross(points, forces).sum(axis=0), forces.sum(axis=0)])
    found = zero_moment_point(wrench.tolist(), point=point.tolist(), normal=normal.tolist())
    np.testing.assert_allclose(found, center_of_pressure(points.tolist(), forces.tolist(), normal=normal.tolist()), atol=1e-12)


def test_in_free_flight_there_is_no_zmp():
    assert np.isnan(zero_moment_point([1.0, 2.0, 3.0, 4.0, 5.0, 0.0])).all()


@pytest.mark.row("T-6.0")
def test_the_push_that_a_standing_body_shows_is_the_push():
    """A rod held upright on the ground against a push at its top: the centre of pressure gives the push back."""
    m, g, l, push = 3.0, 9.81, 1.6, 7.0
    c = 0.02
    wrench = [0.0, -(m * g * c) - push * l, 0.0, -push, 0.0, m * g]  # what the ground does: balances weight and push
    assert push_force(m, g, l, c, zero_moment_point(wrench)[0]) == pytest.approx(-push, rel=1e-12)


@pytest.mark.row("T-5.3")
@over_cases
def test_powers_are_the_rate_of_the_energy(make):
    case = make()
    tree, g, applied = case.mechanism.tree, case.mechanism.gravity, pushes(case)
    a = aba(tree, case.q, case.v, case.tau, Acting(g, wrenches=Wrenches(tree, applied)))
    found = powers(tree, case.q, case.v, case.tau, gravity=g, wrenches=applied)
    by_source = {name: float(np.sum(part)) for name, part in found.items()}

    def along(t: float) -> tuple[list[float], list[float]]:
        return integrate(tree, case.q, [t * x for x in case.v]), [x + t * y for x, y in zip(case.v, a, strict=True)]

    near(slope(lambda t: kinetic_energy(tree, *along(t)), h=1e-3), sum(by_source.values()), 1e-7)
    stored = slope(lambda t: potential_energy(tree, along(t)[0], g), h=1e-3)
    near(stored, -by_source["gravity"] - by_source["springs"], 1e-7)
    assert by_source["damping"] <= 0.0


def test_powers_of_springs_and_of_loops_are_counted():
    """A closed linkage with a spring and a damper in its tree and in its loop."""
    linkage = km.load("planar_4r").mechanism
    first, *others = linkage.joints
    (loop,) = linkage.loops
    passive = {"stiffness": 3.0, "rest": 0.4, "damping": 0.7}
    springy = Mechanism(
        "springy", linkage.bodies,
        (Joint(first.name, first.kind, first.parent, first.child, first.pose, first.axis, **passive), *others),
        (Loop(loop.name, loop.kind, loop.body_a, loop.body_b, loop.pose_a, loop.pose_b, loop.axis, **passive),),
    )  # fmt: skip
    robot = km.Robot(springy)
    q, v = robot.assemble(km.load("planar_4r").start[0], [1.0, -0.4, 0.3])
    tau, drive = [0.5, -0.2, 0.9], {loop.name: [1.3]}
    a = robot.forward_dynamics(q, v, tau, loop_tau=drive)
    found = powers(springy.tree, q.tolist(), v.tolist(), tau, gravity=springy.gravity, loop_tau=drive)
    total = sum(float(np.sum(part)) for part in found.values())
    rate = slope(lambda t: robot.energy(robot.integrate(q, t * v), v + t * a).kinetic, h=1e-3)
    assert rate == pytest.approx(total, abs=1e-7)
    assert len(found["drives"]) == 4
    assert found["springs"][3] != 0.0
    assert found["damping"][3] < 0.0


def test_zmp_and_momentum_of_a_long_result():
    """10 000 states in one batch; the time is reported, not judged (the goal is 50 ms)."""
    arm = km.load("pa10")
    m = arm.mechanism
    sizes = {"q": m.nq, "v": m.nv, "a": m.nv}
    kernel = Kernel(trace(lambda q, v, a: {
        "zmp": zero_moment_point(ground_wrench(m.tree, q, v, a, gravity=m.gravity)),
        "momentum": centroidal_momentum(m.tree, q, v),
    }, sizes, "zmp_and_momentum"))  # fmt: skip
    rng = np.random.default_rng(0)
    q, v, a = (rng.normal(size=(10_000, 7)) for _ in range(3))
    kernel(q, v, a)
    start = time.perf_counter()
    points, momenta = kernel(q, v, a)
    spent = time.perf_counter() - start
    print(f"zmp and momentum over 10 000 states: {1e3 * spent:.1f} ms")
    expected = zero_moment_point(ground_wrench(m.tree, q[7], v[7], a[7], gravity=m.gravity))
    np.testing.assert_allclose(points[7], expected, rtol=1e-9)
    np.testing.assert_allclose(momenta[7], centroidal_momentum(m.tree, q[7], v[7]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rest", [0.0, 0.4])
def test_potential_energy_is_that_of_weights_and_of_springs_where_loops_close(rest):
    plain, k = four_bars(1), 30.0
    (loop,) = plain.loops
    sprung = replace(plain, loops=(replace(loop, stiffness=(k,), rest=(rest,)),))
    q, _ = four_bars_start(1, 0.7, 0.0)
    poses = {name: np.asarray(pose) for name, pose in km.Robot(plain).poses(np.array(q)).items()}
    weights = sum(body.mass * (poses[body.name] @ [*body.center_of_mass, 1.0])[:3] @ plain.gravity for body in plain.bodies)
    turn = poses[loop.body_a][:3, :3].T @ poses[loop.body_b][:3, :3]
    skew = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    angle = np.arctan2(skew @ np.array(loop.axis), 0.5 * (np.trace(turn) - 1.0))
    assert potential_energy(plain.tree, q, plain.gravity) == pytest.approx(-weights, rel=1e-12)
    strain = potential_energy(sprung.tree, q, plain.gravity) + weights
    assert strain == pytest.approx(0.5 * k * (angle - rest) ** 2, rel=1e-12)
