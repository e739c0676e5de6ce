"""The equations of motion of a driven mechanism as programs: accelerations, power, loops closed, drives within their limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kinematics
from ...analysis import joint_accelerations, joint_motion, kinetic_energy, loop_equations, momentum, potential_energy
from ...analysis.constraint_report import closed_neighbours, neighbours
from ...dynamics import (
    Acting,
    ClosingStep,
    Wrenches,
    chord_closings,
    closing_step,
    constraint_rows,
    largest_gap,
    link_motions,
    passive_force,
    prescribed_dynamics,
    projected,
    pulls,
)  # fmt: skip
from ...dynamics.acting import Applied, LinkForces
from ...dynamics.settling import DriveForce, JointPush, drive_forces, effort_along, settled, state_rates
from ...errors import ModelError
from ...kinematics import center_of_mass, link_twists
from ...model import Driven, Mechanism, Tree, by_loop, check_resistance, freedoms
from ...model.tree.traversal import with_limbs
from ...scalar import Hole, Program, Scalar, absolute, call, is_zero, loop, maximum, minimum, select, trace
from ..driving.forcing import Forcing, StepInputs
from ..parameters import Variation, VariedPlant
from ..starts import default_start

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...held.motion import HeldDynamics

#: A step [s] in which nothing moves; not zero, as implicit forces along the degrees of freedom of loops are divided by it.
NO_STEP = 1e-30
#: The largest gap that a step leaves to the next one to close, as a part of the mechanism's size.
FAR = 1e-8
#: A row of the loops is resolved where the damping has less than this share in its pivot: then the solve needs no sweeps.
RESOLVED = 1e-4
#: A row is near a singular posture where its pivot is below this many (h ω)² of its usual value, ω being the rate of the joints
#: in its loop: within eight steps of it. Pivots above a part of the usual value that is the second number never are near.
NEAR, NEVER = 64.0, 0.1
_FOR_EVER = 1e300
#: How far from the default start usual values are looked for [rad or m], and at how many postures: first these, then those.
_AROUND, _AWAY = (0.5, 4), (2.0, 16)
#: Loops are closed to rounding if their gaps are below this part of the mechanism's size. One projection does it nearly always;
#: next to singular postures, where gaps of 1e-9 cannot be closed to first order, no more than so many are tried.
CLOSED, PASSES = 1e-13, 8


def dynamics_program(
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
    pushed: bool = False,
) -> Program:
    """(h, q, v, u) → v̇ and the power of all applied efforts, u being those of the `forcing`; without drives of joints.

    Args:
        baumgarte: the rate [1/s] at which the loops' errors decay.
        held: points held on surfaces; pressing: if no points are held, contact forces.
        pushed: whether other efforts "tau" at all joints (`freedoms`), and what resists them in a step, "resisting", are inputs
            too, in place of the controller's.
    """
    m = forcing.mechanism
    check_resistance(m, forcing.motions)

    def dynamics(h: Scalar, q: Any, v: Any, u: Any, *pushes: Any) -> dict[str, Any]:
        implicit_step = h if implicit_damping else 0.0
        tree, tau, acting, power = _driven(forcing, q, v, u, pushes, implicit_step, baumgarte, pressing)
        if held is None:
            if pressing is None and not acting.prescribed:  # contact may press any link
                tree = with_limbs(tree, [tree.places[name].link for name in forcing.wrenches])
            acceleration, efforts = prescribed_dynamics(tree, q, v, tau, acting)
            return {"acceleration": acceleration, **_with_efforts(power, efforts, v, acting)}
        acceleration, lost = held.accelerations(tree, q, v, tau, acting)
        return {"acceleration": acceleration, "power": power + lost}

    return trace(dynamics, _inputs(forcing, pushed), f"{'motion' if pushed else 'dynamics'}_{m.name}")


def _with_efforts(power: Scalar, efforts: Sequence[Scalar], v: Any, acting: Acting) -> dict[str, Any]:
    """The power with that of joints whose motion is prescribed, and their "efforts" where there are any."""
    if not acting.prescribed:
        return {"power": power}
    return {"power": sum((a * v[k] for a, k in zip(efforts, acting.prescribed, strict=True)), power), "efforts": list(efforts)}


def closing_program(
    forcing: Forcing, *, implicit_damping: bool, opens: float, pressing: ContactForces | None = None, pushed: bool = False
) -> Program:
    """(h, q, v, u) → v̇, power, and the changes "move" of q and "change" of v that close the loops, as `closing_step` says.

    Where that is not enough the loops must be projected: "astray" is 1 for gaps beyond `FAR`, and "reach" is the square of the
    longest step [s²] that stays away from singular postures.

    `opens`: as of an `Integrator`; the other arguments as for `dynamics_program`.
    """
    m = forcing.mechanism
    check_resistance(m, forcing.motions)
    usual = usual_shares(m, forcing.fixed)

    def closing(h: Scalar, q: Any, v: Any, u: Any, *pushes: Any) -> dict[str, Any]:
        tree, tau, acting, power = _driven(forcing, q, v, u, pushes, h if implicit_damping else 0.0, 0.0, pressing)
        closed = closing_step(tree, q, v, tau, acting, opens * (h * h))
        far = select(closed.gap > FAR * tree.size, 1.0, 0.0)
        found = {"acceleration": closed.acceleration, **_with_efforts(power, closed.efforts, v, acting)}
        return {**found, "move": closed.move, "change": closed.change, "astray": far, "reach": _reach(closed, usual)}

    return trace(closing, _inputs(forcing, pushed), f"closing_{'motion_' * pushed}{m.name}")


def _reach(closed: ClosingStep, usual: Sequence[float]) -> Scalar:
    """The square of the longest step [s²] that begins here and stays away from singular postures; 0 in one or near one.

    A row is near one where it is less well resolved than it usually is; see `NEAR`.
    """
    reach: Scalar = _FOR_EVER
    for share, least, pace in zip(closed.shares, usual, closed.paces, strict=True):
        if least < RESOLVED:
            steps = select(share * NEVER > least, least / maximum(NEAR * share * pace * pace, 1.0 / _FOR_EVER), _FOR_EVER)
            reach = minimum(reach, select(share > RESOLVED, 0.0, steps))
    return reach


@lru_cache(maxsize=64)
def usual_shares(mechanism: Mechanism, fixed: tuple[int, ...] = ()) -> tuple[float, ...]:
    """The smallest `ClosingStep.shares` of the loops' rows at closed postures around the default start.

    Where these differ in mobility, more are looked at, until each row has been resolved that is so in open ones.
    Postures where massless links can move freely, such as three joints in gimbal lock, are left out. `fixed`: indices in v of
    joints that do not take part.
    """
    tree, loops = mechanism.base_parameter_tree, loop_equations(mechanism)
    still, at_rest = [0.0] * tree.nv, Acting((0.0, 0.0, 0.0), prescribed=dict.fromkeys(fixed, 0.0))

    def shares(postures: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for q in postures:
            with suppress(ZeroDivisionError):
                yield np.array(closing_step(tree, q.tolist(), still, still, at_rest).shares, dtype=float)

    start = default_start(loops)
    near = list(shares([start, *closed_neighbours(loops, start, *_AROUND)]))
    usual = reduce(np.minimum, near, np.full(1, np.inf))
    if len({np.count_nonzero(seen < RESOLVED) for seen in near}) > 1:  # some have more mobility
        possible = reduce(np.minimum, shares(neighbours(loops, start, *_AROUND)), usual) < RESOLVED
        others = shares(closed_neighbours(loops, start, *_AWAY))
        while np.any(possible & (usual >= RESOLVED)) and (seen := next(others, None)) is not None:
            usual = np.minimum(usual, seen)
    if np.isinf(usual).any():
        raise ModelError(
            f"{mechanism.name}: no inertia resists some joint at the closed postures near the start; give massless bodies at "
            "the ends of the tree mass and inertia, or fix them"
        )
    return tuple(usual.tolist())


def _inputs(forcing: Forcing, pushed: bool = False) -> dict[str, int | tuple[int, ...]]:
    """The inputs of programs of a step: h, q, v and u; and with `pushed` other efforts at all joints, and what resists them."""
    m, others = forcing.mechanism, ("tau", "resisting") if pushed else ()
    return {"h": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size, **dict.fromkeys(others, freedoms(m))}


def _driven(
    forcing: Forcing, q: Any, v: Any, u: Any, pushes: Sequence[Any], implicit_step: Scalar, baumgarte: float,
    pressing: ContactForces | None,
) -> tuple[Tree, Any, Acting, Scalar]:  # fmt: skip
    """The tree with the parameters in u, tau, everything else that acts, and the power of all applied efforts [W].

    `pushes`: other efforts at all joints, in place of the controller's, and what resists them in a step.
    """
    seen, touching = seen_mechanism(forcing, u)
    tree, parts = seen.base_parameter_tree, forcing.layout.unpack(u)
    wrenches: Applied | None = Wrenches(tree, parts.wrenches) if parts.wrenches else None
    power = applied_power(seen, q, v, parts)
    if pressing is not None:
        pressed = pressing.at(q, v, touching, parts.overlaps)
        wrenches = LinkForces(pressed.by_link, wrenches)
        power = power + pressed.power
    given = {joint.v: acceleration for joint, (_, _, acceleration) in zip(forcing.following, parts.motions, strict=True)}
    acting = Acting(seen.gravity, wrenches, parts.loop_tau, implicit_step, baumgarte, prescribed=given)
    if not pushes:
        return tree, parts.tau, acting, power
    m, (tau, resisting) = forcing.mechanism, pushes
    loop_tau = dict(acting.loop_tau)
    for name, efforts in by_loop(m, tau).items():
        own = loop_tau.get(name, (0.0,) * len(efforts))
        loop_tau[name] = [a + b for a, b in zip(own, efforts, strict=True)]
    soft = {} if is_zero(implicit_step) else by_loop(m, resisting)
    more = replace(acting, loop_tau=loop_tau, resisting=resisting[: m.nv], loop_resisting=soft)
    return tree, tau[: m.nv], more, power


def projection_program(
    mechanism: Mechanism, held: HeldDynamics | None = None, parameters: Variation | None = None, fixed: Collection[int] = ()
) -> Program:
    """(q, v, row of parameters if there are any) → q and v with loops closed and held points on surfaces; `fixed` stay."""

    def projection(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        tree = (parameters.at(row[0]).mechanism if parameters else mechanism).base_parameter_tree
        closed_q, closed_v = projected(tree, q, v, fixed=fixed) if held is None else held.projected(tree, q, v)
        return {"q": kinematics.normalized(tree, closed_q), "v": closed_v}

    return trace(projection, _state(mechanism, parameters), f"projection_{mechanism.name}")


def row_of(parameters: Variation | None) -> dict[str, int | tuple[int, ...]]:
    """The size of a row of parameters, as an input of a program; nothing without any."""
    return {"parameters": parameters.size} if parameters else {}


def _state(mechanism: Mechanism, parameters: Variation | None) -> dict[str, int | tuple[int, ...]]:
    return {"q": mechanism.nq, "v": mechanism.nv, **row_of(parameters)}


def seen_program(mechanism: Mechanism, projection: Program, parameters: Variation | None = None) -> Program:
    """(q, v, row of parameters) → q and v with the loops closed to rounding, by as many projections as needed; or unchanged."""
    tree = mechanism.base_parameter_tree

    def seen(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        def nearer(_: Any, now: Any) -> tuple[Any, None]:
            there = call(projection, now[1], now[2], *row)
            return (_openness(tree, there["q"], there["v"]), list(there["q"]), list(there["v"])), None

        start = (_openness(tree, q, v), list(q), list(v))
        (_, q, v), _ = loop(PASSES, nearer, start, while_=lambda now: now[0] > CLOSED * tree.size, hoist=False)
        return {"q": q, "v": v}

    return trace(seen, _state(mechanism, parameters), f"seen_{mechanism.name}")


def open_program(mechanism: Mechanism) -> Program:
    """(q, v) → by how much the loops are further open than rounding leaves them, below zero where they are not [m]."""
    tree = mechanism.base_parameter_tree

    def is_open(q: Any, v: Any) -> dict[str, Scalar]:
        return {"open": _openness(tree, q, v) - CLOSED * tree.size}

    return trace(is_open, _state(mechanism, None), f"open_{mechanism.name}")


def _openness(tree: Tree, q: Any, v: Any) -> Scalar:
    """The largest gap of the loops [m], or the rate at which one opens, as a part of the speeds above 1."""
    gap, rate = largest_gap(tree, constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v)))
    fastest: Scalar = 1.0
    for speed in v:
        fastest = maximum(fastest, absolute(speed))
    return maximum(gap, rate / fastest)


def seen_mechanism(forcing: Forcing, u: Any) -> tuple[Mechanism, VariedPlant | None]:
    """The mechanism with the parameters in u, and what else they change."""
    if forcing.parameters is None:
        return forcing.mechanism, None
    varied = forcing.parameters.at(u[forcing.layout.at("parameters")])
    return varied.mechanism, varied


def applied_power(mechanism: Mechanism, q: Any, v: Any, parts: StepInputs) -> Scalar:
    """The power of controllers, joint damping and wrenches [W]; gravity and springs are in the potential energy instead."""
    tree = mechanism.tree
    total: Scalar = 0.0
    for link in tree.links:
        rates = link.velocities(v)
        for force, lost, rate in zip(link.velocities(parts.tau), passive_force(link, rates), rates, strict=True):
            total = total + (force - lost) * rate
    for chord, closing in zip(tree.chords, chord_closings(tree, q, v), strict=True):
        efforts = parts.loop_tau.get(chord.name, (0.0,) * len(closing.rates))
        lost_forces = map(add, passive_force(chord, closing.rates), pulls(chord, closing))
        for force, lost, rate in zip(efforts, lost_forces, closing.rates, strict=True):
            total = total + (force - lost) * rate
    if parts.wrenches:
        poses, twists = kinematics.link_poses(tree, q), link_twists(tree, q, v)
        for name, wrench in parts.wrenches.items():
            R = kinematics.place_pose(tree, poses, tree.places[name]).rotation
            twist = kinematics.place_twist(tree, twists, tree.places[name])
            in_world = [*R.rotate(twist.angular), *R.rotate(twist.linear)]
            total = total + sum((a * b for a, b in zip(in_world, wrench, strict=True)), 0.0)
    return total


def observables_program(mechanism: Mechanism, parameters: Variation | None = None) -> Program:
    """(q, v, row of parameters if there are any) → the reported quantities: energies, center of mass, momentum."""

    def observables(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        seen = parameters.at(row[0]).mechanism if parameters else mechanism
        tree = seen.tree
        return {
            "kinetic": kinetic_energy(tree, q, v),
            "potential": potential_energy(tree, q, seen.gravity),
            "center_of_mass": center_of_mass(tree, q),
            "momentum": momentum(tree, q, v),
        }

    return trace(observables, _state(mechanism, parameters), f"observables_{mechanism.name}")


# --- drives of joints: the efforts that they have in a step, each within its limit, and the motion that results --------
def moved_by(motion: Program, forcing: Forcing, h: Scalar, q: Any, v: Any, u: Any) -> Callable[[Sequence[JointPush]], Any]:
    """The motion, "acceleration" and "power", by further efforts at joints; and "resisting", by what these resist it.

    "resisting" has one value for every degree of freedom (`freedoms`), as "rates", the accelerations of all of them.
    """
    m, size = forcing.mechanism, freedoms(forcing.mechanism)

    def moved(pushes: Sequence[JointPush]) -> dict[str, Any]:
        tau: list[Scalar] = [*(u[k] for k in range(m.nv)), *[0.0] * (size - m.nv)]
        resisting: list[Scalar] = [0.0] * size
        for push in pushes:
            tau[push.index] = tau[push.index] + push.effort
            resisting[push.index] = resisting[push.index] + push.resisting
        found = call(motion, h, q, v, u, tau, resisting)
        return {**found, "rates": joint_accelerations(m, q, v, found["acceleration"]), "resisting": resisting}

    return moved


def driven_dynamics(motion: Program, forcing: Forcing, *, implicit: bool) -> Program:
    """(h, q, v, u) → v̇ and the power of all efforts, those of drives included; and what else `motion` gives.

    Where drives have states of their own, "states" are the rates of these, means over a step that is implicit.

    Args:
        motion: (h, q, v, u, tau, resisting) → v̇ and the power of all else.
        implicit: whether a step h is implicit in the drives; they are evaluated at the state itself otherwise.
    """
    m = forcing.mechanism

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        step: Scalar = h if implicit else 0.0
        moved = moved_by(motion, forcing, h, q, v, u)
        place, speeds = joint_motion(m, q, v)
        parts, driven = forcing.layout.unpack(u), seen_mechanism(forcing, u)[0].driven
        wished = drive_forces(driven, place, speeds, parts.commands, parts.states, step)

        def solve(pushes: Sequence[JointPush]) -> dict[str, Any]:
            found = moved(pushes)
            return {name: found[name] for name in ("rates", *(array.name for array in motion.outputs))}

        if implicit:
            found = settled(driven, wished, [], step, solve).found
        else:
            efforts = [effort_along(joint, wish, 0.0) for joint, wish in zip(driven, wished, strict=True)]
            found = solve([JointPush(joint.v, effort, 0.0) for joint, effort in zip(driven, efforts, strict=True)])
        rates = found.pop("rates")
        power = drive_power(driven, wished, speeds, rates, step)
        own = state_rates(driven, place, speeds, parts.commands, parts.states, rates, step)
        return {**found, "power": found["power"] + power, **({"states": own} if own else {})}

    return trace(dynamics, _inputs(forcing), f"driven_{motion.name}")


def drive_power(
    driven: Sequence[Driven], wished: Sequence[DriveForce], v: Sequence[Scalar], rates: Sequence[Scalar], h: Scalar
) -> Scalar:
    """The power of drives in a step h from velocities v that change at `rates` [W]: of what acts, at the mean velocity.

    Times the step it is the kinetic energy that they add, however stiff they are.
    """
    total: Scalar = 0.0
    for joint, wish in zip(driven, wished, strict=True):
        k = joint.v
        total = total + effort_along(joint, wish, rates[k]) * (v[k] + 0.5 * h * rates[k])
    return total


def efforts_program(forcing: Forcing, reactions: Program | None) -> Program:
    """(h, q, v, u) → the efforts at the joints at a state: of a controller, of drives, and of prescribed motions.

    One for every degree of freedom (`freedoms`), those of loop joints by their drives.

    `reactions`: (h, q, v, u) → those of joints with prescribed motions, which follow from the motion of all; None without.
    """
    m = forcing.mechanism

    def efforts(h: Any, q: Any, v: Any, u: Any) -> list[Scalar]:
        parts, driven = forcing.layout.unpack(u), seen_mechanism(forcing, u)[0].driven
        wished = drive_forces(driven, *joint_motion(m, q, v), parts.commands, parts.states, 0.0)
        total = [*(u[k] for k in range(m.nv)), *[0.0] * (freedoms(m) - m.nv)]
        for joint, wish in zip(driven, wished, strict=True):
            total[joint.v] = total[joint.v] + effort_along(joint, wish, 0.0)
        if reactions is not None:
            for k, effort in zip(forcing.fixed, call(reactions, h, q, v, u), strict=True):
                total[k] = total[k] + effort
        return total

    return trace(efforts, _inputs(forcing), f"efforts_{m.name}")


def acting_program(functions: Hole, name: str) -> Program:
    """(t, q, v, u) → u with the values of compiled functions, which fill a hole; `name`: of the mechanism."""
    sizes: dict[str, int | tuple[int, ...]] = {array.name: array.shape for array in functions.inputs}
    return trace(lambda *given: call(functions, *given), sizes, f"efforts_{name}")
