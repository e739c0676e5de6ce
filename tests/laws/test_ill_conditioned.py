"""Robots whose inertia matrix is badly conditioned: the residual is judged, not a fixed difference."""

import warnings

import numpy as np
import pytest

from kumitate.dynamics import Acting, aba, aba_with_loops, crba, joint_forces, rnea
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.errors import KumitateWarning
from kumitate.model import KINDS, Body, Distance, Joint, Loop, Mechanism
from kumitate.programs import FORWARD_DYNAMICS
from kumitate.spatial import pose

from ..mechanisms import quaternion_of, seeds


def snake(links: int, ratio: float) -> Mechanism:
    """A planar chain of equal rods 0.1 m long whose masses grow by `ratio` from one end to the other, the heavy end free."""
    masses = np.geomspace(1.0, ratio, links)
    rod = np.array([1e-2, 1.0, 1.0]) * 0.01 / 12.0
    bodies = tuple(Body(f"b{i}", m, (0.05, 0.0, 0.0), rod * m) for i, m in enumerate(masses))
    parents = ("world", *(body.name for body in bodies))
    joints = tuple(
        Joint(f"j{i}", "revolute", parents[i], f"b{i}", pose((0.1 if i else 0.0, 0.0, 0.0)), (0.0, 1.0, 0.0))
        for i in range(links)
    )
    return Mechanism("snake", bodies, joints)


@pytest.mark.row("T-aba", "C-crb", "C-uv")
@pytest.mark.parametrize(("links", "ratio"), [(12, 1.0), (12, 1e4), (20, 1.0), (20, 1e-4), (6, 1e6)])
@pytest.mark.parametrize(**seeds(2))
def test_forward_dynamics_leaves_a_small_residual(links, ratio, seed):
    """‖M a − (τ − h)‖ ≤ 1e-11 ‖τ − h‖·(1 + ‖M‖‖a‖/‖τ − h‖) and |Δa| ≤ 1e-12·cond(M)·‖a‖ between any two methods.

    The second factor is 1 unless the terms of M a cancel: their rounding alone leaves ε‖M‖‖a‖.
    """
    m = snake(links, ratio)
    rng = np.random.default_rng(seed)
    q, v, tau = (rng.normal(size=links).tolist() for _ in range(3))
    M = np.array(crba(m.tree, q))
    condition = np.linalg.cond(M)
    assert condition > 1e3
    right = np.array(tau) - rnea(m.tree, q, v, [0.0] * links, gravity=m.gravity)
    reference = np.array(aba(m.tree, q, v, tau, Acting(m.gravity)))
    cancelled = 1.0 + np.linalg.norm(M) * np.linalg.norm(reference) / np.linalg.norm(right)
    for method, page in FORWARD_DYNAMICS.items():
        a = np.array(page(m.tree, q, v, tau, Acting(m.gravity)))
        residual = np.linalg.norm(M @ a - right)
        assert residual <= 1e-11 * np.linalg.norm(right) * cancelled, method
        assert np.abs(a - reference).max() <= 1e-12 * condition * np.linalg.norm(reference), method


#: Of every body the joint that carries it, its carrier, and its mass where it is not light.
UNEVEN = {
    "chain": [("revolute", "world", 1.0), ("revolute", "b0", None), ("revolute", "b1", 1.0)],
    "on the world": [("revolute", "world", None), ("revolute", "b0", 2.0), ("spherical", "b1", 1.0)],
    "twice": [("floating", "world", 1.0), ("revolute", "b0", None), ("revolute", "b1", 3.0), ("revolute", "b2", None),
              ("universal", "b3", 1.0)],
    "fork": [("floating", "world", None), ("revolute", "b0", 1.0), ("revolute", "b0", 2.0)],
    "ring": [("revolute", "world", 1.0), ("revolute", "b0", None), ("revolute", "b1", 1.0)],
}  # fmt: skip


def uneven(shape: str, light: float) -> Mechanism:
    """Rods of 1 m, one after the other, those without a mass of so much; a ring is closed by a rod to the world."""
    bodies, joints = [], []
    for k, (kind, parent, mass) in enumerate(UNEVEN[shape]):
        m = light if mass is None else mass
        bodies.append(Body(f"b{k}", m, (0.0, 0.0, -0.5), (0.09 * m, 0.09 * m, 0.01 * m)))
        at = pose((0.1 * k, 0.0, 0.0 if parent == "world" else -1.0))
        joints.append(Joint(f"j{k}", kind, parent, f"b{k}", at, ((0, 1, 0), (1, 0, 0))[k % 2], ((1, 0, 0), (0, 1, 0))[k % 2]))
    rod = Loop("rod", Distance(1.5), f"b{len(bodies) - 1}", "world", pose((0.0, 0.0, -1.0)))
    return Mechanism(shape, tuple(bodies), tuple(joints), (rod,) if shape == "ring" else ())


@pytest.mark.parametrize("shape", UNEVEN)
@pytest.mark.parametrize("light", [1e-5, 1e-9, 1e-12])
def test_light_links_between_heavy_ones_cost_no_digits(shape, light):
    """|Δv̇| ≤ 1e-13·cond(M)·‖v̇‖ of ADA and DCA against articulated bodies; the same forces at the joints of trees."""
    m, rng = uneven(shape, light), np.random.default_rng(3)
    v, tau = (rng.normal(size=m.nv).tolist() for _ in range(2))
    q = [x for link in m.tree.links for x in link.kind.random(rng)]
    condition = np.linalg.cond(np.array(crba(m.tree, q)))
    assert condition < 2e3
    reference = np.array(aba_with_loops(m.tree, q, v, tau, Acting(m.gravity)))
    forces = [] if m.tree.closed else np.array([[*force] for force in joint_forces(m.tree, q, v, tau, Acting(m.gravity))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in (ada, dca):
            for order in ("both_ends", "serial"):
                found = method(m.tree, q, v, tau, Acting(m.gravity), order=order)
                assert np.abs(found.vdot - reference).max() <= 1e-13 * condition * np.linalg.norm(reference)
                for k, force in enumerate(forces):
                    assert np.abs(np.array(found.forces[k]) - force).max() <= 1e-13 * condition * np.linalg.norm(forces)


def test_light_links_that_nothing_can_be_lent_are_told_of():
    """Two light links whose joints meet in a point: each could only lend the other what it lacks itself."""
    heavy = [Body(name, 1.0, (0.0, 0.0, -0.5), (0.09, 0.09, 0.01)) for name in ("upper", "lower")]
    joints = tuple(
        Joint(f"j{k}", "revolute", parent, child, pose((0.0, 0.0, -1.0 if k == 1 else 0.0)), axis)
        for k, (parent, child, axis) in enumerate(
            [("world", "upper", (0, 1, 0)), ("upper", "x", (1, 0, 0)), ("x", "y", (0, 1, 0)), ("y", "lower", (0, 0, 1))]
        )
    )
    still = [0.1, 0.2, 0.3, 0.4]
    for light, said in ((1e-8, True), (1e-5, False)):
        small = [Body(name, light, inertia=(0.1 * light,) * 3) for name in ("x", "y")]
        m = Mechanism("dummies", (*heavy, *small), joints)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ada(m.tree, still, still, still, Acting(m.gravity))
        assert [str(one.message)[:20] for one in told] == ["joints 'j1', 'j2' ca"] * said
        assert all(one.category is KumitateWarning for one in told)


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(**seeds(3))
def test_near_a_singular_angle_the_motion_stays_right(distance, seed):
    """Close to pitch 90 deg the angles' accelerations grow without bound, but not what the body does: S q̈ + Ṡ q̇ = V̇."""
    kind = KINDS["floating_euler"]
    body = Body("brick", 2.0, (0.05, -0.02, 0.1), (0.02, 0.05, 0.04))
    m = Mechanism("brick", (body,), (Joint("free", kind, "world", "brick"),))
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=6), rng.normal(size=6)
    q[1] = np.pi / 2.0 - distance
    a = np.array(aba(m.tree, q.tolist(), v.tolist(), [0.0] * 6, Acting(m.gravity)))
    condition = np.linalg.cond(np.array(crba(m.tree, q.tolist())))
    S, rate = (np.array([list(p) for p in parts]).T for parts in (kind.subspace(q), kind.subspace_rate(q, v)))
    twist, got = S @ v, S @ a + rate @ v
    free = Mechanism("brick", (body,), (Joint("free", "floating", "world", "brick"),))
    R = np.array(kind.transform(q).matrix())[:3, :3]
    expected = aba(free.tree, [*quaternion_of(R), *q[3:]], twist.tolist(), [0.0] * 6, Acting(m.gravity))
    assert np.abs(got - expected).max() <= 1e-14 * condition * np.linalg.norm(a)
