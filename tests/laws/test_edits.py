"""Edits leave the physics of what they keep unchanged."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, momentum, potential_energy
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.kinematics import link_twists, place_twist
from kumitate.model import KINDS, Mechanism, attach, cut, lock, merge, reroot, weld

from ..mechanisms import (
    Case,
    agree,
    body_poses,
    joined,
    matrix,
    near,
    places,
    quaternion_of,
    random_case,
    random_coordinates,
    random_mechanism,
    random_pose,
    random_state,
    seeds,
    slope,
    split,
)

SCREWS = [kind.name for kind in KINDS.values() if kind.screw_symmetric]


def forces(mechanism: Mechanism, q, v, a) -> dict[str, list[float]]:
    """The generalised forces of every joint, by name."""
    return split(mechanism, rnea(mechanism.tree, q, v, a, gravity=mechanism.gravity))


def restricted(case: Case, other: Mechanism) -> list[list[float]]:
    """q, v and a of the joints that the other mechanism has too, with freedom."""
    kinds = {joint.name: joint.kind for joint in other.joints}
    parts = []
    for values, size in ((case.q, "nq"), (case.v, "nv"), (case.a, "nv")):
        own = split(case.mechanism, values, size)
        parts.append(joined(other, {name: part for name, part in own.items() if name in kinds and getattr(kinds[name], size)}))
    return parts


def held(case: Case, name: str) -> Case:
    """The case with one joint at neutral coordinates and at rest, and staying there."""
    m = case.mechanism
    q, v, a = split(m, case.q, "nq"), split(m, case.v), split(m, case.a)
    kind = m.joint(name).kind
    q[name], v[name], a[name] = kind.neutral(), [0.0] * kind.nv, [0.0] * kind.nv
    return replace(case, q=joined(m, q), v=joined(m, v), a=joined(m, a))


def moving(case: Case, rng) -> str:
    return str(rng.choice([joint.name for joint in case.mechanism.joints if joint.kind.nv]))


@pytest.mark.parametrize("edit", ["lock", "weld"])
@pytest.mark.parametrize(**seeds(10))
def test_a_held_joint_is_one_that_does_not_move(edit, seed):
    case = random_case(seed)
    name = moving(case, np.random.default_rng(seed))
    case = held(case, name)
    m = case.mechanism
    joint = m.joint(name)
    ends = (joint.parent, joint.child) if seed % 2 else (joint.child, joint.parent)
    other = lock(m, [name]) if edit == "lock" else weld(m, *ends)
    assert other.nv == m.nv - joint.kind.nv
    assert not other.loops
    before, after = forces(m, case.q, case.v, case.a), forces(other, *restricted(case, other))
    for key in after:
        if key != name:
            agree(after[key], before[key], case.n, scale=100.0)
    bodies = [body.name for body in m.bodies]
    agree(places(other, restricted(case, other)[0], bodies), places(m, case.q, bodies), case.n)


@pytest.mark.parametrize(**seeds(6))
def test_a_free_body_that_is_welded_hangs_on_the_other(seed):
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute", "spherical", "prismatic"], chain=True)
    free = random_mechanism(rng, ["revolute"], root="floating")
    X = random_pose(rng)
    both = merge(m, free, prefix="free_")
    other = weld(both, "b2", "free_root", pose=X)
    fixed = attach(
        m, replace(lock(free, ["base"]), gravity=m.gravity), "b2", X @ free.joint("base").pose.inverse(), prefix="free_"
    )
    assert not other.loops
    assert other.nv == fixed.nv
    case = random_state(fixed, rng)
    agree(forces_list(other, case), forces_list(fixed, case), case.n, scale=100.0)
    assert weld(both, "free_root", "b2", pose=X.inverse()).joint("free_base").parent == "b2"


def forces_list(mechanism: Mechanism, case: Case) -> list[float]:
    return rnea(mechanism.tree, case.q, case.v, case.a, gravity=mechanism.gravity)


@pytest.mark.parametrize(**seeds(8))
def test_two_mechanisms_side_by_side_do_not_know_each_other(seed):
    rng = np.random.default_rng(seed)
    one, two = random_case(seed), random_case(seed + 100)
    X = random_pose(rng)
    R = matrix(X.rotation.matrix())
    both = merge(one.mechanism, two.mechanism, X, prefix="second_")
    # the second feels gravity in its own axes
    alone = replace(two.mechanism, gravity=tuple(R.T @ one.mechanism.gravity))
    q, v, a = (
        joined(
            both,
            {
                **split(one.mechanism, getattr(one, key), size),
                **{f"second_{name}": part for name, part in split(two.mechanism, getattr(two, key), size).items()},
            },
        )
        for key, size in (("q", "nq"), ("v", "nv"), ("a", "nv"))
    )
    found = forces(both, q, v, a)
    expected = forces(one.mechanism, one.q, one.v, one.a)
    expected |= {f"second_{name}": part for name, part in forces(alone, two.q, two.v, two.a).items()}
    for name, part in expected.items():
        agree(found[name], part, one.n + two.n, scale=100.0)


@pytest.mark.parametrize(**seeds(8))
def test_what_is_cut_off_and_put_back_is_what_it_was(seed):
    case = random_case(seed, chain=True)
    m = case.mechanism
    joint = m.joints[len(m.joints) // 2]
    part = cut(m, joint.name)
    kept = {body.name for body in m.bodies} - {body.name for body in part.bodies}
    front = replace(
        m,
        bodies=tuple(body for body in m.bodies if body.name in kept),
        joints=tuple(item for item in m.joints if item.child in kept),
        frames=tuple(frame for frame in m.frames if frame.body in kept),
    )
    mounted = replace(part, joints=(replace(joint, parent="world"), *part.joints[1:]))
    again = attach(front, mounted, joint.parent)
    agree(forces_list(again, case), forces_list(m, case), case.n, scale=100.0)


@pytest.mark.parametrize(**seeds(8))
def test_a_part_stands_where_it_stood(seed):
    m = random_case(seed, chain=True).mechanism
    joint = m.joints[len(m.joints) // 2].name
    part = cut(m, joint)
    names = [body.name for body in part.bodies]
    neutral = [[x for joint in each.joints for x in joint.kind.neutral()] for each in (m, part)]
    agree(places(part, neutral[1], names), places(m, neutral[0], names), len(m.joints))


def test_a_free_part_falls():
    m = random_case(3, chain=True).mechanism
    part = cut(m, m.joints[1].name, floating_base=True)
    assert part.joints[0].kind.name == "floating"
    assert part.nv == 6 + sum(joint.kind.nv for joint in m.joints[2:])
    q = random_coordinates(part, np.random.default_rng(0))
    still = replace(part, joints=tuple(replace(joint, friction=0.0, damping=0.0) for joint in part.joints))
    a = aba(still.tree, q, [0.0] * part.nv, [0.0] * part.nv, Acting(part.gravity))
    R = np.array(part.joints[0].kind.transform(q[:7]).matrix())[:3, :3]
    condition = np.linalg.cond(np.array(crba(part.tree, q)))
    agree(R @ a[3:6], part.gravity, part.nv, scale=10.0, condition=condition)
    agree(a[6:], [0.0] * (part.nv - 6), part.nv, scale=10.0, condition=condition)


# --- reroot -------------------------------------------------------------------------------------------------------------
def inverse(kind: str, q: list[float]) -> list[float]:
    """The coordinates of the joint turned round."""
    if kind == "universal":
        return q[::-1]
    if kind == "spherical":
        return [-q[0], -q[1], -q[2], q[3]]
    if kind == "planar":
        c, s = np.cos(q[0]), np.sin(q[0])
        return [-q[0], -c * q[1] - s * q[2], s * q[1] - c * q[2]]
    return q


def turned_names(m: Mechanism, body: str) -> list[str]:
    carriers = {joint.child: joint for joint in m.joints}
    path = []
    while carriers[body].parent != "world":
        path.append(carriers[body].name)
        body = carriers[body].parent
    return path


@pytest.mark.parametrize("kind", [*SCREWS, "fixed", "universal", "spherical", "planar"])
@pytest.mark.parametrize(**seeds(4))
def test_a_free_mechanism_from_another_of_its_bodies(kind, seed):
    """All bodies stand where they stood; energy and momentum along a motion, and so the motion, are the same."""
    rng = np.random.default_rng(seed)
    passive = kind not in ("spherical", "planar")
    m = random_mechanism(rng, [kind, "revolute", kind, "prismatic", "universal"], chain=True, root="floating", passive=passive)
    case = random_state(m, rng)
    body = "b3" if seed % 2 else "b2"
    other = reroot(m, body)
    assert other.nv == m.nv
    assert other.joints[0].child == body
    round_ = turned_names(m, body)

    def across(q) -> list[float]:
        """The coordinates of the other mechanism in the same posture."""
        parts = split(m, q, "nq")
        for name in round_:
            parts[name] = inverse(m.joint(name).kind.name, parts[name])
        fixed = np.array(other.joints[0].pose.matrix())
        X = np.linalg.inv(fixed) @ body_poses(m, q)[body]
        # the base's axis turns its coordinates too
        joint = other.joints[0]
        turn = np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])
        X = np.block([[turn.T @ X[:3, :3] @ turn, turn.T @ X[:3, 3:]], [X[3:]]])
        return joined(other, {**parts, "base": [*quaternion_of(X[:3, :3]), *X[:3, 3]]})

    q = across(case.q)
    names = [item.name for item in (*m.bodies, *m.frames)]
    agree(places(other, q, names), places(m, case.q, names), case.n)

    # the other's velocities, by how its coordinates change
    v = slope(lambda h: joined_difference(other, q, across(joined_integrate(m, case.q, case.v, h)))).tolist()
    here, there = (
        np.array(
            [kinetic_energy(tree, *state), potential_energy(tree, state[0], m.gravity), *momentum(tree, *state)], dtype=float
        )
        for tree, state in ((m.tree, (case.q, case.v)), (other.tree, (q, v)))
    )
    near(there, here)


def joined_integrate(m: Mechanism, q, v, h: float) -> list[float]:
    qs, vs = split(m, q, "nq"), split(m, v)
    return joined(m, {j.name: j.kind.integrate(qs[j.name], [h * x for x in vs[j.name]]) for j in m.joints})


def joined_difference(m: Mechanism, q0, q1) -> list[float]:
    one, two = split(m, q0, "nq"), split(m, q1, "nq")
    return joined(m, {j.name: j.kind.difference(one[j.name], two[j.name]) for j in m.joints})


@pytest.mark.parametrize(**seeds(6))
def test_joints_accelerate_alike_from_another_body(seed):
    """Screws keep their coordinates, velocities and forces, drives and all."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute", "prismatic", "cylindrical", "revolute", "fixed"], chain=True, root="floating")
    other = reroot(m, "b4")
    case = random_state(m, rng)
    parts, speeds, torques = split(m, case.q, "nq"), split(m, case.v), split(m, case.tau)
    # the other's base, from the pose of the body and its velocity in its own axes
    X = body_poses(m, case.q)["b4"]
    joint = other.joints[0]
    turn = np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])
    fixed = np.eye(4)
    fixed[:3, :3] = turn
    base = np.linalg.inv(np.array(joint.pose.matrix()) @ fixed) @ X @ fixed
    twist = np.array(list(place_twist(m.tree, link_twists(m.tree, case.q, case.v), m.tree.places["b4"])), dtype=float)
    own = [*(turn.T @ twist[:3]), *(turn.T @ twist[3:])]
    q = joined(other, {**parts, "base": [*quaternion_of(base[:3, :3]), *base[:3, 3]]})
    v = joined(other, {**speeds, "base": own})
    tau = {**torques, "base": [0.0] * 6}
    here = split(m, aba(m.tree, case.q, case.v, joined(m, tau), Acting(m.gravity)))
    there = split(other, aba(other.tree, q, v, joined(other, tau), Acting(m.gravity)))
    condition = np.linalg.cond(np.array(crba(m.tree, case.q))) + np.linalg.cond(np.array(crba(other.tree, q)))
    for name in here:
        if name != "base":
            agree(there[name], here[name], case.n + len(other.joints), scale=100.0, condition=condition)
