"""The programs that a page needs beside the step: where bodies are, what pulling them moves, postures with closed loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...analysis import kinetic_energy, potential_energy
from ...kinematics import integrate, link_poses, place_pose
from ...model import Mechanism, Place
from ...scalar import Program, absolute, call, select, trace
from ...simulate.stepping.step_code import StepCode, signals_of
from ...spatial import Vector3

#: A body and a point fixed to it, as inputs of programs: which of those that can be pulled, and where in its axes [m].
GRIP: dict[str, int | tuple[int, ...]] = {"body": (), "point": 3}


def programs_of(code: StepCode, pulled: Sequence[str], mobility: Callable[..., Program] | None = None) -> dict[str, Program]:
    """The programs of a page beside the step, by name; mobility: (mechanism, lever, places of bodies) → that of its name."""
    m, places = code.mechanism, [code.mechanism.tree.places[name] for name in pulled]
    found = {"look": look_program(m), "show": show_program(code)}
    if pulled:
        lever = lever_program(m, places)
        found |= {"lever": lever, "mobility": mobility(m, lever, places) if mobility else mobility_program(code, lever)}
    if m.loops:
        found["posture"] = posture_program(code)
    return found


def look_program(m: Mechanism) -> Program:
    """q → the pose of every body, its rotation by rows and its position [m] (12 numbers)."""

    def look(q: Any) -> dict[str, Any]:
        links = link_poses(m.tree, q)
        poses = [place_pose(m.tree, links, m.tree.places[body.name]) for body in m.bodies]
        return {"poses": [x for X in poses for x in (*(part for row in X.rotation.matrix() for part in row), *X.translation)]}

    return trace(look, {"q": m.nq}, f"look_{m.name}")


def show_program(code: StepCode) -> Program:
    """(number, q, v, the drives' own states, h, u) → energies [J], efforts at the joints, and pushes of contact.

    They are what curves and arrows show: computed once a picture, and not in every step.
    """
    m, layout = code.mechanism, code.layout

    def show(number: Any, q: Any, v: Any, *rest: Any) -> dict[str, Any]:
        *states, h, u = rest
        u = layout.with_states(u, [x for part in states for x in part])
        signals = signals_of(code, number * h, h, q, v, u)
        seen = code.parameters.at(layout.row(u)[0]).mechanism if code.parameters else m
        pushes = list(signals("contact_pushes"))
        energy = [kinetic_energy(seen.tree, q, v), potential_energy(seen.tree, q, seen.gravity)]
        found = {"energy": energy, "tau": list(signals("tau"))}
        return found | ({"pushes": pushes} if pushes else {})

    sizes: dict[str, int | tuple[int, ...]] = {"number": (), "q": m.nq, "v": m.nv, **layout.own_states, "h": ()}
    return trace(show, {**sizes, "u": layout.size}, f"show_{m.name}")


def lever_program(m: Mechanism, places: Sequence[Place]) -> Program:
    """(q, body, point) → where the point is in the world [m], and its Jacobian J (3, nv): its velocity is J v.

    The transposed Jacobian gives the efforts at the joints that a force at the point is worth.
    """

    def lever(q: Any, body: Any, point: Any) -> dict[str, Any]:
        poses = link_poses(m.tree, q)
        chosen = [select(absolute(body - k) < 0.5, 1.0, 0.0) for k in range(len(places))]
        end = Vector3()
        for share, place in zip(chosen, places, strict=True):
            X = place_pose(m.tree, poses, place)
            end = end + (X.translation + X.rotation.rotate(Vector3.of(point))) * share
        carried: list[Any] = [0.0] * len(m.tree.links)  # whether a link carries the body
        for share, place in zip(chosen, places, strict=True):
            for link in m.tree.ancestors(place.link):
                carried[link.index] = carried[link.index] + share
        columns = []
        for link in m.tree.links:
            X = poses[link]
            for S in link.kind.subspace(link.coordinates(q)):
                along, axis = X.rotation.rotate(S.linear), X.rotation.rotate(S.angular)
                columns.append((along + axis.cross(end - X.translation)) * carried[link.index])
        return {"end": list(end), "jacobian": [column[k] for k in range(3) for column in columns]}

    return trace(lever, {"q": m.nq, **GRIP}, f"lever_{m.name}")


def mobility_program(code: StepCode, lever: Program) -> Program:
    """(q, u, body, point) → J M⁻¹ Jᵀ (9) of the point: the velocity that it gets per impulse on it [1/kg].

    M⁻¹ is what efforts at the joints change in the accelerations of the mechanism, so that its loops count; contact does not
    (O. Khatib, A unified approach for motion and force control of robot manipulators, IEEE J. Robotics and Automation 3, 1987,
    eq. 51).
    """
    m, own = code.mechanism, code.layout.at("tau")

    def mobility(q: Any, u: Any, body: Any, point: Any) -> dict[str, Any]:
        jacobian = call(lever, q, body, point)["jacobian"]
        rows = [[jacobian[k * m.nv + j] for j in range(m.nv)] for k in range(3)]

        def accelerations(tau: Sequence[Any]) -> list[Any]:
            pushed = [*(u[k] + tau[k] for k in range(m.nv)), *(u[k] for k in range(own.stop, code.layout.size))]
            return list(call(code.dynamics, 0.0, q, [0.0] * m.nv, pushed)["acceleration"])

        free = accelerations([0.0] * m.nv)
        moved = [[after - before for after, before in zip(accelerations(row), free, strict=True)] for row in rows]
        return {"mobility": [sum(a * b for a, b in zip(row, column, strict=True)) for row in rows for column in moved]}

    return trace(mobility, {"q": m.nq, "u": code.layout.size, **GRIP}, f"mobility_{m.name}")


def posture_program(code: StepCode) -> Program:
    """(q, direction (nv), amount, row of parameters if there are any) → q with closed loops, moved by an amount of one joint.

    The direction has a one where the joint is. What loops admit of it is a direction along which they stay closed to first
    order; the rest is projected away. "share" is how much of the joint itself is left: zero where the loops hold it.
    """
    m = code.mechanism

    def posture(q: Any, direction: Any, amount: Any, *row: Any) -> dict[str, Any]:
        along = list(call(code.projection, q, direction, *row)["v"])
        share = sum(a * b for a, b in zip(along, direction, strict=True))
        part = select(share > 1e-9, amount / select(share > 1e-9, share, 1.0), 0.0)
        moved = integrate(m.tree, list(q), [part * x for x in along])
        return {"posture": list(call(code.projection, moved, [0.0] * m.nv, *row)["q"]), "share": share}

    sizes: dict[str, int | tuple[int, ...]] = {"q": m.nq, "direction": m.nv, "amount": ()}
    if code.parameters:
        sizes["parameters"] = code.parameters.size
    return trace(posture, sizes, f"posture_{m.name}")


def pushed_program(efforts: Program, own: slice) -> Program:
    """(t, q, v, u) → u with the values of functions, those at the joints in addition to the efforts that u has there already.

    So a page pulls bodies of a mechanism whose controller gives the efforts: nothing else reads these numbers of u.
    """

    def pushed(t: Any, q: Any, v: Any, u: Any) -> list[Any]:
        found = list(call(efforts, t, q, v, u))
        return [x + u[k] if own.start <= k < own.stop else x for k, x in enumerate(found)]

    return trace(pushed, {array.name: array.shape[0] if array.shape else () for array in efforts.inputs}, "pushed")
