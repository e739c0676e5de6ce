"""The force at every joint of mechanisms with loops: it balances every body, and what the motion leaves open is least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import LoopEquations, constraint_report
from kumitate.dynamics import Acting, aba_with_loops
from kumitate.kinematics import integrate, link_poses, link_twists, place_pose, place_twist
from kumitate.model import Body, Coupling, Distance, Frame, Joint, Loop, Mechanism
from kumitate.programs import PROGRAMS
from kumitate.spatial import pose

from ..mechanisms import (
    Case,
    Linkage,
    agree,
    closed_cases,
    near,
    places,
    random_linkage,
    random_mechanism,
    random_pose,
    random_ring,
    random_rotation,
    random_state,
    seeds,
    slope,
)

RINGS = {
    "spatial": (["revolute", "universal", "spherical", "revolute", "revolute", "prismatic"], {}),
    "angles": (["revolute", "spherical_euler", "universal", "cylindrical", "revolute"], {}),
    "welded": (["revolute", "fixed", "spherical", "universal", "revolute", "revolute"], {}),
    "four-bar": (["revolute", "revolute", "revolute", "revolute"], {"planar": True}),
    "slider": (["revolute", "revolute", "revolute", "prismatic"], {"planar": True}),
    "six-bar": (["revolute"] * 6, {"planar": True}),
    "floating": (["revolute", "revolute", "revolute", "revolute"], {"planar": True, "base": "floating"}),
}
LADDER = [
    ("revolute", "world", "b0"), ("revolute", "b0", "b1"), ("revolute", "b1", "b2"), ("revolute", "b2", "world"),
    ("revolute", "b1", "b3"), ("revolute", "b3", "world"),
]  # fmt: skip


def wrenches(case: Case, efforts: dict, *, in_world: bool = True) -> dict[str, np.ndarray]:
    """What `Robot.joint_wrenches` computes, on floats."""
    m = case.mechanism
    page, _ = PROGRAMS["joint_wrenches"](m, in_world=in_world, loop_tau=tuple(efforts))
    rows = np.array(page(case.q, case.v, case.tau, *efforts.values()), dtype=float)
    return dict(zip([*(link.name for link in m.tree.links), *(loop.name for loop in m.loops)], rows, strict=True))


def at(wrench: np.ndarray, point) -> np.ndarray:
    """A wrench about a point, about the world's origin."""
    return np.concatenate([wrench[:3] + np.cross(point, wrench[3:]), wrench[3:]])


def by_hinge(linkage: Linkage, case: Case, efforts: dict) -> dict[str, np.ndarray]:
    """The wrench in the world, about its origin, of each hinge on its body b: whichever end the cut calls the child."""
    carried, found = {joint.name: joint.child for joint in case.mechanism.joints}, {}
    hinges = {hinge.name: hinge for hinge in linkage.hinges}
    for name, wrench in wrenches(case, efforts).items():
        h = hinges[name]
        turned = carried.get(name, h.b) != h.b
        X = linkage.poses[h.a] @ h.pose_a if turned else linkage.poses[h.b] @ h.pose_b
        found[name] = at(wrench, list(X.translation)) * (-1.0 if turned else 1.0)
    return found


def same(linkage: Linkage, found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Fails unless wrenches agree to 1e-9 of the largest of them, or of the weight of all bodies."""
    weight = 9.81 * sum(body.mass for body in linkage.bodies)
    near(*(np.array([wrenches[name] for name in expected]) / weight for wrenches in (found, expected)), 1e-9)


# --- what does not matter -------------------------------------------------------------------------------------------------
@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize(**seeds(4))
def test_the_same_forces_wherever_the_loop_is_cut(seed, ring):
    # least-norm parts included: the planar ones hold three stresses that the motion does not determine
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    cuts = [[hinge.name] for hinge in linkage.hinges if hinge.kind not in ("floating", "fixed")]
    first, *others = (by_hinge(linkage, *driven) for driven in closed_cases(seed, linkage, *cuts))
    for other in others:
        same(linkage, other, first)


@pytest.mark.row("T-sing")
@pytest.mark.parametrize(**seeds(6))
def test_the_same_forces_however_bodies_and_loops_are_numbered(seed):
    linkage = random_linkage(seed, LADDER, planar=True)
    order = np.random.default_rng(seed).permutation([hinge.name for hinge in linkage.hinges]).tolist()
    cuts = (["h3", "h5"], ["h5", "h3"], ["h0", "h2"], ["h1", "h4"])
    first, *_ = (by_hinge(linkage, *driven) for driven in closed_cases(seed, linkage, *cuts))
    for driven in closed_cases(seed, linkage, *cuts, order=order):
        same(linkage, by_hinge(linkage, *driven), first)


@pytest.mark.row("T-sing")
@pytest.mark.parametrize(**seeds(4))
def test_forces_turn_with_the_world(seed):
    linkage = random_ring(seed, ["revolute"] * 4, planar=True)
    case, efforts = closed_cases(seed, linkage, ["h1"])[0]
    m, turn = case.mechanism, pose((0.2, 0.1, -3.0), matrix=random_rotation(np.random.default_rng(seed)).tolist())
    R = np.array(turn.matrix(), dtype=float)[:3, :3]

    def grounded(item, body: str, key: str):
        return replace(item, **{key: (turn @ getattr(item, key)).dense()}) if body == "world" else item

    joints = tuple(grounded(joint, joint.parent, "pose") for joint in m.joints)
    loops = tuple(grounded(grounded(loop, loop.body_a, "pose_a"), loop.body_b, "pose_b") for loop in m.loops)
    turned = replace(case, mechanism=replace(m, joints=joints, loops=loops, gravity=tuple(R @ m.gravity)))
    here, there = wrenches(case, efforts), wrenches(turned, efforts)
    for name, wrench in here.items():
        near(there[name], np.concatenate([R @ wrench[:3], R @ wrench[3:]]), 1e-9)


# --- balance --------------------------------------------------------------------------------------------------------------
def momenta(mechanism: Mechanism, q, v) -> dict[str, np.ndarray]:
    """[l about the world's origin; p] of every body as written."""
    tree, found = mechanism.tree, {}
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    for body in mechanism.bodies:
        X = np.array(place_pose(tree, poses, tree.places[body.name]).matrix(), dtype=float)
        twist = np.array(list(place_twist(tree, twists, tree.places[body.name])), dtype=float)
        omega, v_origin, center = X[:3, :3] @ twist[:3], X[:3, :3] @ twist[3:], X[:3, :3] @ np.array(body.center_of_mass)
        p = body.mass * (v_origin + np.cross(omega, center))
        spin = X[:3, :3] @ np.array(body.inertia) @ twist[:3]
        found[body.name] = np.concatenate([spin + np.cross(X[:3, 3] + center, p), p])
    return found


def check_balance(case: Case, efforts: dict) -> None:
    """Newton's and Euler's laws: what joints, loops and gravity exert on a body is the rate of its momentum."""
    m, v = case.mechanism, np.array(case.v)
    a = np.array(aba_with_loops(m.tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts)), dtype=float)
    names = [body.name for body in m.bodies]

    def along(t: float) -> np.ndarray:
        now = momenta(m, integrate(m.tree, case.q, (t * v).tolist()), (v + t * a).tolist())
        return np.array([now[name] for name in names])

    where = dict(zip(names, places(m, case.q, names), strict=True))
    total = {"world": np.zeros(6)}
    for body in m.bodies:
        X = where[body.name]
        weight = np.array([0.0, 0.0, 0.0, *(body.mass * np.array(m.gravity))])
        total[body.name] = at(weight, X[:3, 3] + X[:3, :3] @ np.array(body.center_of_mass))
    held = [(joint.name, joint.parent, joint.child, np.eye(4)) for joint in m.joints]
    held += [(loop.name, loop.body_a, loop.body_b, np.array(loop.pose_b.matrix(), dtype=float)) for loop in m.loops]
    exerted = wrenches(case, efforts)
    for name, a_name, b_name, end in held:
        wrench = at(exerted[name], ((where[b_name] if b_name != "world" else np.eye(4)) @ end)[:3, 3])
        total[b_name] = total[b_name] + wrench
        total[a_name] = total[a_name] - wrench
    near(slope(along), np.array([total[name] for name in names]), 1e-8)


@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", [name for name in RINGS if name != "welded"])
@pytest.mark.parametrize(**seeds(3))
def test_the_forces_balance_every_body(seed, ring):
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    loops = [hinge.name for hinge in linkage.hinges if hinge.kind != "floating"]
    check_balance(*closed_cases(seed, linkage, [loops[seed % len(loops)]])[0])


@pytest.mark.parametrize(**seeds(4))
def test_the_forces_balance_where_a_weld_and_rods_and_gears_hold(seed):
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "revolute", "spherical", "prismatic", "universal", "revolute"]
    case = random_state(random_mechanism(rng, kinds, chain=True), rng)
    m, loops = case.mechanism, []
    for k, (a, b) in enumerate((("world", "b5"), ("b0", "b4"))):
        X_a, X_b = random_pose(rng), random_pose(rng)
        A, B = (np.array(X.matrix()) if n == "world" else places(m, case.q, [n])[0] @ np.array(X.matrix())
                for n, X in ((a, X_a), (b, X_b)))  # fmt: skip
        loops.append(Loop(f"rod{k}", Distance(float(np.linalg.norm(A[:3, 3] - B[:3, 3]))), a, b, X_a, X_b))
    gear = Coupling("gear", "j1", "j0", -1.7, case.q[1] + 1.7 * case.q[0])
    m = replace(m, loops=tuple(loops), couplings=(gear,))
    J = LoopEquations(m).state(case.q, case.v).J
    v = case.v - np.linalg.pinv(J) @ (J @ case.v)
    check_balance(replace(case, mechanism=m, v=v.tolist()), {})


# --- what is left open ----------------------------------------------------------------------------------------------------
def idle_stresses(case: Case) -> dict[str, np.ndarray]:
    """By joint, (stresses, 6): how wrenches change by each stress that the loops can hold without moving anything.

    In the frames and axes that `joint_wrenches` reports. The stress is applied from outside on the opened tree.
    """
    m = case.mechanism
    J = LoopEquations(m).state(case.q, case.v).J
    U, s, _ = np.linalg.svd(J)
    stresses = U[:, (s > 1e-9 * s[0]).sum() :].T
    units = {loop.name: [] for loop in m.loops}
    for row in LoopEquations(m).rows(case.q, case.v):
        chord = next(chord for chord in m.tree.chords if chord.name == row.owner)
        units[row.owner].append([float(x) for x in row.unit.to_parent(chord.turn)])
    ends = [Frame(f"{lo.name}.{end}", getattr(lo, f"body_{end}"), getattr(lo, f"pose_{end}")) for lo in m.loops for end in "ab"]
    opened = replace(m, loops=(), frames=tuple(ends))
    names = [frame.name for frame in ends]
    page, _ = PROGRAMS["joint_wrenches"](opened, wrenches=names)
    poses = dict(zip(names, places(opened, case.q, names), strict=True))

    def loaded(stress: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        parts, applied, own = iter(stress), [], []
        for loop in m.loops:
            unit = np.array(units[loop.name]).reshape(-1, 6)
            force = np.array([next(parts) for _ in unit]) @ unit
            X_a, X_b = poses[f"{loop.name}.a"], poses[f"{loop.name}.b"]
            n, f = X_b[:3, :3] @ force[:3], X_b[:3, :3] @ force[3:]
            applied += [-np.concatenate([n + np.cross(X_b[:3, 3] - X_a[:3, 3], f), f]), np.concatenate([n, f])]
            own.append(force)
        return np.array(page(case.q, case.v, case.tau, *(w.tolist() for w in applied)), dtype=float), own

    rest, _ = loaded(np.zeros(len(J)))
    changes = {name: [] for name in (*(link.name for link in m.tree.links), *(loop.name for loop in m.loops))}
    for stress in stresses:
        of_tree, own = loaded(stress)
        for name, change in zip(changes, [*(of_tree - rest), *own], strict=True):
            changes[name].append(change)
    return {name: np.array(change).reshape(-1, 6) for name, change in changes.items()}


@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", [name for name in RINGS if name != "welded"])
@pytest.mark.parametrize(**seeds(2))
def test_the_report_knows_which_components_idle_stresses_change(seed, ring):
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    loop = [hinge.name for hinge in linkage.hinges if hinge.kind != "floating"][1 + seed]
    case, _ = closed_cases(seed, linkage, [loop])[0]
    report = constraint_report(LoopEquations(case.mechanism), np.array(case.q))
    stresses = idle_stresses(case)
    assert report.redundant == len(next(iter(stresses.values()))) == (3 if "planar" in options else 0)
    for name, change in stresses.items():
        touched = np.abs(change).max(axis=0, initial=0.0)
        assert not ((touched > 1e-12) & (touched < 1e-4)).any()  # a clear decision
        assert report.determined[name] == tuple(bool(x) for x in touched < 1e-8), name


def measured(case: Case, all_wrenches: dict[str, np.ndarray]) -> np.ndarray:
    """The components whose squares the norm adds up: [n_M/(√2 ℓ), n_F/(√2 ℓ), f] of every joint, n about its two ends."""
    m, size, parts = case.mechanism, case.mechanism.tree.size, []
    chords = {chord.name: chord for chord in m.tree.chords}
    ends: dict[str, np.ndarray] = {}
    names = [frame.name for frame in m.frames] + [body.name for body in m.bodies]
    where = dict(zip(names, places(m, case.q, names), strict=True)) | {"world": np.eye(4)}
    for joint in m.joints:
        F = where[joint.parent] @ np.array(joint.pose.matrix(), dtype=float)
        ends[joint.name] = (np.linalg.inv(where[joint.child]) @ F)[:3, 3]
    for loop in m.loops:
        F, M = (
            where[b] @ np.array(X.matrix(), dtype=float) for b, X in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
        )
        ends[loop.name] = (np.linalg.inv(M) @ F)[:3, 3]
    for name, wrench in all_wrenches.items():
        if name in chords and chords[name].closure.rows == 6:
            continue
        n, f = wrench[..., :3], wrench[..., 3:]
        about_F = n - np.cross(ends[name], f)
        parts.append(np.concatenate([n / (np.sqrt(2.0) * size), about_F / (np.sqrt(2.0) * size), f], axis=-1))
    return np.concatenate(parts, axis=-1)


@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", ["four-bar", "slider", "six-bar", "floating"])
@pytest.mark.parametrize(**seeds(3))
def test_any_idle_stress_more_makes_the_norm_larger(seed, ring):
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    loop = [hinge.name for hinge in linkage.hinges if hinge.kind != "floating"][seed]
    case, efforts = closed_cases(seed, linkage, [loop])[0]
    shown = measured(case, wrenches(case, efforts, in_world=False))
    stresses = measured(case, idle_stresses(case))
    assert len(stresses) == 3
    every_direction = np.linalg.qr(stresses.T)[0]  # of idle stresses, whichever of them were found
    # rounding in them grows as sweeps over damping: 6/1e-5 ε, here six to 24 times that, by the processor
    near(every_direction.T @ shown, np.zeros(3), 1e-8 * np.linalg.norm(shown))
    for change in np.random.default_rng(seed).normal(size=(5, 3)) @ stresses:
        assert np.linalg.norm(shown + change) > np.linalg.norm(shown)


@pytest.mark.row("T-sing")
def test_a_door_hangs_on_both_its_hinges_alike():
    """Two hinges in line hold five forces too many; the weight is shared, and levers it about their middle."""
    door = Body("door", 8.0, (0.4, 0.0, 0.0), (0.3, 0.5, 0.2))
    upper = Joint("upper", "revolute", "world", "door", pose((0.0, 0.0, 0.9)))
    hung = replace(door, center_of_mass=(0.4, 0.0, -0.9))
    lower = Loop("lower", "revolute", "world", "door", pose((0.0, 0.0, -0.9)), pose((0.0, 0.0, -1.8)))
    m = Mechanism("door", (hung,), (upper,), (lower,))
    found = wrenches(Case(m, [0.7], [0.0], [0.0], []), {}, in_world=False)
    weight, arm = 8.0 * 9.81, 0.4
    for name in ("upper", "lower"):
        assert found[name][5] == pytest.approx(weight / 2.0, rel=1e-9)
    # the lever arm: a couple of forces 1.8 m apart, and moments that make the sum of squares least
    force, moment = found["upper"][3], found["upper"][1]
    agree(found["lower"][[3, 1]], [-force, moment], 10, scale=1e4)
    assert 1.8 * force + 2.0 * moment == pytest.approx(-weight * arm, rel=1e-9)
    size = m.tree.size
    assert size == pytest.approx(1.8)
    # 2 f² + 2 n²/ℓ² is least for the given ℓ f + 2 n where n = 2 ℓ f
    assert moment / force == pytest.approx(2.0 * size, rel=1e-9)


@pytest.mark.row("T-sing")
@pytest.mark.parametrize(**seeds(3))
def test_two_joints_where_one_would_do_share_the_force(seed):
    case, _ = closed_cases(seed, random_ring(seed, RINGS["spatial"][0]), ["h2"])[0]
    m = case.mechanism
    loop = replace(m.loops[0], armature=0.0, damping=0.0, friction=0.0)
    twice = replace(case, mechanism=replace(m, loops=(loop, replace(loop, name="again"))))
    found = wrenches(twice, {}, in_world=False)
    weight = 9.81 * sum(body.mass for body in m.bodies)
    near(found["h2"] / weight, found["again"] / weight, 1e-9)
    alone = wrenches(replace(case, mechanism=replace(m, loops=(loop,))), {}, in_world=False)
    near(2.0 * found["h2"], alone["h2"], 1e-8)
