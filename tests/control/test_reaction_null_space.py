"""The equations parted at a base link, the projector's identities, and motions that leave the base alone."""

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import kinetic_energy, momentum
from kumitate.analysis.momentum import centroidal_momentum
from kumitate.control import (
    Spline,
    actuated_columns,
    joint_acceleration_torque,
    partition,
    reaction_rate,
    reactionless,
    reactionless_acceleration,
    reactionless_velocity,
)
from kumitate.errors import ModelError
from kumitate.kinematics import center_of_mass, integrate, link_poses, place_pose, total_mass, world_velocity
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.spatial import pose

from ..mechanisms import agree, near, random_coordinates, random_mechanism, seeds, skew, slope

TURNING = ("revolute", "spherical", "universal")


def floating_case(seed: int, count: int = 7) -> tuple[Mechanism, list[float], np.ndarray]:
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, rng.choice(TURNING, count).tolist(), passive=False, root="floating")
    return mechanism, random_coordinates(mechanism, rng), rng.normal(size=mechanism.nv)


def held_case(seed: int) -> tuple[Mechanism, list[float], np.ndarray]:
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, rng.choice(TURNING, 6).tolist(), passive=False)
    return mechanism, random_coordinates(mechanism, rng), rng.normal(size=mechanism.nv)


def about(tree, q, base: str, center: bool) -> np.ndarray:
    return np.array(
        center_of_mass(tree, q) if center else list(place_pose(tree, link_poses(tree, q), tree.places[base]).translation)
    )


def shifted(wrench, p) -> np.ndarray:
    """A momentum about the world's origin, about p."""
    wrench = np.array(wrench)
    return np.array([*(wrench[:3] - np.cross(p, wrench[3:])), *wrench[3:]])


def with_base_at_rest(mechanism, q, v, base: str) -> np.ndarray:
    """v with the floating joint's rates such that the base does not move: by least squares on its velocity."""
    tree = mechanism.tree
    columns = np.array([world_velocity(tree, q, unit, tree.places[base]) for unit in np.eye(tree.nv)]).T
    v = np.array(v)
    v[:6] = -np.linalg.solve(columns[:, :6], columns[:, 6:] @ v[6:])
    return v


@pytest.mark.row("T-6.1")
@pytest.mark.parametrize("center", [False, True], ids=["at the base", "at the center of mass"])
@pytest.mark.parametrize(**seeds(6))
def test_the_partition_gives_momentum_and_energy(seed, center):
    """M_f V_f + M_fl θ̇ is the momentum, [V; θ̇]ᵀ M [V; θ̇]/2 the kinetic energy, at any base link."""
    mechanism, q, v = floating_case(seed)
    tree, base = mechanism.tree, f"b{seed % 7}"
    parts = partition(tree, q, base, about_mass_center=center)
    p = about(tree, q, base, center)
    V = np.array(world_velocity(tree, q, v, tree.places[base]))
    V[3:] += np.cross(V[:3], p - about(tree, q, base, False))
    rates = v[parts.joints]
    M_f, M_fl, M_l = (np.array(x) for x in (parts.M_f, parts.M_fl, parts.M_l))
    agree(M_f @ V + M_fl @ rates, shifted(momentum(tree, q, v), p), 60)
    whole = V @ M_f @ V + 2.0 * V @ M_fl @ rates + rates @ M_l @ rates
    agree(0.5 * whole, kinetic_energy(tree, q, v.tolist()), 60)
    assert parts.joints == actuated_columns(tree, base) == list(range(6, tree.nv))
    if center:  # turning and shifting do not mix there
        agree(M_f[:3, 3:], np.zeros((3, 3)), 60)
        agree(M_f[3:, 3:], total_mass(tree) * np.eye(3), 60)
    else:
        c = np.array(center_of_mass(tree, q)) - p
        agree(M_f[:3, 3:], total_mass(tree) * skew(c), 60)


@pytest.mark.row("T-6.1")
@pytest.mark.parametrize(**seeds(4))
def test_the_coupling_is_what_the_joints_do_with_the_base_at_rest(seed):
    mechanism, q, v = floating_case(seed)
    tree, base = mechanism.tree, f"b{seed}"
    still = with_base_at_rest(mechanism, q, v, base)
    parts = partition(tree, q, base)
    found = np.array(parts.M_fl) @ v[6:]
    np.testing.assert_allclose(found, shifted(momentum(tree, q, still), about(tree, q, base, False)), atol=1e-9)
    held, q_held, v_held = held_case(seed)
    np.testing.assert_allclose(
        np.array(partition(held.tree, q_held).M_fl) @ v_held, momentum(held.tree, q_held, v_held), atol=1e-10
    )


@pytest.mark.row("T-6.1")
@pytest.mark.parametrize("center", [False, True], ids=["at the base", "at the center of mass"])
@pytest.mark.parametrize(**seeds(4))
def test_the_rate_of_the_coupling_is_its_slope(seed, center):
    """Ṁ_fl θ̇ while the base rests."""
    mechanism, q, v = floating_case(seed)
    tree, base = mechanism.tree, f"b{seed}"

    # the base stays at rest to second order: a slope along the velocity alone leaves the base's position off by O(t²) only
    def coupled(t: float) -> np.ndarray:
        x = q
        steps = 4
        for _ in range(steps):  # the midpoint rule: off by (h/4)² = 2.5e-7
            half = with_base_at_rest(mechanism, x, v, base)
            middle = integrate(tree, x, (0.5 * t / steps * half).tolist())
            x = integrate(tree, x, (t / steps * with_base_at_rest(mechanism, middle, v, base)).tolist())
        return np.array(partition(tree, x, base, about_mass_center=center).M_fl) @ v[6:]

    near(reaction_rate(tree, q, v, base, about_mass_center=center), slope(coupled, h=2e-3), 2e-5)


@pytest.mark.row("T-6.1")
@pytest.mark.parametrize("rows", [range(6), (0, 1, 2), (3,)], ids=["all", "angular", "x"])
@pytest.mark.parametrize(**seeds(6))
def test_the_projector_is_one(seed, rows):
    """N² = N = Nᵀ, M_fl N = 0, rank n − rank(M_fl), and what has no momentum stays."""
    mechanism, q, _ = floating_case(seed)
    tree, rows = mechanism.tree, list(rows)
    parts = partition(tree, q, "b0")
    n = len(parts.joints)
    N = np.array([reactionless_velocity(tree, q, unit, "b0", rows=rows) for unit in np.eye(n)]).T
    coupling = np.array(parts.M_fl)[rows]
    np.testing.assert_allclose(N @ N, N, atol=1e-9)
    np.testing.assert_allclose(N, N.T, atol=1e-9)
    np.testing.assert_allclose(coupling @ N, 0.0, atol=1e-9 * (1.0 + np.abs(coupling).max()))
    rank = np.linalg.matrix_rank(coupling, tol=1e-7)
    assert np.trace(N) == pytest.approx(n - rank, abs=1e-6)
    free = np.linalg.svd(coupling)[2][rank:]
    np.testing.assert_allclose(free @ N.T, free, atol=1e-8)


@pytest.mark.row("T-6.1")
def test_the_projector_is_smooth_where_the_rank_changes():
    """A planar arm straightens: along its axis the coupling vanishes. No entry jumps, and N stays a contraction."""
    arm = km.load("planar_3r")
    tree, found = arm.mechanism.tree, []
    angles = np.concatenate([-np.logspace(0, -9, 60), [0.0], np.logspace(-9, 0, 60)])
    for x in angles:
        q = [0.0, float(x), -2.0 * float(x)]
        N = np.array([reactionless_velocity(tree, q, unit, rows=(3, 5)) for unit in np.eye(3)]).T
        assert np.isfinite(N).all()
        assert np.linalg.eigvalsh(0.5 * (N + N.T)).max() <= 1.0 + 1e-6
        assert np.linalg.eigvalsh(0.5 * (N + N.T)).min() >= -1e-6
        found.append(N)
    jumps = np.abs(np.diff(found, axis=0)).max(axis=(1, 2))
    assert jumps.max() < 0.5
    assert np.trace(found[60]) == pytest.approx(2.0, abs=1e-6)  # straight: one more degree of freedom
    assert np.trace(found[0]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.row("T-6.1")
def test_weights_choose_which_joints_give_way():
    mechanism, q, v = floating_case(3)
    tree = mechanism.tree
    wish = v[6:]
    weights = np.linspace(1.0, 9.0, len(wish))
    found = np.array(reactionless_velocity(tree, q, wish, "b0", weights=weights.tolist()))
    M_fl = np.array(partition(tree, q, "b0").M_fl)
    assert np.abs(M_fl @ found).max() < 1e-9
    free = np.linalg.svd(M_fl)[2][6:]  # at the least weighted distance, no free direction shortens it
    np.testing.assert_allclose(free @ (weights * (found - wish)), 0.0, atol=1e-8)


@pytest.mark.row("T-6.1")
@pytest.mark.parametrize(**seeds(4))
def test_reactionless_accelerations_leave_the_momentum_alone(seed):
    """Torques for them on the free mechanism do not accelerate a base at rest, by forward dynamics."""
    mechanism, q, v = floating_case(seed)
    tree, base = mechanism.tree, "root"
    rates = reactionless_velocity(tree, q, v[6:], base)
    still = with_base_at_rest(mechanism, q, [0.0] * 6 + rates, base)
    wish = np.random.default_rng(seed).normal(size=len(rates)).tolist()
    found = reactionless_acceleration(tree, q, still, wish, base)
    tau = joint_acceleration_torque(tree, q, still, found, list(range(6, tree.nv)), gravity=(0.0, 0.0, 0.0))
    robot = km.Robot(Mechanism(mechanism.name, mechanism.bodies, mechanism.joints, gravity=(0.0, 0.0, 0.0)))
    a = robot.forward_dynamics(q, still, tau)
    np.testing.assert_allclose(a[:6], 0.0, atol=1e-6)
    np.testing.assert_allclose(a[6:], found, atol=1e-6)
    assert np.abs(found).max() > 1e-3


def space_robot() -> Mechanism:
    """A satellite with an arm of five joints; nothing holds it, nothing pulls it."""
    bodies = [Body("satellite", 20.0, inertia=(1.2, 1.5, 1.0))]
    joints = [Joint("free", KINDS["floating"], "world", "satellite")]
    axes = [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    for k, axis in enumerate(axes):
        where = pose((0.3, 0.1, 0.2)) if k == 0 else pose((0.0, 0.0, 0.4))
        bodies.append(Body(f"arm{k}", 2.0, (0.0, 0.02, 0.2), (0.03, 0.03, 0.005)))
        joints.append(Joint(f"joint{k}", KINDS["revolute"], bodies[-2].name, f"arm{k}", where, axis))
    return Mechanism("space_robot", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, 0.0))


@pytest.mark.row("T-6.1")
def test_a_space_robot_turns_its_arm_without_turning_itself():
    """Ten seconds under torques, compiled: attitude within 1e-8 rad, no momentum; the same wish untamed turns it."""
    robot = km.Robot(space_robot())
    q0 = robot.neutral()
    q0[7:] = 0.3, 0.8, -0.5, 0.4, 0.9
    reference = Spline([0.0, 5.0, 10.0], [[0.0] * 5, [1.2, 0.8, -0.6, 0.9, 0.5], [0.4, -0.6, 1.0, 0.0, -0.3]])

    def wish(t, q, v):
        return reference.acceleration(t) - 0.3 * (v[6:] - reference.velocity(t))

    law = reactionless(robot, wish, "satellite", rows=(0, 1, 2), about_mass_center=True)
    run = km.simulate(robot, q0, np.zeros(robot.nv), duration=10.0, step=2e-3, integrator="rk4", controller=law)
    assert run.settings["forcing"] == "compiled"
    turned = 2.0 * np.linalg.norm(run.q[:, :3], axis=1).max()
    momenta = np.array(
        [centroidal_momentum(robot.mechanism.tree, q, v) for q, v in zip(run.q[::500], run.v[::500], strict=True)]
    )
    moved = np.abs(run.q[:, 7:] - q0[7:]).max()
    print(f"base turned by {turned:.2e} rad, momentum {np.abs(momenta).max():.2e}, joints moved by {moved:.2f} rad")
    assert turned < 1e-8
    assert np.abs(momenta).max() < 1e-9
    assert moved > 0.3
    assert np.abs(run.tau[:, :6]).max() == 0.0
    careless = reactionless(robot, wish, "satellite", rows=())
    run = km.simulate(robot, q0, np.zeros(robot.nv), duration=10.0, step=1e-2, integrator="rk4", controller=careless)
    assert 2.0 * np.linalg.norm(run.q[:, :3], axis=1).max() > 1e-2
    np.testing.assert_allclose(run.v[-1, 6:], reference.velocity(10.0), atol=1e-3)


def test_bases_that_cannot_be_are_refused():
    held, q, _ = held_case(0)
    free, q_free, _ = floating_case(0)
    with pytest.raises(ModelError, match="held to the world"):
        partition(held.tree, q, "b0")
    with pytest.raises(ModelError, match="floats by"):
        partition(free.tree, q_free)
    with pytest.raises(ModelError, match="not a body or frame"):
        partition(free.tree, q_free, "foot")
