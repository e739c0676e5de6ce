"""Edits of mechanisms with loops and couplings leave the physics of what they keep unchanged."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import LoopEquations, assemble
from kumitate.dynamics import Acting, aba_with_loops
from kumitate.kinematics import link_twists, place_twist
from kumitate.model import Coupling, Distance, Line, Loop, Mechanism, attach, cut, lock, merge, reroot, weld
from kumitate.spatial import Transform, pose

from ..mechanisms import body_poses, joined, quaternion_of, random_mechanism, random_pose, random_state, seeds, split

#: A solve with some ten rows of condition 1e4 or less.
CLOSE = {"rtol": 1e-9, "atol": 1e-8}


def at(m: Mechanism, q: list[float], body: str) -> Transform:
    """Where a body stands in the world."""
    X = body_poses(m, q)[body]
    return pose(X[:3, 3].tolist(), matrix=X[:3, :3].tolist())


def tied(seed: int, kind: object = "spherical") -> tuple[Mechanism, list[float]]:
    """A chain of nine hinges with its end held in the world by a loop, a spring line and couplings; and closed coordinates."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute"] * 9, chain=True)
    q = rng.uniform(-2.0, 2.0, 9)
    couplings = (
        Coupling("first", "j1", "j0", -1.5, float(q[1] + 1.5 * q[0])),
        Coupling("then", "j3", "j1", 0.7, float(q[3] - 0.7 * q[1])),
    )
    held = random_pose(rng)
    loops = (
        Loop("tie", kind, "world", "b8", at(m, q.tolist(), "b8") @ held, held, damping=0.1, stiffness=0.0),
        Loop("line", Line(), "b2", "b6", random_pose(rng), random_pose(rng), damping=0.3, stiffness=4.0, rest=0.2),
    )
    return replace(m, loops=loops, couplings=couplings), q.tolist()


def acceleration(m: Mechanism, q, v, tau) -> dict[str, list[float]]:
    return split(m, aba_with_loops(m.tree, list(q), list(v), list(tau), Acting(m.gravity)))


def moving(m: Mechanism, q, seed: int, **held: float) -> tuple[list[float], list[float]]:
    """Velocities that keep the loops closed, and forces; `held` joints rest."""
    rng = np.random.default_rng(seed + 1000)
    holds = tuple(Coupling(f"hold_{name}", name, "j8", 0.0, value) for name, value in held.items())
    loops = LoopEquations(replace(m, couplings=(*m.couplings, *holds)))
    _, v = assemble(loops, np.array(q), rng.normal(size=m.nv))
    return v.tolist(), rng.normal(size=m.nv).tolist()


def without(m: Mechanism, values, *names: str) -> list[float]:
    return [x for joint, part in split(m, values).items() if joint not in names for x in part]


@pytest.mark.parametrize("kind", ["spherical", "universal", "cylindrical"])
@pytest.mark.parametrize(**seeds(3))
def test_a_joint_of_a_loop_that_is_locked_is_one_that_an_equation_holds(kind, seed):
    m, q = tied(seed, kind)
    v, tau = moving(m, q, seed, j5=q[5])
    locked = lock(m, {"j5": [q[5]]})
    found = acceleration(locked, without(m, q, "j5"), without(m, v, "j5"), without(m, tau, "j5"))
    held = replace(m, couplings=(*m.couplings, Coupling("hold", "j5", "j8", 0.0, q[5])))
    expected = acceleration(held, q, v, tau)
    assert abs(expected["j5"][0]) < 1e-8
    for name in found:
        if name != "j5":
            np.testing.assert_allclose(found[name], expected[name], **CLOSE)


@pytest.mark.parametrize("name", ["j0", "j1", "j3"])
@pytest.mark.parametrize(**seeds(3))
def test_joints_that_are_coupled_to_a_locked_one_are_held_by_it(name, seed):
    m, q = tied(seed)
    rest = {key: q[int(key[1])] for key in ("j0", "j1", "j3")}
    v, tau = moving(m, q, seed, j0=q[0])
    locked = lock(m, {name: rest[name]})
    assert locked.couplings == ()
    assert [joint.name for joint in locked.joints if joint.kind.nv == 0] == list(rest)
    for key, value in rest.items():  # where they follow
        (alone,) = (item for item in lock(replace(m, couplings=()), {key: [value]}).joints if item.name == key)
        assert locked.joint(key).pose.almost_equal(alone.pose, 1e-12)
    found = acceleration(locked, *(without(m, values, *rest) for values in (q, v, tau)))
    expected = acceleration(replace(m, couplings=(*m.couplings, Coupling("hold", "j0", "j8", 0.0, q[0]))), q, v, tau)
    for key in found:
        if key not in rest:
            np.testing.assert_allclose(found[key], expected[key], **CLOSE)


@pytest.mark.parametrize(**seeds(3))
def test_a_weld_of_coupled_joints_is_a_lock_where_they_stand(seed):
    m, q = tied(seed)
    locked = lock(m, {"j1": q[1]})
    X = locked.joint("j1").pose
    welded = weld(m, "b0", "b1", pose=X)
    assert welded.couplings == ()
    for name in ("j0", "j1", "j3"):
        assert welded.joint(name).kind.nv == 0
        assert welded.joint(name).pose.almost_equal(locked.joint(name).pose, 1e-9)


@pytest.mark.parametrize(**seeds(4))
def test_two_mechanisms_with_loops_side_by_side_do_not_know_each_other(seed):
    (one, q1), (two, q2) = tied(seed), tied(seed + 50)
    (v1, tau1), (v2, tau2) = moving(one, q1, seed), moving(two, q2, seed)
    two = replace(two, loops=(*two.loops, Loop("rod", Distance(0.4), "b1", "b5")))
    X = pose((0.3, -0.2, 1.0))
    both = merge(one, replace(two, gravity=one.gravity), X, prefix="second_")
    assert [item.name for item in both.couplings] == ["first", "then", "second_first", "second_then"]
    found = acceleration(both, q1 + q2, v1 + v2, tau1 + tau2)
    expected = acceleration(one, q1, v1, tau1)
    expected |= {f"second_{name}": part for name, part in acceleration(two, q2, v2, tau2).items()}
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], **CLOSE)


@pytest.mark.parametrize(**seeds(3))
def test_a_part_with_its_couplings_put_back_is_what_it_was(seed):
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute"] * 6, chain=True)
    inner = (Coupling("inner", "j4", "j5", 0.6),)
    m = replace(m, couplings=inner, loops=(Loop("rod", Distance(0.7), "b2", "b5", pose((0.1, 0.2, 0.0))),))
    part = cut(m, "j2")
    assert (part.couplings, [loop.name for loop in part.loops]) == (inner, ["rod"])
    kept = ("b0", "b1")
    front = replace(
        m, bodies=tuple(body for body in m.bodies if body.name in kept), loops=(), couplings=(),
        joints=tuple(joint for joint in m.joints if joint.child in kept),
        frames=tuple(frame for frame in m.frames if frame.body in kept),
    )  # fmt: skip
    mounted = replace(part, joints=(replace(m.joint("j2"), parent="world"), *part.joints[1:]))
    case = random_state(m, rng)
    found = acceleration(attach(front, mounted, "b1"), case.q, case.v, case.tau)
    for name, expected in acceleration(m, case.q, case.v, case.tau).items():
        np.testing.assert_allclose(found[name], expected, **CLOSE)


@pytest.mark.parametrize(**seeds(4))
def test_couplings_and_loops_hold_from_another_body(seed):
    """The joints turned round keep their coordinates, so that what ties them stays as it is."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute", "prismatic", "revolute", "revolute", "revolute"], chain=True, root="floating")
    couplings = (Coupling("across", "j1", "j0", 0.3, 0.1), Coupling("behind", "j4", "j2", -2.0))
    rods = (Loop("rod", Distance(0.5), "root", "b4", pose((0.1, 0, 0)), pose((0, 0.3, 0))),
            Loop("line", Line(), "b0", "b3", pose((0, 0.2, 0)), stiffness=3.0, rest=0.1, damping=0.2))  # fmt: skip
    springs = tuple(replace(joint, stiffness=1.0, rest=0.2) if joint.name == "j2" else joint for joint in m.joints)
    m = replace(m, couplings=couplings, loops=rods, joints=springs)
    other = reroot(m, "b3")
    assert other.couplings == couplings
    case = random_state(m, rng)
    # the other's base, from the pose of the body and its velocity in its own axes
    X = body_poses(m, case.q)["b3"]
    joint = other.joints[0]
    fixed = np.eye(4)
    fixed[:3, :3] = turn = np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])
    base = np.linalg.inv(np.array(joint.pose.matrix()) @ fixed) @ X @ fixed
    twist = np.array(list(place_twist(m.tree, link_twists(m.tree, case.q, case.v), m.tree.places["b3"])), dtype=float)
    q = joined(other, {**split(m, case.q, "nq"), "base": [*quaternion_of(base[:3, :3]), *base[:3, 3]]})
    v = joined(other, {**split(m, case.v), "base": [*(turn.T @ twist[:3]), *(turn.T @ twist[3:])]})
    torques = {**split(m, case.tau), "base": [0.0] * 6}
    here = acceleration(m, case.q, case.v, joined(m, torques))
    there = acceleration(other, q, v, joined(other, torques))
    for name in here:
        if name != "base":
            np.testing.assert_allclose(there[name], here[name], rtol=1e-8, atol=1e-7)
