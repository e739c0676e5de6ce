"""Laws over random mechanisms with loops, rods, gears, springs, drives and stops, for `on_demand`.

Laws of a state compare accelerations, written otherwise or by other routes; laws of motions simulate a twentieth of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import kumitate as km
from kumitate.analysis import LoopEquations, kinetic_energy, potential_energy
from kumitate.dynamics import Acting, aba_with_loops, crba, factored_with_loops
from kumitate.kinematics import chord_closing
from kumitate.model import Body, EffortDrive, Joint, Limits, Mechanism, PositionDrive
from kumitate.model.edits import recut, recuts
from kumitate.spatial import Transform, pose

from ..mechanisms import Case, random_pose, random_rotation, seen_from, slope, split, with_body
from . import test_closed_loops as closed
from .test_closed_loops import HOLDING, by_dense_equations, chord_rates, consistent, dry, tangent

#: Of accelerations, relative to the largest, for routes that solve with the rows of loops.
ROUTES, DENSE = 1e-9, 1e-6
#: Kinds whose coordinates do not change where a joint is turned round, and are one number for one direction.
SCREWS = ("revolute", "prismatic", "fixed")


def drawn(seed: int) -> Case:
    """A mechanism with loops in a state that they allow; every other one with springs that are stiffer."""
    families = (closed.flat, closed.floating, closed.mesh, closed.rods_and_gears, closed.twice)
    if seed % 3 == 2:
        return closed.one_loop(seed, HOLDING[seed // 3 % len(HOLDING)])[0]
    return families[seed % len(families)](seed)[0]


def apart(found, exact, bound: float) -> float:
    """The largest difference as a part of a bound on what is relative to the largest; infinite where it is not a number."""
    exact = np.asarray(exact, dtype=float)
    difference = float(np.abs(np.asarray(found, dtype=float) - exact).max(initial=0.0))
    part = difference / (bound * max(1.0, float(np.abs(exact).max(initial=0.0))))
    return part if np.isfinite(part) else float("inf")


def easy(case: Case) -> float:
    """How well conditioned rows and inertia are: differences are allowed to grow with it, at least 1."""
    J = LoopEquations(case.mechanism).state(case.q, case.v).J
    sizes = np.linalg.svd(J, compute_uv=False) if len(J) else np.ones(1)
    sizes = sizes[sizes > 1e-9 * sizes.max(initial=1e-300)]
    rows = float(sizes.max(initial=1.0) / sizes.min(initial=1.0))
    return max(1.0, rows**2 / 1e2) * max(1.0, float(np.linalg.cond(np.array(crba(case.mechanism.tree, case.q)))) / 1e3)


def accelerated(mechanism: Mechanism, q, v, tau) -> np.ndarray:
    """The accelerations by articulated bodies, which also holds loops."""
    return np.array(aba_with_loops(mechanism.tree, list(q), list(v), list(tau), Acting(mechanism.gravity)), dtype=float)


def of(case: Case, mechanism: Mechanism | None = None) -> np.ndarray:
    """The accelerations of a case, or of another mechanism in its state."""
    return accelerated(mechanism or case.mechanism, case.q, case.v, case.tau)


# --- laws of a state ----------------------------------------------------------------------------------------------------
def dense_equations(case: Case) -> float:
    """Accelerations are those of the whole system of equations, whose derivatives are differences."""
    return apart(of(case), by_dense_equations(case, {}), DENSE * easy(case))


def routes_with_loops(case: Case) -> float:
    """Base parameters, and the factors of the inertia matrix, give the same."""
    m, acting = case.mechanism, Acting(case.mechanism.gravity)
    exact, bound = of(case), ROUTES * easy(case)
    found = [aba_with_loops(m.base_parameter_tree, case.q, case.v, case.tau, acting)]
    found.append(factored_with_loops(crba, m.tree, case.q, case.v, case.tau, acting))
    return max(apart(a, exact, bound) for a in found)


def loops_stay_closed(case: Case) -> float:
    """The rates of all loops stay zero along the motion."""
    equations, moving = LoopEquations(case.mechanism), tangent(case, of(case))
    rates = slope(lambda t: equations.state(*moving(t)).rate)
    scale = max(1.0, np.abs(of(case)).max(initial=0.0), np.abs(equations.state(case.q, case.v).J).max(initial=0.0))
    return apart(rates / scale, np.zeros(len(rates)), 1e-7 * easy(case))


def power_is_the_rate_of_energy(case: Case) -> float:
    """What acts along the velocities changes the energy, and nothing else: loops do no work."""
    m, moving = case.mechanism, tangent(case, of(case))

    def energy(t: float) -> float:
        q, v = moving(t)
        return kinetic_energy(m.tree, q, v) + potential_energy(m.tree, q, m.gravity)

    power, own = float(np.dot(case.tau, case.v)), split(m, case.v)
    rates = [(chord_rates(m, case.q, case.v, loop.name), loop) for loop in m.loops if loop.kind.nv]
    for speeds, item in (*rates, *((np.array(own[joint.name]), joint) for joint in m.joints)):
        power -= float(speeds @ (np.array(item.damping) * speeds + dry(np.array(item.friction), speeds)))
    return apart(slope(energy), power, 1e-6 * easy(case))


def cut_elsewhere(case: Case) -> float:
    """Another joint of the loop closes it instead: the others accelerate alike."""
    m = case.mechanism
    items = (*m.joints, *m.loops)
    if m.couplings or any(item.kind.name not in SCREWS for item in items):
        return 0.0
    q, v, tau = (split(m, values, size) for values, size in ((case.q, "nq"), (case.v, "nv"), (case.tau, "nv")))
    for chord in m.tree.chords:
        closing = chord_closing(m.tree, case.q, case.v, chord)
        q[chord.name], v[chord.name], tau[chord.name] = (
            list(closing.coordinates),
            list(closing.rates),
            [0.0] * len(closing.rates),
        )
    a, worst = split(m, of(case)), 0.0
    for loop, joint in recuts(m)[:3]:
        if any(tau[joint]):
            continue  # its force would be one in a loop
        other = recut(m, loop, joint)
        if not {j.name for j in other.joints} <= q.keys():
            continue
        state = ([x for j in other.joints for x in values[j.name]] for values in (q, v, tau))
        found = split(other, accelerated(other, *state))
        both = [name for name in found if name in a]
        worst = max(worst, apart([found[n] for n in both], [a[n] for n in both], ROUTES * easy(case)))
    return worst


def renamed_and_reordered(case: Case) -> float:
    """Names say nothing, nor the order of bodies and loops."""
    m = case.mechanism
    new = {name: f"x{len(m.bodies) - k}" for k, name in enumerate(body.name for body in m.bodies)} | {"world": "world"}
    joints = {joint.name: f"y{len(m.joints) - k}" for k, joint in enumerate(m.joints)}
    other = replace(
        m,
        bodies=tuple(replace(body, name=new[body.name]) for body in reversed(m.bodies)),
        joints=tuple(replace(j, name=joints[j.name], parent=new[j.parent], child=new[j.child]) for j in m.joints),
        loops=tuple(replace(lo, body_a=new[lo.body_a], body_b=new[lo.body_b]) for lo in reversed(m.loops)),
        couplings=tuple(replace(c, joint=joints[c.joint], of=joints[c.of]) for c in reversed(m.couplings)),
        frames=(),
    )
    return apart(of(case, other), of(case), ROUTES * easy(case))


def turned_with_loops(case: Case) -> float:
    """The world turned with its gravity, and all that hangs on it."""
    m, R = case.mechanism, random_rotation(np.random.default_rng(case.n))
    turn = pose((0.3, -0.2, 0.5), matrix=R.tolist())
    at = {"world": lambda X: (turn @ X).dense()}
    other = replace(
        m,
        joints=tuple(replace(j, pose=at.get(j.parent, lambda X: X)(j.pose)) for j in m.joints),
        loops=tuple(
            replace(lo, pose_a=at.get(lo.body_a, lambda X: X)(lo.pose_a), pose_b=at.get(lo.body_b, lambda X: X)(lo.pose_b))
            for lo in m.loops
        ),
        gravity=tuple(R @ m.gravity),
        frames=(),
    )
    return apart(of(case, other), of(case), ROUTES * easy(case))


def mirrored(case: Case) -> float:
    """Seen in a mirror, the same coordinates accelerate alike: axes of rotation are the other way round."""
    m, S = case.mechanism, np.diag([-1.0, 1.0, 1.0])
    if any(item.kind.name not in SCREWS for item in (*m.joints, *m.loops)):
        return 0.0

    def image(X: Transform) -> Transform:
        M = np.array(X.matrix(), dtype=float)
        return pose(tuple(S @ M[:3, 3]), matrix=(S @ M[:3, :3] @ S).tolist())

    def axes(item) -> dict:
        sign = -1.0 if item.kind.name == "revolute" else 1.0
        return {"axis": tuple(sign * (S @ item.axis)), "second_axis": None}

    other = replace(
        m,
        bodies=tuple(
            replace(b, center_of_mass=tuple(S @ b.center_of_mass), inertia=S @ np.array(b.inertia) @ S) for b in m.bodies
        ),
        joints=tuple(replace(j, pose=image(j.pose), **axes(j)) for j in m.joints),
        loops=tuple(replace(lo, pose_a=image(lo.pose_a), pose_b=image(lo.pose_b), **axes(lo)) for lo in m.loops),
        gravity=tuple(S @ m.gravity),
        frames=(),
    )
    return apart(of(case, other), of(case), ROUTES * easy(case))


def every_body_split(case: Case) -> float:
    """Every body in two parts that are welded."""
    rng, other = np.random.default_rng(case.n), case.mechanism
    for body in case.mechanism.bodies:
        share, X = rng.uniform(0.2, 0.8), random_pose(rng)
        inertia = np.array(body.inertia)
        whole = replace(body, inertia=share * inertia)
        piece = Body(f"{body.name}_piece", share * body.mass, **seen_from(whole, X.inverse()))
        other = with_body(other, body.name, mass=(1.0 - share) * body.mass, inertia=(1.0 - share) * inertia)
        weld = Joint(f"{body.name}_weld", "fixed", body.name, piece.name, X)
        other = replace(other, bodies=(*other.bodies, piece), joints=(*other.joints, weld))
    return apart(of(case, other), of(case), ROUTES * easy(case))


def in_other_units(case: Case) -> float:
    """Mass in thirds, time in halves: what has a mass or a time in it is another number, and the motion the same."""
    m, mass, time = case.mechanism, 3.0, 2.0

    def scaled(item):
        force = mass / time**2
        of_it = {"armature": mass, "damping": mass / time, "stiffness": force, "friction": 0.0}
        return replace(item, **{name: factor * np.array(getattr(item, name)) for name, factor in of_it.items()})

    dry_free = replace(
        m,
        joints=tuple(replace(j, friction=0.0 * np.array(j.friction)) for j in m.joints),
        loops=tuple(replace(lo, friction=0.0 * np.array(lo.friction)) for lo in m.loops),
    )  # dry friction has a velocity of its own
    other = replace(
        m,
        bodies=tuple(replace(b, mass=mass * b.mass, inertia=mass * np.array(b.inertia)) for b in m.bodies),
        joints=tuple(map(scaled, m.joints)),
        loops=tuple(map(scaled, m.loops)),
        gravity=tuple(np.array(m.gravity) / time**2),
    )
    found = accelerated(other, case.q, np.array(case.v) / time, np.array(case.tau) * mass / time**2)
    return apart(time**2 * found, of(case, dry_free), ROUTES * easy(case))


# --- laws of motions ------------------------------------------------------------------------------------------------------
def _driven(case: Case) -> Mechanism:
    """With drives at the first two joints of one freedom, and stops around the third."""
    m = case.mechanism
    plain = [j for j in m.joints if j.kind.nv == 1 and j.kind.nq == 1 and j.name not in {c.joint for c in m.couplings}]
    at = split(m, case.q, "nq")
    changes: dict[str, dict] = {}
    for k, joint in enumerate(plain[:3]):
        drive = PositionDrive(kp=30.0, kd=2.0) if k == 0 else EffortDrive()
        changes[joint.name] = (
            {"limits": (Limits(at[joint.name][0] - 0.02, at[joint.name][0] + 0.03),)} if k == 2 else {"drive": drive}
        )
    return replace(m, joints=tuple(replace(j, **changes.get(j.name, {})) for j in m.joints))


def balanced_motion(case: Case) -> float:
    """Energy is what was put in, loops stay closed: by Runge and Kutta's steps, which are small for speeds of some rad/s."""
    if easy(case) > 1e3 or np.abs(of(case)).max(initial=0.0) > 1e4:
        return 0.0  # too quick for the step
    run = km.simulate(case.mechanism, case.q, v=case.v, duration=0.02, step=1e-4, integrator="rkf45")
    drift = run.audit.energy_drift / (1e-6 * max(1.0, run.audit.exchanged))
    return max(drift, *(gap.distance / 1e-8 for gap in run.audit.loop_gaps), 0.0)


def batch_is_single(case: Case) -> float:
    """With drives and stops, from rest: a row of a batch has the bits of a single one, and stops hold.

    A start that moves is put on its loops once more, which rounds by the number of rows.
    """
    mechanism = _driven(case)
    if np.abs(of(case)).max(initial=0.0) > 1e3:
        return 0.0
    simulation = km.Simulation(mechanism, step=1e-3, integrator="rk4")
    q, v = np.array([simulation.start(case.q).q]), np.zeros((1, mechanism.nv))
    rows, one = simulation.batch(np.tile(q, (5, 1)), np.tile(v, (5, 1))), simulation.batch(q, v)
    rows.step(20)
    one.step(20)
    if not (
        np.array_equal(rows.q, np.tile(one.q[0], (5, 1)), equal_nan=True)
        and np.array_equal(rows.v[4], one.v[0], equal_nan=True)
    ):
        return float("inf")
    worst, at = 0.0, split(mechanism, one.q[0].tolist(), "nq")
    for joint in mechanism.joints:
        for limit, q in zip(joint.limits, at[joint.name], strict=False):
            worst = max(worst, *((q - limit.upper) / 1e-6, (limit.lower - q) / 1e-6) if limit.upper is not None else (0.0,))
    return worst if np.isfinite(one.q).all() else 0.0


LAWS = {
    law.__name__: law
    for law in (
        dense_equations, routes_with_loops, loops_stay_closed, power_is_the_rate_of_energy, cut_elsewhere,
        renamed_and_reordered, turned_with_loops, mirrored, every_body_split, in_other_units, balanced_motion, batch_is_single,
    )
}  # fmt: skip
SELDOM = {"dense_equations": 3, "balanced_motion": 20, "batch_is_single": 20}


def smaller(case: Case) -> Iterator[Case]:
    """The case without a loop, a coupling, or the passive parts of a loop; in a velocity that the rest allows, too."""
    m = case.mechanism
    for k, loop in enumerate(m.loops):
        rest = (*m.loops[:k], *m.loops[k + 1 :])
        yield replace(case, mechanism=replace(m, loops=rest))
        plain = replace(loop, armature=0.0, damping=0.0, friction=0.0, stiffness=0.0)
        if plain != loop:
            yield replace(case, mechanism=replace(m, loops=(*m.loops[:k], plain, *m.loops[k + 1 :])))
    for k in range(len(m.couplings)):
        yield replace(case, mechanism=replace(m, couplings=(*m.couplings[:k], *m.couplings[k + 1 :])))
    still = replace(case, v=[0.0] * len(case.v))
    if any(case.v):
        yield still
    if m.gravity != (0.0, 0.0, 0.0):
        yield replace(case, mechanism=replace(m, gravity=(0.0, 0.0, 0.0)))


__all__ = ["LAWS", "SELDOM", "consistent", "drawn", "smaller"]
