"""Poses, velocities, center of mass, momentum, energy: what is known of a state without forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import analysis, kinematics
from ..model import Mechanism, check_inertias
from .inputs import Traceable, applied, place_of, state_inputs, wrench_inputs


def _of_state(page: Callable[..., Any], *inputs: str, inertias: bool = False) -> Callable[..., Traceable]:
    """A page of (tree, inputs…), where inputs whose names begin with q are coordinates, and others along velocities.

    `inertias`: whether it needs those of the bodies.
    """

    def made(m: Mechanism) -> Traceable:
        if inertias:
            check_inertias(m)
        return lambda *state: page(m.tree, *state), _sizes(m, inputs)

    return made


def _at_place(page: Callable[..., Any], *inputs: str) -> Callable[..., Traceable]:
    """A page of (tree, inputs…, place), of a body or frame."""

    def made(m: Mechanism, *, place: str) -> Traceable:
        at = place_of(m, place)
        return lambda *state: page(m.tree, *state, at), _sizes(m, inputs)

    return made


def _sizes(m: Mechanism, inputs: Sequence[str]) -> dict[str, int | tuple[int, ...]]:
    return {name: m.nq if name.startswith("q") else m.nv for name in inputs}


def _poses(m: Mechanism) -> Traceable:
    def poses(q: Any) -> list[Any]:
        links = kinematics.link_poses(m.tree, q)
        return [kinematics.place_pose(m.tree, links, m.tree.places[body.name]).matrix() for body in m.bodies]

    return poses, {"q": m.nq}


def _reach(m: Mechanism, *, place: str, points: Sequence[Sequence[float]]) -> Traceable:
    at = place_of(m, place)
    return lambda q, direction: kinematics.support_function(m.tree, q, at, points, direction), {"q": m.nq, "direction": 3}


def _body_momenta(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.body_momenta(m, q, v), state_inputs(m)


def _ground_wrench(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)

    def ground(q: Any, v: Any, a: Any, *values: Any) -> Any:
        return analysis.ground_wrench(m.tree, q, v, a, gravity=m.gravity, wrenches=applied(m.tree, wrenches, values))

    return ground, state_inputs(m) | {"a": m.nv} | wrench_inputs(wrenches)


def _zmp(m: Mechanism, *, height: float = 0.0, wrenches: Sequence[str] = ()) -> Traceable:
    ground, inputs = _ground_wrench(m, wrenches=wrenches)
    return lambda *state: analysis.zero_moment_point(ground(*state), point=(0.0, 0.0, height)), inputs


def _energy(m: Mechanism) -> Traceable:
    check_inertias(m)

    def energy(q: Any, v: Any) -> dict[str, Any]:
        potential = analysis.potential_energy(m.tree, q, m.gravity)
        return {"kinetic": analysis.kinetic_energy(m.tree, q, v), "potential": potential}

    return energy, state_inputs(m)


STATES: dict[str, Callable[..., Traceable]] = {
    "pose": _at_place(lambda tree, q, at: kinematics.place_pose(tree, kinematics.link_poses(tree, q), at).matrix(), "q"),
    "poses": _poses,
    "velocity": _at_place(kinematics.world_velocity, "q", "v"),
    "jacobian": _at_place(kinematics.jacobian, "q"),
    "jacobian_rate": _at_place(kinematics.jacobian_rate, "q", "v"),
    "reach": _reach,
    "center_of_mass": _of_state(kinematics.center_of_mass, "q"),
    "momentum": _of_state(analysis.momentum, "q", "v", inertias=True),
    "centroidal_momentum": _of_state(analysis.centroidal_momentum, "q", "v", inertias=True),
    "momentum_rate": _of_state(analysis.momentum_rate, "q", "v", "a", inertias=True),
    "momentum_matrix": _of_state(analysis.momentum_matrix, "q", inertias=True),
    "centroidal_map": _of_state(analysis.centroidal_map, "q", "v", inertias=True),
    "mass_center_jacobian": _of_state(analysis.mass_center_jacobian, "q", "v", inertias=True),
    "body_momenta": _body_momenta,
    "mass_center_motion": _of_state(analysis.mass_center_motion, "q", "v", "a", inertias=True),
    "ground_wrench": _ground_wrench,
    "zmp": _zmp,
    "energy": _energy,
    "integrate": _of_state(kinematics.integrate, "q", "dv"),
    "difference": _of_state(kinematics.difference, "q0", "q1"),
}
