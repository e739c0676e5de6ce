"""Nothing physical changes when a mechanism is written otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.kinematics import jacobian, jacobian_rate, link_twists, place_twist
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.spatial import Inertia, Symmetric3, Transform, Vector3, pose

from ..mechanisms import (
    Case,
    agree,
    body_poses,
    cases,
    every_kind,
    joined,
    quaternion_of,
    random_case,
    random_mechanism,
    random_pose,
    random_rotation,
    random_state,
    seeds,
    seen_from,
    split,
    with_body,
    with_dh_frames,
    with_joint,
)

pytestmark = pytest.mark.row("T-aba", "N-inv")


def same_dynamics(case: Case, other: Mechanism, signs: dict[str, float] | None = None, q: dict | None = None) -> None:
    """Fails unless both mechanisms accelerate alike under the same forces, and take the same forces, joint by joint.

    Args:
        case: the one mechanism in its state.
        other: the other one, with joints of the same names.
        signs: −1 for joints that are counted backwards in `other`.
        q: coordinates of joints that differ in `other` besides.
    """
    mechanism, signs = case.mechanism, signs or {}

    def translated(values, size: str = "nv") -> dict[str, list[float]]:
        parts = split(mechanism, values, size)
        return {name: [signs.get(name, 1.0) * part for part in own] for name, own in parts.items()}

    def pages(m: Mechanism, q, v, tau, a) -> tuple[list[float], list[float]]:
        return aba(m.tree, q, v, tau, Acting(m.gravity)), rnea(m.tree, q, v, a, gravity=m.gravity)

    here = pages(mechanism, case.q, case.v, case.tau, case.a)
    state = [joined(other, translated(case.q, "nq") | (q or {}))]
    state += [joined(other, translated(values)) for values in (case.v, case.tau, case.a)]
    there = pages(other, *state)
    condition = np.linalg.cond(np.array(crba(mechanism.tree, case.q)))
    for mine, yours, factor in zip(here, there, (condition, 1.0), strict=True):
        agree(yours, joined(other, translated(mine)), case.n + len(other.joints), scale=100.0, condition=factor)


@pytest.mark.parametrize(**cases(12))
def test_bodies_and_joints_in_another_order(make):
    case = make()
    rng = np.random.default_rng(0)
    m = case.mechanism
    joints, bodies = (tuple(items[i] for i in rng.permutation(len(items))) for items in (m.joints, m.bodies))
    same_dynamics(case, replace(m, joints=joints, bodies=bodies))


@pytest.mark.parametrize(**cases(12))
def test_the_world_turned_and_moved(make):
    case = make()
    rng = np.random.default_rng(0)
    R = random_rotation(rng)
    X = pose(rng.normal(size=3), matrix=R.tolist())
    m = case.mechanism
    joints = tuple(replace(j, pose=X @ j.pose) if j.parent == "world" else j for j in m.joints)
    same_dynamics(case, replace(m, joints=joints, gravity=tuple(R @ m.gravity)))


@pytest.mark.parametrize(**cases(12))
def test_frames_turned_with_their_joints(make):
    """The frame of every body turned (the joint's with it, the axes written anew), and shifted as far as its joint allows."""
    case = make()
    rng = np.random.default_rng(0)
    other = case.mechanism
    for joint in case.mechanism.joints:
        R = random_rotation(rng)
        shift = np.zeros(3)
        if KINDS[joint.kind.name].screw_symmetric:
            shift = rng.normal() * np.array(joint.axis)  # a revolute axis has no origin
        if joint.kind.name in ("prismatic", "fixed"):
            shift = rng.normal(size=3)  # what does not turn has no centre
        X = pose(shift, matrix=R.tolist())
        other = with_dh_frames(other, joint.child, X)
        axes = {"axis": R.T @ joint.axis, "second_axis": R.T @ joint.second_axis}
        other = with_joint(other, joint.name, pose=other.joint(joint.name).pose @ X, **axes)
    same_dynamics(case, other)


@pytest.mark.parametrize(**cases(12))
def test_joints_counted_backwards(make):
    """The axis of a revolute, prismatic or cylindrical joint negated: coordinates, velocities and forces change sign."""
    case = make()
    signs = {joint.name: -1.0 for joint in case.mechanism.joints if joint.kind.screw_symmetric}
    other = case.mechanism
    for name in signs:
        other = with_joint(other, name, axis=[-part for part in other.joint(name).axis], second_axis=None)
    same_dynamics(case, other, signs)


@pytest.mark.parametrize(**cases(12))
def test_joints_about_axes_that_say_no_second_direction(make):
    """A screw about an axis does not know which way the other axes point."""
    case = make()
    other = case.mechanism
    for joint in other.joints:
        if joint.kind.screw_symmetric:
            other = with_joint(other, joint.name, second_axis=None)
    same_dynamics(case, other)


@pytest.mark.parametrize(**cases(12))
def test_every_body_split_in_two_that_are_welded(make):
    case = make()
    rng = np.random.default_rng(0)
    other = case.mechanism
    for body in case.mechanism.bodies:
        share, X = rng.uniform(0.2, 0.8), random_pose(rng)
        inertia = np.array(body.inertia)
        piece = Body(f"{body.name}_piece", share * body.mass, **seen_from(replace(body, inertia=share * inertia), X.inverse()))
        other = with_body(other, body.name, mass=(1.0 - share) * body.mass, inertia=(1.0 - share) * inertia)
        weld = Joint(f"{body.name}_weld", "fixed", body.name, piece.name, X)
        other = replace(other, bodies=(*other.bodies, piece), joints=(*other.joints, weld))
    same_dynamics(case, other)
    assert len(other.tree.links) == len(case.mechanism.tree.links)


@pytest.mark.parametrize(**seeds(12))
def test_welded_bodies_are_one_body(seed):
    """The other way: every fixed joint taken out, its body's mass added to what carries it, by the parallel-axis theorem."""
    case = random_case(seed) if seed < 10 else every_kind(seed)
    whole = case.mechanism
    for joint in reversed(case.mechanism.joints):
        if joint.kind.nv:
            continue
        child = whole.body(joint.child)
        joints = tuple(
            replace(j, parent=joint.parent, pose=joint.pose @ j.pose) if j.parent == child.name else j
            for j in whole.joints if j.name != joint.name
        )  # fmt: skip
        frames = tuple(f for f in whole.frames if f.body != child.name)
        bodies = tuple(body for body in whole.bodies if body.name != child.name)
        whole = replace(whole, joints=joints, frames=frames, bodies=bodies)
        if joint.parent != "world":
            whole = with_body(whole, joint.parent, **merged(whole.body(joint.parent), child, joint.pose))
    same_dynamics(case, whole)


def merged(a: Body, b: Body, X_AB: Transform) -> dict:
    """Mass, mass centre and inertia of two bodies as one, in the frame of the first."""
    moved = seen_from(b, X_AB)
    mass = a.mass + b.mass
    center = (a.mass * np.array(a.center_of_mass) + b.mass * moved["center_of_mass"]) / mass
    inertia = np.zeros((3, 3))
    for m, c, I in ((a.mass, a.center_of_mass, a.inertia), (b.mass, moved["center_of_mass"], moved["inertia"])):
        arm = np.array(c) - center
        inertia += np.array(I) + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return {"mass": mass, "center_of_mass": center, "inertia": inertia}


@pytest.mark.row("T-fb")
@pytest.mark.parametrize(**cases(12))
def test_a_quaternion_and_its_negative_are_one_orientation(make):
    case = make()
    kinds = {joint.name: joint.kind for joint in case.mechanism.joints}
    parts = split(case.mechanism, case.q, "nq")
    q = {n: [-x for x in own[:4]] + own[4:] for n, own in parts.items() if kinds[n].nq != kinds[n].nv}
    same_dynamics(case, case.mechanism, q=q)


@pytest.mark.row("C-j")
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "fixed"])
@pytest.mark.parametrize(**seeds(5))
def test_a_free_mechanism_held_by_another_of_its_bodies(kind, seed):
    """The root's first joint turned round, so that its child floats and carries the root: all joints accelerate alike."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, [kind, "revolute", "universal", "spherical", "prismatic"], root="floating")
    case = random_state(m, rng)
    turned = m.joint("j0")
    other = with_dh_frames(m, "root", turned.pose)  # the root's frame goes to the joint
    rewritten = {
        "j0": replace(turned, parent=turned.child, child="root", pose=Transform()),
        "base": Joint("base", "floating", "world", turned.child),
    }
    other = replace(other, joints=tuple(rewritten.get(joint.name, joint) for joint in other.joints))

    X = body_poses(m, case.q)["b0"]
    twist = list(place_twist(m.tree, link_twists(m.tree, case.q, case.v), m.tree.places["b0"]))
    tau = {**split(m, case.tau), "base": [0.0] * 6}
    a = split(m, aba(m.tree, case.q, case.v, joined(m, tau), Acting(m.gravity)))
    base = {"q": [*quaternion_of(X[:3, :3]), *X[:3, 3]], "v": twist}

    def round_(parts: dict, **changed: list[float]) -> list[float]:
        return joined(other, {**parts, "j0": [-part for part in parts["j0"]], **changed})

    q = round_(split(m, case.q, "nq"), base=base["q"])
    v = round_(split(m, case.v), base=base["v"])
    found = aba(other.tree, q, v, round_(tau), Acting(m.gravity))
    condition = np.linalg.cond(np.array(crba(m.tree, case.q))) + np.linalg.cond(np.array(crba(other.tree, q)))
    expected = round_(a)
    free = [i for i, name in enumerate(n for n, own in split(other, v).items() for _ in own) if name != "base"]
    agree(np.array(found)[free], np.array(expected)[free], case.n, scale=10.0, condition=condition)
    # and the body that now floats accelerates in the world as before
    accelerations = []
    for mechanism, q_, v_, a_ in ((m, case.q, case.v, joined(m, a)), (other, q, v, found)):
        place = mechanism.tree.places["b0"]
        J, rate = jacobian(mechanism.tree, q_, place), jacobian_rate(mechanism.tree, q_, v_, place)
        accelerations.append(np.array(J) @ a_ + np.array(rate) @ v_)
    agree(*accelerations, case.n, scale=10.0, condition=condition)


def test_the_inertia_of_a_body_does_not_depend_on_how_it_is_given():
    body = Body("b", 2.0, (0.1, -0.2, 0.3), (0.3, 0.2, 0.4))
    again = Inertia.about_center(2.0, Vector3(0.1, -0.2, 0.3), Symmetric3.diagonal(0.3, 0.2, 0.4))
    assert body.spatial_inertia() == again
