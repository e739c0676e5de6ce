"""The step of the velocities where they may jump: the dynamics, the impulses of contact, and those of joints' stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

from ... import kinematics
from ...analysis import joint_accelerations, joint_coordinates, joint_motion
from ...dynamics import settling
from ...dynamics.free_turning import lone_bodies, turned_freely, turned_more
from ...model import Bound, Mechanism, Tree, freedoms, in_loops
from ...scalar import Program, Scalar, both, call, maximum, minimum, select, trace, when
from ..driving.forcing import Forcing
from .equations import NO_STEP, applied_power, drive_power, moved_by, seen_mechanism

#: What there is to report of contact where none is simulated.
_UNTOUCHED = {"work": 0.0, "touching": 0.0, "missed": 0.0, "unsolved": 0.0}
#: What steps need of contact alone.
_NEEDED = ("v", "work", "touching", "missed", "unsolved")


def jump_program(
    forcing: Forcing, motion: Program, impacts: Program | None, bounds: Sequence[Bound] = (),
    projection: Program | None = None,
) -> Program:  # fmt: skip
    """(h, q, v, u) → the velocities after a step h, whether anything touches, work and power; and what `impacts` gives.

    Drives keep their limits, and joints theirs, in the motion that contact leads to.

    Args:
        motion: (h, q, v, u, tau, resisting) → v̇ and the power, implicit in damping and springs; without the last two where
            there are no drives and stops.
        impacts: (h, q, v, v_free, resisting, left_out) → the velocities after contact, likewise, the last one where bodies
            overlap at the start; None without contact.
        bounds: the limits of joints that are stops.
        projection: (q, v, row of parameters if there are any) → q and v with the loops closed; None if nothing closes them.

    Where single bodies are free, "along" is the velocity with which they move in the step: it is turned by their gyroscopic
    torques for half of the step. Pushes and free turning in turn are of order two together.

    A joint with a prescribed motion resists contact like a far larger inertia, and its effort is what that takes.
    """
    m, whole = forcing.mechanism, None if impacts is None else _over_step(impacts)
    curved = bool(bounds and m.loops)
    inertias = zip(forcing.fixed, settling.moved_inertias(m, forcing.fixed), strict=True)
    fast = {k: settling.STIFF * inertia for k, inertia in inertias}

    def jump(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        # contact acts in the axes before the step: if a free body's axes turned meanwhile, its speed would grow
        turning, parts = kinematics.turning(m.tree, v), forcing.layout.unpack(u)
        seen = seen_mechanism(forcing, u)[0]
        tree, driven = seen.base_parameter_tree, seen.driven
        more_turning = turned_more(tree, v, h)
        place, speeds = joint_motion(m, q, v)
        wished = settling.drive_forces(driven, place, speeds, parts.commands, parts.states, h)
        stops = settling.stops_at(bounds, settling.stiffnesses(m, bounds), place, speeds, h)
        plain = not (wished or stops or forcing.following)
        moved = moved_by(motion, forcing, h, q, v, u)

        def rates_of(after: Sequence[Scalar]) -> list[Scalar]:
            changes = [(b - a) / h for a, b in zip(v, after, strict=True)]
            if freedoms(m) == m.nv:
                return changes
            turned = [rate + turn for rate, turn in zip(changes, turning, strict=True)]
            return [*changes, *joint_accelerations(m, q, v, turned)[m.nv :]]

        def held_fast(resisting: Sequence[Scalar]) -> list[Scalar]:
            return [inertia + fast.get(k, 0.0) for k, inertia in enumerate(resisting)]

        def let_go(pushes: Sequence[settling.JointPush]) -> tuple[dict[str, Any], list[Scalar]]:
            """The motion without contact, and the velocities after it, with what drives and stops do so far."""
            free = call(motion, h, q, v, u) if plain else moved(pushes)
            rates = zip(v, free["acceleration"], turning, more_turning, strict=True)
            return free, [rate + h * (a - b) + more for rate, a, b, more in rates]

        def touch(free: Mapping[str, Any], v_free: list[Scalar]) -> dict[str, Any]:
            """The velocities after contact, and all of contact that is reported."""
            found: dict[str, Any] = {"v": v_free, **_UNTOUCHED}
            if whole is not None:
                begun, row = [parts.overlaps] if forcing.overlaps else [], forcing.layout.row(u)
                found = call(whole, h, q, v, v_free, *([] if plain else [held_fast(free["resisting"])]), *begun, *row)
            if fast:  # what contact adds to the efforts of prescribed motions
                more = [stiff * (v_free[k] - found["v"][k]) / h for k, stiff in fast.items()]
                after = [v_free[k] if k in fast else rate for k, rate in enumerate(found["v"])]
                found = {**found, "v": after, "efforts": [a + b for a, b in zip(free["efforts"], more, strict=True)]}
            return found

        def push(pushes: Sequence[settling.JointPush]) -> dict[str, Any]:
            free, v_free = let_go(pushes)
            found = touch(free, v_free)
            changes = rates_of(found["v"])
            return {**found, "rates": changes, **(advanced(found["v"], changes) if curved else {})}

        def advanced(after: Sequence[Scalar], rates: Sequence[Scalar]) -> dict[str, list[Scalar]]:
            def closed(end_q: Any) -> Any:
                return end_q if projection is None else call(projection, end_q, list(after), *forcing.layout.row(u))["q"]

            ends = partial(end_gaps, m, [stop.bound for stop in stops], h, q, after, closed)
            return {"advances": settling.advances(stops, place, ends, after, rates, h)}

        def freely(pushes: Sequence[settling.JointPush]) -> list[Scalar]:
            return rates_of(let_go(pushes)[1])

        limits = not curved and (stops or any(joint.limited for joint in driven))
        foreseen = freely if whole is not None and limits else None
        end = settling.settled(driven, wished, stops, h, push, curved=curved, freely=foreseen)
        found = {name: part for name, part in end.found.items() if name not in ("rates", "advances")}
        moving = {name: found.pop(name) for name in ("smooth", "glide") if name in found}
        rates = end.found["rates"]
        mean = [rate + 0.5 * h * a for rate, a in zip(speeds, rates, strict=True)]
        pushing = sum(end.multipliers, 0.0)
        power = applied_power(seen, q, mean[: m.nv], parts) + drive_power(driven, wished, speeds, rates, h)
        own = settling.state_rates(driven, place, speeds, parts.commands, parts.states, rates, h)
        return {
            **found,
            **({"states": own} if own else {}),
            **_moving(tree, found | moving, h, pushing),
            "work": found["work"] + work_of_stops(stops, end.multipliers, mean, h),
            "touching": maximum(found["touching"], select(pushing > 0.0, 1.0, 0.0)),
            "power": sum((effort * mean[k] for effort, k in zip(found.get("efforts", ()), fast, strict=True)), power),
        }

    return trace(jump, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, f"jump_{m.name}")


def pushes_of(found: Mapping[str, Any], h: Scalar) -> list[Scalar]:
    """The forces, positions and normals at all points of contact, of what a step h of `jump_program` gives."""
    points = zip(found["impulses"], found["positions"], found["normals"], strict=True)
    return [part for impulse, at, normal in points for part in (*(x / h for x in impulse), *at, *normal)]


def _moving(tree: Tree, found: Mapping[str, Any], h: Scalar, stopping: Scalar) -> dict[str, list[Scalar]]:
    """ "along", where everything moves with other velocities (nv) than those after the step: `stopping`, if stops push, > 0.

    Lone bodies move with those in the middle of free motion over the step. Where springs alone push, it is their motion.
    """
    along = list(found["v"])
    if lone_bodies(tree):
        along = [rate + more for rate, more in zip(along, turned_freely(tree, along, 0.5 * h), strict=True)]
    if "glide" in found:
        smooth = both(found["smooth"] > 0.5, stopping <= 0.0)
        along = [select(smooth, a, b) for a, b in zip(found["glide"], along, strict=True)]
    return {"along": along} if lone_bodies(tree) or "glide" in found else {}


def end_gaps(
    m: Mechanism, bounds: Sequence[Bound], h: Scalar, q: Any, after: Sequence[Scalar], closed: Callable[[Any], Any]
) -> list[Scalar]:
    """The gaps of limits after a step h from q with the velocities `after`; `closed`: q with the loops closed."""
    place = joint_coordinates(m, closed(kinematics.integrate(m.tree, q, [h * rate for rate in after])))
    return [bound.gap(place) for bound in bounds]


def work_of_stops(stops: Sequence[settling.Stop], forces: Sequence[Scalar], mean: Sequence[Scalar], h: Scalar) -> Scalar:
    """The work of stops in a step, at the mean of the velocities before and after it [J]."""
    pushes = zip(stops, forces, strict=True)
    return sum((h * force * stop.bound.sign * mean[stop.bound.v] for stop, force in pushes), 0.0)


def kick_program(forcing: Forcing, impacts: Program, *, resisted: bool) -> Program:
    """(h, q, v, v_free, u, implicit, closed) → the velocities after contact; see `integrators.MechanicalSystem.kick`.

    Drives resist it for the time `implicit`, but for those at their limits in the motion without contact. Joints with
    prescribed motions resist it like a far larger inertia, and what that takes is part of the work.

    Args:
        impacts: of `contact.impulse.step.impact_program`, with `parted`; `resisted`: likewise.
    """
    m = forcing.mechanism
    inertias = zip(forcing.fixed, settling.moved_inertias(m, forcing.fixed), strict=True)
    fast = {k: settling.STIFF * inertia for k, inertia in inertias}

    def resisting(q: Any, v: Any, v_free: Any, u: Any, implicit: Scalar) -> list[Scalar]:
        found: list[Scalar] = [fast.get(k, 0.0) for k in range(freedoms(m))]
        per_time = select(implicit > 0.0, 1.0 / select(implicit > 0.0, implicit, 1.0), 0.0)
        place, speeds = joint_motion(m, q, v)
        rates = joint_accelerations(m, q, v, [(b - a) * per_time for a, b in zip(v, v_free, strict=True)])
        parts, driven = forcing.layout.unpack(u), seen_mechanism(forcing, u)[0].driven
        wished = settling.drive_forces(driven, place, speeds, parts.commands, parts.states, implicit)
        for joint, wish in zip(driven, wished, strict=True):
            found[joint.v] = found[joint.v] + settling.limited(joint, wish, rates[joint.v]).resisting
        return found

    def kick(h: Scalar, q: Any, v: Any, v_free: Any, u: Any, implicit: Scalar, closed: Scalar) -> dict[str, Any]:
        more = [resisting(q, v, v_free, u, implicit)] if resisted else []
        row = forcing.layout.row(u)
        found = call(impacts, h, q, v, v_free, *more, *row, implicit, closed)
        after = [v_free[k] if k in fast else rate for k, rate in enumerate(found["v"])]
        held = (stiff * (after[k] - found["v"][k]) * 0.5 * (v[k] + after[k]) for k, stiff in fast.items())
        return {name: found[name] for name in _NEEDED} | {"v": after, "work": sum(held, found["work"])}

    nv = m.nv
    sizes: dict[str, int | tuple[int, ...]] = {"h": (), "q": m.nq, "v": nv, "v_free": nv, "u": forcing.layout.size}
    return trace(kick, {**sizes, "implicit": (), "closed": ()}, f"kick_{m.name}")


def _over_step(impacts: Program) -> Program:
    """`impacts` as steps by impulses of contact need it: without its last two inputs, if it is one with `parted`."""
    *inputs, implicit, closed = impacts.inputs
    if (implicit.name, closed.name) != ("implicit", "closed"):
        return impacts

    def whole(h: Scalar, *given: Any) -> Any:
        return call(impacts, h, *given, h, 0.0)

    return trace(whole, {array.name: array.shape for array in inputs}, impacts.name)


def seen_of_motion(
    name: str, forcing: Forcing, dynamics: Program | None, jumps: Program | None, bounds: Sequence[Bound], wanted: str,
    mean: Callable[[Any, Any, Any], list[Any]],
) -> Program:  # fmt: skip
    """(h, q, v, u) → what is `wanted` of the dynamics, or the mean of it over a step in which velocities jump.

    Args:
        dynamics: (h, q, v, u) → v̇ and more; None where contact of bodies may make velocities jump in any step.
        jumps: of `jump_program`; None where nothing does, not even stops of joints (`bounds`).
        mean: from h, v and what `jumps` gives.
    """
    m = forcing.mechanism

    def found(h: Any, q: Any, v: Any, u: Any) -> Any:
        def jumped() -> list[Any]:
            return mean(h, v, call(jumps, h, q, v, u))  # type: ignore[arg-type]

        if dynamics is None:
            return jumped()
        free = call(dynamics, NO_STEP, q, v, u)
        place, speeds, rates = q, v, free["acceleration"]
        if in_loops(m, bounds):
            (place, speeds), rates = joint_motion(m, q, v), joint_accelerations(m, q, v, rates)
        ahead = [bound.gap(place) + h * bound.sign * (speeds[bound.v] + h * rates[bound.v]) for bound in bounds]
        return when(reduce(minimum, ahead) < 0.0, jumped, free[wanted]) if ahead else free[wanted]

    return trace(found, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, name)
