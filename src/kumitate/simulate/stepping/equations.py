"""The equations of motion of a driven mechanism as programs: accelerations, power, and the loops closed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kinematics
from ...analysis import kinetic_energy, loop_equations, momentum, potential_energy
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
from ...errors import ModelError
from ...kinematics import center_of_mass, link_twists
from ...model import Mechanism, Tree, by_loop, check_resistance, freedoms
from ...model.tree.traversal import with_limbs
from ...scalar import Program, Scalar, absolute, call, loop, maximum, minimum, select, trace
from ..parameters import Variation, VariedPlant
from ..starts import default_start
from .forcing import Forcing
from .layout import StepInputs

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...contact.held.motion import HeldDynamics

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
    mechanism: Mechanism,
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
) -> Program:
    """(h, q, v, u) → v̇ and the power of all applied efforts, u being the efforts of the `forcing`; without drives of joints.

    `baumgarte`: the rate [1/s] at which the loops' errors decay; `held`: points held on surfaces; `pressing`: if
    no points are held, contact forces.
    """
    moved = _motion(mechanism, forcing, implicit_damping, baumgarte, held, pressing)

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        return moved(h, q, v, u, None, ())

    return trace(dynamics, _inputs(mechanism, forcing), f"dynamics_{mechanism.name}")


def motion_program(
    mechanism: Mechanism,
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
) -> Program:
    """(h, q, v, u, tau, resisting) → as `dynamics_program`, by other efforts at all joints (`freedoms`), resisted by drives."""
    inputs = {**_inputs(mechanism, forcing), **_pushed(mechanism)}
    moved = _motion(mechanism, forcing, implicit_damping, baumgarte, held, pressing)
    return trace(moved, inputs, f"motion_{mechanism.name}")


def _motion(
    mechanism: Mechanism, forcing: Forcing, implicit_damping: bool, baumgarte: float, held: HeldDynamics | None,
    pressing: ContactForces | None,
) -> Callable[..., dict[str, Any]]:  # fmt: skip
    check_resistance(mechanism, forcing.motions)

    def moved(h: Scalar, q: Any, v: Any, u: Any, others: Any, resisting: Any) -> dict[str, Any]:
        implicit_step = h if implicit_damping else 0.0
        tree, tau, acting, power = _driven(mechanism, forcing, q, v, u, implicit_step, baumgarte, pressing)
        if others is not None:
            tau, acting = _pushed_by(mechanism, acting, others, resisting, implicit_damping)
        if held is None:
            if pressing is None and not acting.prescribed:  # contact may press any link
                tree = with_limbs(tree, [tree.places[name].link for name in forcing.places])
            acceleration, efforts = prescribed_dynamics(tree, q, v, tau, acting)
            return {"acceleration": acceleration, **_with_efforts(power, efforts, v, acting)}
        acceleration, lost = held.accelerations(tree, q, v, tau, acting)
        return {"acceleration": acceleration, "power": power + lost}

    return moved


def _with_efforts(power: Scalar, efforts: Sequence[Scalar], v: Any, acting: Acting) -> dict[str, Any]:
    """The power with that of joints whose motion is prescribed, and their "efforts" where there are any."""
    if not acting.prescribed:
        return {"power": power}
    return {"power": sum((a * v[k] for a, k in zip(efforts, acting.prescribed, strict=True)), power), "efforts": list(efforts)}


def closing_program(
    mechanism: Mechanism, forcing: Forcing, *, implicit_damping: bool, opens: float, pressing: ContactForces | None = None,
    pushed: bool = False,
) -> Program:  # fmt: skip
    """(h, q, v, u) → v̇, power, and the changes "move" of q and "change" of v that close the loops, as `closing_step` says.

    Where that is not enough the loops must be projected: "astray" is 1 for gaps beyond `FAR`, and "reach" is the square of the
    longest step [s²] that stays away from singular postures.

    `opens`: as of an `Integrator`; `pushed`: whether other efforts at all joints and what resists them (`freedoms`) are
    inputs, as of `motion_program`; the other arguments as for `dynamics_program`.
    """
    check_resistance(mechanism, forcing.motions)
    usual = usual_shares(mechanism, forcing.fixed)

    def closing(h: Scalar, q: Any, v: Any, u: Any, *others: Any) -> dict[str, Any]:
        tree, tau, acting, power = _driven(mechanism, forcing, q, v, u, h if implicit_damping else 0.0, 0.0, pressing)
        if pushed:
            tau, acting = _pushed_by(mechanism, acting, others[0], others[1], implicit_damping)
        closed = closing_step(tree, q, v, tau, acting, opens * (h * h))
        far = select(closed.gap > FAR * tree.size, 1.0, 0.0)
        found = {"acceleration": closed.acceleration, **_with_efforts(power, closed.efforts, v, acting)}
        return {**found, "move": closed.move, "change": closed.change, "astray": far, "reach": _reach(closed, usual)}

    inputs = {**_inputs(mechanism, forcing), **(_pushed(mechanism) if pushed else {})}
    return trace(closing, inputs, f"closing_{'motion_' * pushed}{mechanism.name}")


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


def usual_shares(mechanism: Mechanism, fixed: Collection[int] = ()) -> list[float]:
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
    return usual.tolist()  # type: ignore[no-any-return]


def _inputs(mechanism: Mechanism, forcing: Forcing) -> dict[str, int | tuple[int, ...]]:
    return {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": forcing.layout.size}


def _pushed(mechanism: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return dict.fromkeys(("tau", "resisting"), freedoms(mechanism))


def _pushed_by(mechanism: Mechanism, acting: Acting, tau: Any, resisting: Any, implicit: bool) -> tuple[Any, Acting]:
    """The efforts at the tree's joints, and what acts, with other efforts at all joints and what resists them in a step."""
    loop_tau = dict(acting.loop_tau)
    for name, efforts in by_loop(mechanism, tau).items():
        given = loop_tau.get(name, (0.0,) * len(efforts))
        loop_tau[name] = [a + b for a, b in zip(given, efforts, strict=True)]
    soft = by_loop(mechanism, resisting) if implicit else {}
    nv = mechanism.nv
    return tau[:nv], replace(acting, loop_tau=loop_tau, resisting=resisting[:nv], loop_resisting=soft)


def _driven(
    mechanism: Mechanism, forcing: Forcing, q: Any, v: Any, u: Any, implicit_step: Scalar, baumgarte: float,
    pressing: ContactForces | None,
) -> tuple[Tree, Any, Acting, Scalar]:  # fmt: skip
    """The tree with the parameters in u, tau, everything else that acts, and the power of all applied efforts [W]."""
    seen, touching = seen_mechanism(mechanism, forcing, u)
    tree, parts = seen.base_parameter_tree, forcing.layout.unpack(u)
    wrenches: Applied | None = Wrenches(tree, parts.wrenches) if parts.wrenches else None
    power = applied_power(seen, q, v, parts)
    if pressing is not None:
        pressed = pressing.at(q, v, touching, parts.overlaps)
        wrenches = LinkForces(pressed.by_link, wrenches)
        power = power + pressed.power
    given = {joint.v: acceleration for joint, (_, _, acceleration) in zip(forcing.following, parts.motions, strict=True)}
    acting = Acting(seen.gravity, wrenches, parts.loop_tau, implicit_step, baumgarte, prescribed=given)
    return tree, parts.tau, acting, power


def projection_program(
    mechanism: Mechanism, held: HeldDynamics | None = None, parameters: Variation | None = None, fixed: Collection[int] = ()
) -> Program:
    """(q, v, row of parameters if there are any) → q and v with the loops closed and held points on their surfaces.

    `fixed`: as of `projected`.
    """

    def projection(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        tree = (parameters.at(row[0]).mechanism if parameters else mechanism).base_parameter_tree
        closed_q, closed_v = projected(tree, q, v, fixed=fixed) if held is None else held.projected(tree, q, v)
        return {"q": kinematics.normalized(tree, closed_q), "v": closed_v}

    return trace(projection, {**_state(mechanism), **row_of(parameters)}, f"projection_{mechanism.name}")


def row_of(parameters: Variation | None) -> dict[str, int | tuple[int, ...]]:
    """The size of a row of parameters, as an input of a program; nothing without any."""
    return {"parameters": parameters.size} if parameters else {}


def _state(mechanism: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"q": mechanism.nq, "v": mechanism.nv}


def seen_program(mechanism: Mechanism, projection: Program, parameters: Variation | None = None) -> Program:
    """(q, v, row of parameters if there are any) → q and v with the loops closed to rounding; unchanged where they are.

    By the `projection`, as often as needed.
    """
    tree = mechanism.base_parameter_tree

    def openness(q: Any, v: Any) -> Scalar:
        gap, rate = largest_gap(tree, constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v)))
        fastest: Scalar = 1.0
        for speed in v:
            fastest = maximum(fastest, absolute(speed))
        return maximum(gap, rate / fastest)

    def seen(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        def nearer(_: Any, now: Any) -> tuple[Any, None]:
            there = call(projection, now[1], now[2], *row)
            return (openness(there["q"], there["v"]), list(there["q"]), list(there["v"])), None

        start = (openness(q, v), list(q), list(v))
        (_, q, v), _ = loop(PASSES, nearer, start, while_=lambda now: now[0] > CLOSED * tree.size, hoist=False)
        return {"q": q, "v": v}

    return trace(seen, {**_state(mechanism), **row_of(parameters)}, f"seen_{mechanism.name}")


def seen_mechanism(mechanism: Mechanism, forcing: Forcing, u: Any) -> tuple[Mechanism, VariedPlant | None]:
    """The mechanism with the parameters in u, and what else they change."""
    if forcing.parameters is None:
        return mechanism, None
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

    return trace(observables, {**_state(mechanism), **row_of(parameters)}, f"observables_{mechanism.name}")
