"""Three revolute joints through one point as one spherical joint: the same motion, states carried both ways, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.dynamics.hybrid import hybrid
from kumitate.model import Body, Coupling, EulerAngles, Joint, Limits, Loop, Mechanism
from kumitate.model.read.json import from_json, to_json
from kumitate.model.samples import pa10
from kumitate.papers import SphericalMerge, merge_spherical
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from ..mechanisms import agree, places, random_body, random_case, random_joint, random_rotation, seeds
from ..robots import ROBOT_FILES

DRIVE = ("armature", "damping", "friction", "stiffness", "rest")


def across(rng, axis) -> np.ndarray:
    """A random direction at right angles to another."""
    found = np.cross(rng.normal(size=3), axis)
    return found / np.linalg.norm(found)


def gimbal(rng, parent: str, child: str, *, square: bool, passive: bool) -> tuple[tuple[Joint, ...], tuple[Body, ...]]:
    """Three revolute joints g0, g1, g2 whose axes meet in a point, frames anywhere on them; two bodies without mass."""
    joints, bodies, at = [], [], rng.uniform(-0.3, 0.3, 3)  # where the axes meet, in the body before
    axis = None
    for k, name in enumerate(("ring0", "ring1", child)):
        R = random_rotation(rng)
        own = rng.normal(size=3) if axis is None or not square else R.T @ across(rng, axis)
        own /= np.linalg.norm(own)
        away = float(rng.uniform(-0.4, 0.4))
        values = {key: float(rng.uniform(0.05, 0.3)) for key in DRIVE} if passive else {}
        limits = (Limits(-0.1 * k - 1.0, 0.2 * k + 1.0, 3.0 + k, 10.0 + k),)
        X = pose(at - R @ own * away, matrix=R.tolist())
        joints.append(
            Joint(f"g{k}", "revolute", ("ring0", "ring1")[k - 1] if k else parent, name, X, own, limits=limits, **values)
        )
        bodies += [Body(name)] if name != child else []
        axis, at = own, own * away
    return tuple(joints), tuple(bodies)


def with_gimbal(seed: int, *, square: bool, passive: bool = True) -> tuple[Mechanism, np.random.Generator]:
    """A random tree, one of whose joints is a gimbal: bodies hang on what it carries, and beside it."""
    rng = np.random.default_rng(seed)
    base = random_case(seed, passive=passive).mechanism
    kinds = ("revolute", "prismatic", "universal", "revolute", "cylindrical")
    joints = [random_joint(rng, j.name, str(rng.choice(kinds)), j.parent, j.child, passive=passive) for j in base.joints]
    place = int(rng.integers(len(joints)))
    own, rings = gimbal(rng, joints[place].parent, joints[place].child, square=square, passive=passive)
    joints[place : place + 1] = own
    joints.append(random_joint(rng, "last", "revolute", own[2].child, "last", passive=passive))
    bodies = (*base.bodies, *rings, random_body(rng, "last"))
    return replace(base, bodies=bodies, joints=tuple(joints)), rng


def regular_state(merge: SphericalMerge, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, tau of the separate mechanism, away from singular angles."""
    m = merge.separate
    while True:
        q = rng.uniform(-math.pi, math.pi, m.nq)
        if min(float(np.min(d)) for d in merge.singularity(q).values()) > 0.15:
            return q, rng.normal(size=m.nv), rng.normal(size=m.nv)


def close(found, expected, tolerance: float = 1e-9) -> None:
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, float(np.abs(expected).max(initial=0.0))))


# --- the same motion ----------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f3")
@pytest.mark.parametrize(**seeds(12))
def test_by_angles_states_stay_and_all_methods_give_the_accelerations_of_the_three_joints(seed):
    mechanism, rng = with_gimbal(seed, square=seed % 2 == 0)
    merge = merge_spherical(mechanism, ["g0", "g1", "g2"])
    assert merge.exact
    assert merge.mechanism.nv == mechanism.nv
    q, v, tau = (x.tolist() for x in regular_state(merge, rng))
    g = mechanism.gravity
    a = aba(mechanism.tree, q, v, tau, Acting(g))
    tree = merge.mechanism.tree
    condition = float(np.linalg.cond(crba(mechanism.tree, q)))
    agree(crba(tree, q), crba(mechanism.tree, q), 3 * mechanism.nv)
    agree(rnea(tree, q, v, a, gravity=g), tau, 3 * mechanism.nv, scale=100.0, condition=condition)
    close(aba(tree, q, v, tau, Acting(g)), a)
    for name in {body.name for body in mechanism.bodies} - {"ring0", "ring1"}:
        agree(places(merge.mechanism, q, [name]), places(mechanism, q, [name]), 3 * mechanism.nv)


@pytest.mark.row("T-f3")
@pytest.mark.parametrize("method", [ada, dca, hybrid], ids=lambda page: page.__name__)
def test_assembling_takes_the_spherical_joint_where_it_refuses_bodies_without_mass(method):
    mechanism, rng = arm(), np.random.default_rng(3)
    for by in ("euler", "quaternion"):
        merge = merge_spherical(mechanism, by=by)
        q, v, tau = regular_state(merge, rng)
        expected = aba(mechanism.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(mechanism.gravity))
        Q, V = merge.merged(q, v)
        push = merge.merged_efforts(q, tau)
        found = method(merge.mechanism.tree, Q.tolist(), V.tolist(), push.tolist(), Acting(mechanism.gravity))
        close(merge.split_accelerations(q, v, getattr(found, "vdot", found)), expected)
    if method is not hybrid:  # within one sub-chain nobody asks for their inverse
        with pytest.raises(km.ModelError, match="no inverse"):
            method(mechanism.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(mechanism.gravity))


@pytest.mark.row("T-f3")
@pytest.mark.parametrize(**seeds(8))
def test_by_a_quaternion_states_efforts_and_accelerations_are_carried_over_both_ways(seed):
    mechanism, rng = with_gimbal(seed, square=True, passive=False)
    merge = merge_spherical(mechanism, [["g0", "g1", "g2"]], by="quaternion")
    q, v, tau = regular_state(merge, rng)
    Q, V = merge.merged(q, v)
    push = merge.merged_efforts(q, tau)
    assert push @ V == pytest.approx(tau @ v, abs=1e-10)  # of equal power
    back_q, back_v = merge.split(Q, V, near=q)
    close(back_q, q)
    close(back_v, v)
    close(merge.split_efforts(q, push), tau)
    a = np.array(aba(mechanism.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(mechanism.gravity)))
    A = aba(merge.mechanism.tree, Q.tolist(), V.tolist(), push.tolist(), Acting(mechanism.gravity))
    close(A, merge.merged_accelerations(q, v, a))
    close(merge.split_accelerations(q, v, A), a)
    # a batch is its rows
    close(merge.merged(np.array([q, q]), np.array([v, 2.0 * v]))[1], [V, 2.0 * V])
    assert merge.mechanism.nq == mechanism.nq + 1


def arm(*, limits: bool = False, by_rings: float = 0.0) -> Mechanism:
    """A shoulder of three joints about z, y, x with rings without mass (or of `by_rings` kg), an elbow, a wrist of y, z, y."""
    revolute, z, y, x = "revolute", (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    own = (Limits(-2.0, 2.0),) if limits else ()
    bodies = (
        Body("ring1", by_rings), Body("ring2", by_rings), Body("upper", 2.0, (0.0, 0.02, -0.15), (0.02, 0.03, 0.01)),
        Body("lower", 1.0, (0.0, 0.0, -0.12), (0.01, 0.012, 0.004)), Body("cross1"), Body("cross2"),
        Body("hand", 0.5, (0.01, 0.0, -0.05), (0.001, 0.002, 0.0015)),
    )  # fmt: skip
    joints = (
        Joint("yaw", revolute, "world", "ring1", pose((0.0, 0.0, 1.0)), z, limits=own),
        Joint("pitch", revolute, "ring1", "ring2", axis=y, limits=own),
        Joint("roll", revolute, "ring2", "upper", axis=x, limits=own),
        Joint("elbow", revolute, "upper", "lower", pose((0.0, 0.0, -0.3)), y),
        Joint("w1", revolute, "lower", "cross1", pose((0.0, 0.0, -0.25)), y),
        Joint("w2", revolute, "cross1", "cross2", axis=z),
        Joint("w3", revolute, "cross2", "hand", pose((0.0, 0.1, 0.0)), y),
    )
    return Mechanism("arm", bodies, joints)


@pytest.mark.row("T-f3")
@pytest.mark.parametrize("by", ["euler", "quaternion"])
def test_simulated_motions_are_those_of_the_three_joints(by):
    merge = merge_spherical(arm(), by=by)
    assert [ball.name for ball in merge.balls] == ["yaw+pitch+roll", "w1+w2+w3"]
    q, v = np.array([0.3, 0.4, -0.2, 0.5, 0.2, 0.9, 0.3]), np.array([0.5, -0.4, 0.3, 1.0, -0.5, 0.6, 0.4])
    options = {"duration": 0.3, "step": 1e-3, "integrator": "rkf45"}
    before = simulate(merge.separate, q, v, **options)
    after = simulate(merge.mechanism, *merge.merged(q, v), **options)
    found_q, found_v = merge.split(after.q, after.v, near=q)
    distances = merge.singularity(before.q)
    assert min(float(d.min()) for d in distances.values()) > 0.3  # the comparison is one of rounding and truncation
    assert np.abs(before.q[-1] - before.q[0]).max() > 0.3
    close(found_q, before.q)
    close(found_v, before.v)
    close(after.energy.total, before.energy.total)


# --- near singular angles ---------------------------------------------------------------------------------------------
def top() -> Mechanism:
    """A body that turns freely about its mass centre in a gimbal z, y, x without mass: no gravity, and nothing to resist."""
    axes = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    names = ("world", "ring1", "ring2", "top")
    joints = tuple(Joint(f"g{k}", "revolute", names[k], names[k + 1], axis=axis) for k, axis in enumerate(axes))
    bodies = (Body("ring1"), Body("ring2"), Body("top", 1.0, inertia=(0.2, 0.25, 0.3)))
    return Mechanism("top", bodies, joints, gravity=(0.0, 0.0, 0.0))


@pytest.mark.row("T-f3")
def test_near_singular_angles_the_quaternion_passes_and_the_angles_agree_and_say_so():
    """The second angle passes 90 deg with the axes about 0.01 rad from falling together."""
    by_angles, by_quaternion = merge_spherical(top()), merge_spherical(top(), by="quaternion")
    q, v = np.array([0.2, 1.2, 0.01]), np.array([0.05, 1.0, 0.0])
    options = {"duration": 0.8, "step": 1e-3, "integrator": "rkf45_adaptive", "tolerance": 1e-12}
    runs = [simulate(merge.mechanism, *merge.merged(q, v), **options) for merge in (by_angles, by_quaternion)]
    nearest = float(by_angles.singularity(runs[0].q)["g0+g1+g2"].min())
    assert nearest < 0.02
    assert any("singularity" in note for note in runs[0].audit.notes)
    assert not any("singularity" in note for note in runs[1].audit.notes)
    assert np.abs(runs[0].v).max() > 50.0 * np.abs(runs[1].v).max()  # rates race where the body turns evenly
    angles, rates = by_quaternion.split(runs[1].q, runs[1].v, near=q)
    assert np.abs(angles - runs[0].q).max() < 1e-6  # errors grow by the inverse square of the distance
    assert np.abs(rates - runs[0].v).max() < 1e-6 * np.abs(runs[0].v).max() / nearest
    assert runs[1].audit.energy_drift < 1e-12


@pytest.mark.row("T-f3")
def test_through_singular_angles_the_quaternion_passes_while_angles_stay_finite_by_damping_only():
    merge = merge_spherical(top(), by="quaternion")
    q, v = np.array([0.3, math.pi / 2.0 - 0.4, 0.0]), np.array([0.0, 1.0, 0.0])
    run = simulate(merge.mechanism, *merge.merged(q, v), duration=0.8, step=1e-3, integrator="rkf45")
    assert run.audit.energy_drift < 1e-13
    angles, rates = merge.split(run.q, run.v, near=q, damping=1e-3)
    assert np.abs(rates).max() < 1.0 + 1e-8
    np.testing.assert_allclose(angles[:, 1], q[1] + run.time, atol=1e-8)  # it turns about the second axis, through
    np.testing.assert_allclose(angles[:, [0, 2]], np.tile(q[[0, 2]], (len(run.time), 1)), atol=1e-6)
    assert float(merge.singularity(angles)["g0+g1+g2"].min()) < 1e-3
    # exactly there, a turn about the axis that is lost: no angles have it
    Q = merge.merged([0.3, math.pi / 2.0, 0.1])
    lost = merge.balls[0].angles.subspace([0.3, math.pi / 2.0, 0.1])
    spin = np.cross(list(lost[1].angular), list(lost[2].angular)) + 1e-3 * np.array(list(lost[1].angular))
    assert not np.abs(merge.split(Q, spin)[1]).max() < 1e6
    assert np.abs(merge.split(Q, spin, damping=0.02)[1]).max() < 1.0 / 0.02


@pytest.mark.parametrize(**seeds(5))
def test_consistent_rates_keep_the_direction_and_bound_the_speed(seed):
    rng = np.random.default_rng(seed)
    kind, omega, damping = EulerAngles("zxy"), rng.normal(size=3), 0.05
    for away in (1.0, 0.1, 1e-2, 1e-4, 1e-8):
        q = [float(rng.uniform(-3, 3)), math.pi / 2.0 - math.asin(away) if away < 1.0 else 0.0, float(rng.uniform(-3, 3))]
        d = kind.singularity(q)
        exact, damped = (np.array(kind.consistent_rates(q, omega, x)) for x in (0.0, damping))
        S = np.array([list(motion.angular) for motion in kind.subspace(q)]).T
        if away > 1e-6:
            close(S @ exact, omega, 1e-9)  # without damping: the rates that turn with ω
        close(damped, exact * d * d / (d * d + damping * damping), 1e-9)
        assert np.abs(damped).max() <= 2.0 * np.linalg.norm(omega) / (2.0 * damping)


# --- limits and passive forces --------------------------------------------------------------------------------------------
def test_limits_stay_those_of_the_angles():
    merge = merge_spherical(arm(limits=True))
    assert merge.mechanism.joint("yaw+pitch+roll").limits == (Limits(-2.0, 2.0),) * 3
    by_quaternion = merge_spherical(arm(limits=True), ["yaw", "pitch", "roll"], by="quaternion")
    Q = by_quaternion.merged([2.3, 0.2, -0.1, 0.0, 0.0, 0.0, 0.0])
    beyond = by_quaternion.beyond_limits(by_quaternion.split(Q))
    assert beyond["yaw"] == pytest.approx(0.3)
    assert beyond["pitch"] == beyond["roll"] == 0.0
    assert set(beyond) == {"yaw", "pitch", "roll"}


def test_angles_are_followed_over_half_turns_and_beyond_the_usual_range():
    merge = merge_spherical(top(), by="quaternion")
    t = np.linspace(0.0, 4.0, 400)
    q = np.column_stack([2.0 * t, 0.9 + 1.3 * np.sin(t), -1.5 * t])  # the second passes 90 deg where the others turn too
    close(merge.split(merge.merged(q), near=q[0]), q, 1e-6)


def test_the_merged_mechanism_is_written_and_read_back():
    mechanism, _ = with_gimbal(1, square=False)
    merged = merge_spherical(mechanism, ["g0", "g1", "g2"]).mechanism
    again = from_json(to_json(merged))
    assert again.joint("g0+g1+g2").kind == merged.joint("g0+g1+g2").kind
    assert to_json(again) == to_json(merged)


# --- bodies with mass ---------------------------------------------------------------------------------------------------
def test_a_point_where_the_axes_meet_may_weigh_something():
    merge = merge_spherical(arm(by_rings=0.7), ["yaw", "pitch", "roll"])
    assert merge.exact
    rng = np.random.default_rng(0)
    q, v, tau = (x.tolist() for x in regular_state(merge, rng))
    trees = (merge.separate.tree, merge.mechanism.tree)
    first, second = (aba(tree, q, v, tau, Acting(merge.separate.gravity)) for tree in trees)
    close(second, first)
    assert sum(body.mass for body in merge.mechanism.bodies) == sum(body.mass for body in merge.separate.bodies)


def test_bodies_with_mass_are_refused_and_lumped_when_asked():
    with pytest.raises(km.ModelError, match=r"'link1' weighs 9.78 kg.*lies between 'joint1' and 'joint3'.*lump=True"):
        merge_spherical(pa10(), ["joint1", "joint2", "joint3"])
    with pytest.raises(km.ModelError, match=r"nothing to merge: 'link1' weighs"):
        merge_spherical(pa10())
    merge = merge_spherical(pa10(), lump=True)
    assert not merge.exact
    assert [ball.joints for ball in merge.balls] == [("joint1", "joint2", "joint3"), ("joint5", "joint6", "joint7")]
    assert any("approximate: 'link6' weighs 1.46 kg" in line for line in merge.lines())
    # at zero angles and rates, what turns with all three is where it was
    q = [0.0] * 7
    masses = [crba(m.tree, q) for m in (merge.separate, merge.mechanism)]
    assert masses[1][3][3] == pytest.approx(masses[0][3][3])  # the elbow carries the same


# --- what is refused ------------------------------------------------------------------------------------------------------
def changed(**changes) -> Mechanism:
    return replace(arm(), **changes)


def refused_cases():
    m = arm()
    bodies, joints = m.bodies, m.joints

    def joint(name, **changes):
        return changed(joints=tuple(replace(j, **changes) if j.name == name else j for j in joints))

    names = ["yaw", "pitch", "roll"]
    branch = changed(bodies=(*bodies, Body("camera", 0.1)), joints=(*joints, Joint("mount", "fixed", "ring2", "camera")))
    looped = changed(loops=(Loop("rope", "spherical", "ring1", "hand"),))
    geared = changed(couplings=(Coupling("gear", "elbow", "pitch", 2.0),))
    return {
        "branch": (branch, names, "euler", r"the joint 'mount' holds on to 'ring2'"),
        "loop": (looped, names, "euler", r"the loop 'rope' holds on to 'ring1'"),
        "gear": (geared, names, "euler", r"the coupling 'gear' is between single angles"),
        "not revolute": (joint("pitch", kind="prismatic"), names, "euler", r"'pitch' is a prismatic joint"),
        "apart": (joint("roll", pose=pose((0.0, 0.02, 0.0))), names, "euler", r"pass 0\.01\d* m from a common point"),
        "parallel": (joint("pitch", axis=(0.0, 0.0, 1.0)), names, "euler", r"two neighbours are parallel"),
        "not in a row": (m, ["yaw", "pitch", "elbow"], "euler", r"not three joints one after the other"),
        "two": (m, ["yaw", "pitch"], "euler", r"not three joints one after the other"),
        "no joint": (m, ["yaw", "pitch", "rol"], "euler", r"no joint 'rol'; did you mean 'roll'"),
        "twice": (m, [names, names], "euler", r"named in two triples"),
        "damped": (joint("roll", damping=0.1), names, "quaternion", r"'roll' has damping 0\.1, which acts on its own angle"),
        "oblique": (joint("pitch", axis=(0.0, 1.0, 0.3)), names, "quaternion", r"not at right angles"),
        "by": (m, names, "axis", r'by "euler" or by "quaternion", not by \'axis\''),
    }  # fmt: skip


@pytest.mark.parametrize("case", refused_cases())
def test_what_cannot_be_merged_says_why(case):
    mechanism, names, by, message = refused_cases()[case]
    with pytest.raises(km.ModelError, match=message):
        merge_spherical(mechanism, names, by=by)


def test_others_are_merged_where_one_triple_cannot_be():
    mechanism = replace(
        arm(), bodies=tuple(replace(b, mass=1.0, center_of_mass=(0.1, 0, 0)) if b.name == "ring2" else b for b in arm().bodies)
    )
    merge = merge_spherical(mechanism)
    assert [ball.name for ball in merge.balls] == ["w1+w2+w3"]
    assert len(merge.refused) == 1
    assert "'ring2' weighs 1 kg" in merge.refused[0]


@pytest.mark.parametrize(
    "axes", ["zy", "zzz", "zxx", ((0, 0, 1), (0, 0, 2), (1, 0, 0)), ((0, 0, 0), (0, 1, 0), (1, 0, 0)), "abc"]
)
def test_axes_that_are_none_are_refused(axes):
    with pytest.raises(km.ModelError, match="euler_angles"):
        EulerAngles(axes)


# --- a model from a file ----------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f3")
def test_the_hips_and_shoulders_of_a_human_model():
    """Its joints between trunk and limbs are triples with links without mass between."""
    mechanism = km.load(ROBOT_FILES / "human_description/robots/human.urdf", fix_inertia=True).mechanism
    merge = merge_spherical(mechanism)
    assert len(merge.balls) == 6
    assert merge.exact
    rng = np.random.default_rng(0)
    q, v, tau = (x.tolist() for x in regular_state(merge, rng))
    expected = aba(mechanism.base_parameter_tree, q, v, tau, Acting(mechanism.gravity))
    close(aba(merge.mechanism.base_parameter_tree, q, v, tau, Acting(mechanism.gravity)), expected, 1e-8)
