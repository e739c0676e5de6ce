"""Energy changes by the power of what is applied, momentum by the external wrenches; both along the motion itself."""

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, momentum, potential_energy
from kumitate.dynamics import Acting, Wrenches, aba, passive_force
from kumitate.kinematics import center_of_mass, integrate, link_poses, place_pose, total_mass, world_velocity

from ..mechanisms import agree, body_poses, cases, near, random_case, seeds, slope

FREE = ("floating", "floating_euler")


def wrenches(case) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    return {frame.name: (3.0 * rng.normal(size=6)).tolist() for frame in case.mechanism.frames[:3]}


def along(case, a, t: float) -> tuple[list[float], list[float]]:
    """The state after the time t, to first order: enough for the first derivative at t = 0."""
    q = integrate(case.mechanism.tree, case.q, [rate * t for rate in case.v])
    return q, [rate + t * more for rate, more in zip(case.v, a, strict=True)]


def bodies_momentum(case, q, v) -> np.ndarray:
    """[l; p] from the bodies as written and the rates of their poses, by matrices."""
    mechanism = case.mechanism
    poses = body_poses(mechanism, q)
    names = [body.name for body in mechanism.bodies]

    def posed(t: float) -> np.ndarray:
        later = body_poses(mechanism, integrate(mechanism.tree, q, [rate * t for rate in v]))
        return np.array([later[name] for name in names])

    total = np.zeros(6)
    for body, rate in zip(mechanism.bodies, slope(posed), strict=True):
        X, center = poses[body.name], np.array([*body.center_of_mass, 1.0])
        W = rate[:3, :3] @ X[:3, :3].T
        p = body.mass * (rate @ center)[:3]
        spin = X[:3, :3] @ np.array(body.inertia) @ X[:3, :3].T @ [W[2, 1], W[0, 2], W[1, 0]]
        total += [*(spin + np.cross((X @ center)[:3], p)), *p]
    return total


over_cases = pytest.mark.parametrize(**cases(16, every=3))


@pytest.mark.row("T-aba", "T-5.3")
@over_cases
def test_energy_changes_by_the_power_of_all_that_is_applied(make):
    """d(T + U)/dt = power of drives, damping, friction and external wrenches."""
    case = make()
    tree, g, applied = case.mechanism.tree, case.mechanism.gravity, wrenches(case)
    a = aba(tree, case.q, case.v, case.tau, Acting(g, wrenches=Wrenches(tree, applied)))

    def energy(t: float) -> float:
        q, v = along(case, a, t)
        return kinetic_energy(tree, q, v) + potential_energy(tree, q, g)

    passive = [f for link in tree.links for f in passive_force(link, link.velocities(case.v))]
    power = float(np.dot(np.array(case.tau) - passive, case.v))
    for name, wrench in applied.items():
        power += float(np.dot(wrench, world_velocity(tree, case.q, case.v, tree.places[name])))
    near(slope(energy, h=1e-3), power, tolerance=1e-7)
    assert np.dot(passive, case.v) >= 0.0  # damping and friction take energy away


@pytest.mark.row("T-5.3")
@pytest.mark.parametrize("root", FREE)
@pytest.mark.parametrize(**seeds(8))
def test_momentum_of_a_free_mechanism_changes_by_the_external_wrenches(root, seed):
    """Drives, damping, friction and armatures inside cannot change it. Moments are about the world's origin."""
    case = random_case(seed, root=root)
    tree, g, applied = case.mechanism.tree, np.array(case.mechanism.gravity), wrenches(case)
    tau = [0.0] * 6 + case.tau[6:]
    a = aba(tree, case.q, case.v, tau, Acting(g.tolist(), wrenches=Wrenches(tree, applied)))
    weight = total_mass(tree) * g
    external = np.array([*np.cross(center_of_mass(tree, case.q), weight), *weight])
    for name, wrench in applied.items():
        p = list(place_pose(tree, link_poses(tree, case.q), tree.places[name]).translation)
        external += [*(np.array(wrench[:3]) + np.cross(p, wrench[3:])), *wrench[3:]]
    near(slope(lambda t: momentum(tree, *along(case, a, t))), external, tolerance=1e-7)


@pytest.mark.row("T-5.3")
@pytest.mark.parametrize("root", FREE)
@pytest.mark.parametrize(**seeds(4))
def test_momentum_of_a_free_mechanism_stays_without_external_forces(root, seed):
    case = random_case(seed, root=root)
    tree = case.mechanism.tree
    a = aba(tree, case.q, case.v, [0.0] * 6 + case.tau[6:], Acting((0.0, 0.0, 0.0)))
    near(slope(lambda t: momentum(tree, *along(case, a, t))), np.zeros(6), tolerance=1e-7)


@pytest.mark.row("T-5.3")
@over_cases
def test_linear_momentum_is_the_mass_times_the_velocity_of_the_mass_center(make):
    case = make()
    tree = case.mechanism.tree
    velocity = slope(lambda t: center_of_mass(tree, along(case, [0.0] * tree.nv, t)[0]))
    near(momentum(tree, case.q, case.v)[3:], total_mass(tree) * velocity)


@pytest.mark.row("T-5.3")
@over_cases
def test_momentum_and_energy_are_sums_over_the_bodies_as_written(make):
    case = make()
    tree, g = case.mechanism.tree, case.mechanism.gravity
    near(momentum(tree, case.q, case.v), bodies_momentum(case, case.q, case.v))
    poses = body_poses(case.mechanism, case.q)
    weights = {
        body.name: -body.mass * np.dot(g, (poses[body.name] @ [*body.center_of_mass, 1.0])[:3])
        for body in case.mechanism.bodies if tree.places[body.name].link >= 0
    }  # fmt: skip
    agree(potential_energy(tree, case.q, g), sum(weights.values()), case.n, scale=sum(map(abs, weights.values())))
