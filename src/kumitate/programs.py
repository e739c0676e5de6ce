"""The functions that a robot can compile, each with its inputs and the page that computes it.

Every entry takes the mechanism and its own options, and returns the function to be traced and the sizes of its inputs. Used
only by `robot` and `simulation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from . import analysis, dynamics, kinematics
from .dynamics.assembly.order import Order
from .errors import InputError
from .model import Mechanism, Place, Tree, check_inertias, check_resistance
from .model.tree.limbs import with_limbs
from .model.tree.subchains import Partition
from .scalar import Program, table, trace
from .spatial import Force

__all__ = ["FORWARD_DYNAMICS", "MASS_MATRIX", "PROGRAMS", "make_program"]

Traceable = tuple[Callable[..., Any], dict[str, int | tuple[int, ...]]]

MASS_MATRIX: dict[str, Callable[..., Any]] = {
    "crba": dynamics.crba,
    "unit_vector": dynamics.unit_vector,
    "jacobian": dynamics.jacobian_inertia,
}


def _page(room: str, name: str) -> Callable[..., Any]:
    """A page that is loaded on first use: `name` of a module."""

    def page(*state: Any, **options: Any) -> Any:
        return getattr(import_module(room, __package__), name)(*state, **options)

    return page


_ADA, _DCA = _page(".dynamics.ada", "ada"), _page(".dynamics.dca", "dca")
FORWARD_DYNAMICS: dict[str, Callable[..., Any]] = {
    "aba": dynamics.aba_with_loops,
    "ada": lambda *state, **options: _ADA(*state, **options).vdot,
    "dca": lambda *state, **options: _DCA(*state, **options).vdot,
    "hybrid": _page(".dynamics.hybrid", "hybrid"),
    "crba": partial(dynamics.factored_with_loops, dynamics.crba),
    "unit_vector": partial(dynamics.factored_with_loops, dynamics.unit_vector),
    "lagrange": _page(".lagrange", "lagrange"),
}

#: Mechanisms without loops, of at most so many degrees of freedom, may need fewer operations by their inertia matrix.
SMALL = 8


def make_program(mechanism: Mechanism, function: str, **options: Any) -> Program:
    """The program of one of the functions in `PROGRAMS` for a mechanism.

    Raises:
        InputError: for an unknown function, option, method or place; the message lists the right ones.
    """
    make, name = _choose("function", PROGRAMS, function), f"{function}_{mechanism.name}"

    def traced(**chosen: str) -> Program:
        page, inputs = make(mechanism, **(options | chosen))
        return trace(page, inputs, name)

    open_to_choice = function == "forward_dynamics" and options.get("method", "auto") == "auto"
    if not open_to_choice or mechanism.tree.closed or mechanism.nv > SMALL:
        return traced()
    return _of_fewest_operations({method: traced(method=method) for method in ("aba", "crba")})


def _of_fewest_operations(programs: dict[str, Program]) -> Program:
    """The program of the method that takes the fewest operations, with a remark."""
    counts = {method: program.operations.total() for method, program in programs.items()}
    chosen, other = sorted(counts, key=counts.__getitem__)
    remark = f"method {chosen!r}: {counts[chosen]} operations; {other!r} would take {counts[other]}"
    return replace(programs[chosen], remark=remark)


def _choose(what: str, table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(table)}")
    return table[name]


def _place(m: Mechanism, name: str) -> Place:
    return _choose("body or frame", m.tree.places, name)


def _state(m: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"q": m.nq, "v": m.nv}


def _wrench_inputs(wrenches: Sequence[str]) -> dict[str, int | tuple[int, ...]]:
    return {f"wrench_{name}": 6 for name in wrenches}


def _applied(tree: Tree, wrenches: Sequence[str], values: Sequence[Any]) -> dynamics.Wrenches | None:
    for name in wrenches:
        _choose("body or frame", tree.places, name)
    return dynamics.Wrenches(tree, dict(zip(wrenches, values, strict=True))) if wrenches else None


def _loop_inputs(m: Mechanism, loops: Sequence[str]) -> dict[str, int | tuple[int, ...]]:
    known = {loop.name: loop.kind.nv for loop in m.loops}
    return {f"tau_{name}": _choose("loop", known, name) for name in loops}


def _acting(
    m: Mechanism, tree: Tree, wrenches: Sequence[str], loop_tau: Sequence[str], values: Sequence[Any]
) -> dynamics.Acting:
    """The forces that act on the tree of a mechanism; `values`: of the wrenches, then of the efforts in loops."""
    applied = _applied(tree, wrenches, values[: len(wrenches)])
    return dynamics.Acting(m.gravity, applied, dict(zip(loop_tau, values[len(wrenches) :], strict=True)))


#: The methods whose order of assembly can be chosen.
_ASSEMBLING = ("ada", "dca")


def _ordered(method: str, order: Order) -> dict[str, Any]:
    """The order of assembly as a page's option.

    Raises:
        InputError: for methods without one.
    """
    if order is None:
        return {}
    if method not in _ASSEMBLING:
        raise InputError(f"method {method!r} has no order of assembly; methods {' and '.join(_ASSEMBLING)} have")
    return {"order": order}


def _parted(method: str, partition: Partition | str | None) -> dict[str, Any]:
    """The sub-chains of the hybrid method as a page's option.

    Raises:
        InputError: for methods without one.
    """
    if method == "hybrid":
        return {"partition": "auto" if partition is None else partition}
    if partition is not None:
        raise InputError(f"method {method!r} has no partition; method 'hybrid' has")
    return {}


def _forward_dynamics(
    m: Mechanism,
    *,
    method: str = "auto",
    order: Order = None,
    partition: Partition | str | None = None,
    wrenches: Sequence[str] = (),
    loop_tau: Sequence[str] = (),
) -> Traceable:
    method = "aba" if method == "auto" else method
    page = _choose("method of forward_dynamics", FORWARD_DYNAMICS, method)
    options = _ordered(method, order) | _parted(method, partition)
    check_resistance(m)
    # these methods need the inverse inertias of bodies
    tree = m.tree if method in (*_ASSEMBLING, "hybrid") else m.base_parameter_tree
    if method == "aba" and not wrenches:  # a wrench on one limb would be computed for all
        tree = with_limbs(tree)

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> Any:
        return page(tree, q, v, tau, _acting(m, tree, wrenches, loop_tau, values), **options)

    return forward, _state(m) | {"tau": m.nv} | _wrench_inputs(wrenches) | _loop_inputs(m, loop_tau)


def _with_chords(tree: Tree, q: Any, v: Any, applied: dynamics.Wrenches | None) -> Any:
    """The forces of springs, damping and friction of loop joints, added to the applied wrenches."""
    return dynamics.chord_drives(tree, dynamics.chord_closings(tree, q, v), {}, applied)


def _inverse_dynamics(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)
    tree = m.base_parameter_tree if wrenches else with_limbs(m.base_parameter_tree)

    def inverse(q: Any, v: Any, a: Any, *values: Any) -> Any:
        applied = _with_chords(tree, q, v, _applied(tree, wrenches, values))
        return dynamics.rnea(tree, q, v, a, gravity=m.gravity, wrenches=applied)

    return inverse, _state(m) | {"a": m.nv} | _wrench_inputs(wrenches)


def _joint_wrenches(
    m: Mechanism,
    *,
    method: str = "aba",
    order: Order = None,
    in_world: bool = False,
    wrenches: Sequence[str] = (),
    loop_tau: Sequence[str] = (),
) -> Traceable:
    forces = partial(_choose("method of joint_wrenches", JOINT_WRENCHES, method), m, **_ordered(method, order))
    check_resistance(m)
    carried = {joint.name: m.tree.places[joint.child] for joint in m.joints}

    def page(q: Any, v: Any, tau: Any, *values: Any) -> list[list[Any]]:
        of_tree, of_chords = forces(q, v, tau, _acting(m, m.tree, wrenches, loop_tau, values))
        poses = kinematics.link_poses(m.tree, q)
        shown = []
        for link, force in zip(m.tree.links, of_tree, strict=True):
            place = carried[link.name]
            shown.append((place, force.to_child(place.pose)))
        if not in_world:
            turned = [force.to_parent(chord.turn) for chord, force in zip(m.tree.chords, of_chords, strict=True)]
            return [list(force) for force in (*(force for _, force in shown), *turned)]
        shown += [(chord.follower, force) for chord, force in zip(m.tree.chords, of_chords, strict=True)]
        axes = [kinematics.place_pose(m.tree, poses, place).rotation for place, _ in shown]
        return [[*R.rotate(force.moment), *R.rotate(force.force)] for R, (_, force) in zip(axes, shown, strict=True)]

    return page, _state(m) | {"tau": m.nv} | _wrench_inputs(wrenches) | _loop_inputs(m, loop_tau)


def _by_articulated_bodies(m: Mechanism, q: Any, v: Any, tau: Any, acting: dynamics.Acting) -> tuple[list[Force], list[Force]]:
    if m.tree.closed:
        found = dynamics.loop_wrenches(m.tree, q, v, tau, acting)
        return found.tree, found.chords
    return dynamics.joint_forces(m.tree, q, v, tau, acting), []


def _by_assembly(
    page: Callable[..., Any], m: Mechanism, q: Any, v: Any, tau: Any, acting: dynamics.Acting, **ordered: Any
) -> tuple[list[Force], list[Force]]:
    found = page(m.tree, q, v, tau, acting, **ordered)
    return [Force.of(found.forces[link.index]) for link in m.tree.links], found.chords


JOINT_WRENCHES: dict[str, Callable[..., tuple[list[Force], list[Force]]]] = {
    "aba": _by_articulated_bodies,
    "ada": partial(_by_assembly, _ADA),
    "dca": partial(_by_assembly, _DCA),
}


def _mass_matrix(m: Mechanism, *, method: str = "crba") -> Traceable:
    page = _choose("method of mass_matrix", MASS_MATRIX, method)
    check_inertias(m)
    return lambda q: page(m.base_parameter_tree, q), {"q": m.nq}


def _bias_forces(m: Mechanism) -> Traceable:
    check_inertias(m)
    still = table([0.0] * m.nv)

    def bias(q: Any, v: Any) -> Any:
        return dynamics.rnea(
            m.base_parameter_tree, q, v, still, gravity=m.gravity, wrenches=_with_chords(m.base_parameter_tree, q, v, None)
        )

    return bias, _state(m)


def _gravity_forces(m: Mechanism) -> Traceable:
    still = table([0.0] * m.nv)

    def holding(q: Any) -> Any:
        pushed = _with_chords(m.base_parameter_tree, q, still, None)
        return dynamics.rnea(m.base_parameter_tree, q, still, still, gravity=m.gravity, wrenches=pushed)

    return holding, {"q": m.nq}


def _pose(m: Mechanism, *, place: str) -> Traceable:
    at = _place(m, place)
    return lambda q: kinematics.place_pose(m.tree, kinematics.link_poses(m.tree, q), at).matrix(), {"q": m.nq}


def _poses(m: Mechanism) -> Traceable:
    def poses(q: Any) -> list[Any]:
        links = kinematics.link_poses(m.tree, q)
        return [kinematics.place_pose(m.tree, links, m.tree.places[body.name]).matrix() for body in m.bodies]

    return poses, {"q": m.nq}


def _velocity(m: Mechanism, *, place: str) -> Traceable:
    at = _place(m, place)
    return lambda q, v: kinematics.world_velocity(m.tree, q, v, at), _state(m)


def _jacobian(m: Mechanism, *, place: str) -> Traceable:
    at = _place(m, place)
    return lambda q: kinematics.jacobian(m.tree, q, at), {"q": m.nq}


def _jacobian_rate(m: Mechanism, *, place: str) -> Traceable:
    at = _place(m, place)
    return lambda q, v: kinematics.jacobian_rate(m.tree, q, v, at), _state(m)


def _reach(m: Mechanism, *, place: str, points: Sequence[Sequence[float]]) -> Traceable:
    at = _place(m, place)
    return lambda q, direction: kinematics.support_function(m.tree, q, at, points, direction), {"q": m.nq, "direction": 3}


def _center_of_mass(m: Mechanism) -> Traceable:
    return lambda q: kinematics.center_of_mass(m.tree, q), {"q": m.nq}


def _momentum(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.momentum(m.tree, q, v), _state(m)


def _centroidal_momentum(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.centroidal_momentum(m.tree, q, v), _state(m)


def _momentum_rate(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v, a: analysis.momentum_rate(m.tree, q, v, a), _state(m) | {"a": m.nv}


def _momentum_matrix(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q: analysis.momentum_matrix(m.tree, q), {"q": m.nq}


def _body_momenta(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.body_momenta(m, q, v), _state(m)


def _mass_center_motion(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v, a: analysis.mass_center_motion(m.tree, q, v, a), _state(m) | {"a": m.nv}


def _ground_wrench(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)

    def ground(q: Any, v: Any, a: Any, *values: Any) -> Any:
        return analysis.ground_wrench(m.tree, q, v, a, gravity=m.gravity, wrenches=_applied(m.tree, wrenches, values))

    return ground, _state(m) | {"a": m.nv} | _wrench_inputs(wrenches)


def _zmp(m: Mechanism, *, height: float = 0.0, wrenches: Sequence[str] = ()) -> Traceable:
    ground, inputs = _ground_wrench(m, wrenches=wrenches)
    return lambda *state: analysis.zero_moment_point(ground(*state), point=(0.0, 0.0, height)), inputs


def _energy(m: Mechanism) -> Traceable:
    check_inertias(m)

    def energy(q: Any, v: Any) -> dict[str, Any]:
        potential = analysis.potential_energy(m.tree, q, m.gravity)
        return {"kinetic": analysis.kinetic_energy(m.tree, q, v), "potential": potential}

    return energy, _state(m)


def _integrate(m: Mechanism) -> Traceable:
    return lambda q, dv: kinematics.integrate(m.tree, q, dv), {"q": m.nq, "dv": m.nv}


def _difference(m: Mechanism) -> Traceable:
    return lambda q0, q1: kinematics.difference(m.tree, q0, q1), {"q0": m.nq, "q1": m.nq}


PROGRAMS: dict[str, Callable[..., Traceable]] = {
    "forward_dynamics": _forward_dynamics,
    "inverse_dynamics": _inverse_dynamics,
    "joint_wrenches": _joint_wrenches,
    "mass_matrix": _mass_matrix,
    "bias_forces": _bias_forces,
    "gravity_forces": _gravity_forces,
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
    "body_momenta": _body_momenta,
    "mass_center_motion": _mass_center_motion,
    "ground_wrench": _ground_wrench,
    "zmp": _zmp,
    "energy": _energy,
    "integrate": _integrate,
    "difference": _difference,
}
