"""Poses, velocities, center of mass, momentum, energy: what is known of a state without forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import analysis, kinematics
from ..model import Mechanism, check_inertias
from .inputs import Traceable, applied, place_of, state_inputs, wrench_inputs


def _pose(m: Mechanism, *, place: str) -> Traceable:
    at = place_of(m, place)
    return lambda q: kinematics.place_pose(m.tree, kinematics.link_poses(m.tree, q), at).matrix(), {"q": m.nq}


def _poses(m: Mechanism) -> Traceable:
    def poses(q: Any) -> list[Any]:
        links = kinematics.link_poses(m.tree, q)
        return [kinematics.place_pose(m.tree, links, m.tree.places[body.name]).matrix() for body in m.bodies]

    return poses, {"q": m.nq}


def _velocity(m: Mechanism, *, place: str) -> Traceable:
    at = place_of(m, place)
    return lambda q, v: kinematics.world_velocity(m.tree, q, v, at), state_inputs(m)


def _jacobian(m: Mechanism, *, place: str) -> Traceable:
    at = place_of(m, place)
    return lambda q: kinematics.jacobian(m.tree, q, at), {"q": m.nq}


def _jacobian_rate(m: Mechanism, *, place: str) -> Traceable:
    at = place_of(m, place)
    return lambda q, v: kinematics.jacobian_rate(m.tree, q, v, at), state_inputs(m)


def _reach(m: Mechanism, *, place: str, points: Sequence[Sequence[float]]) -> Traceable:
    at = place_of(m, place)
    return lambda q, direction: kinematics.support_function(m.tree, q, at, points, direction), {"q": m.nq, "direction": 3}


def _center_of_mass(m: Mechanism) -> Traceable:
    return lambda q: kinematics.center_of_mass(m.tree, q), {"q": m.nq}


def _momentum(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.momentum(m.tree, q, v), state_inputs(m)


def _centroidal_momentum(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.centroidal_momentum(m.tree, q, v), state_inputs(m)


def _momentum_rate(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v, a: analysis.momentum_rate(m.tree, q, v, a), state_inputs(m) | {"a": m.nv}


def _momentum_matrix(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q: analysis.momentum_matrix(m.tree, q), {"q": m.nq}


def _centroidal_map(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.centroidal_map(m.tree, q, v), state_inputs(m)


def _mass_center_jacobian(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.mass_center_jacobian(m.tree, q, v), state_inputs(m)


def _body_momenta(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.body_momenta(m, q, v), state_inputs(m)


def _mass_center_motion(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v, a: analysis.mass_center_motion(m.tree, q, v, a), state_inputs(m) | {"a": m.nv}


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


def _integrate(m: Mechanism) -> Traceable:
    return lambda q, dv: kinematics.integrate(m.tree, q, dv), {"q": m.nq, "dv": m.nv}


def _difference(m: Mechanism) -> Traceable:
    return lambda q0, q1: kinematics.difference(m.tree, q0, q1), {"q0": m.nq, "q1": m.nq}


STATES: dict[str, Callable[..., Traceable]] = {
    "pose": _pose,
    "poses": _poses,
    "velocity": _velocity,
    "jacobian": _jacobian,
    "jacobian_rate": _jacobian_rate,
    "reach": _reach,
    "center_of_mass": _center_of_mass,
    "momentum": _momentum,
    "centroidal_momentum": _centroidal_momentum,
    "momentum_rate": _momentum_rate,
    "momentum_matrix": _momentum_matrix,
    "centroidal_map": _centroidal_map,
    "mass_center_jacobian": _mass_center_jacobian,
    "body_momenta": _body_momenta,
    "mass_center_motion": _mass_center_motion,
    "ground_wrench": _ground_wrench,
    "zmp": _zmp,
    "energy": _energy,
    "integrate": _integrate,
    "difference": _difference,
}
