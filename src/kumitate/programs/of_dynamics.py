"""Forward and inverse dynamics, inertia matrix, forces: their pages by method, and what they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import dynamics, kinematics
from ..dynamics import Acting, aba_with_loops
from ..errors import InputError
from ..kinematics import rate
from ..model import Mechanism, Tree, check_inertias, check_resistance
from ..scalar import call, directional, table, trace
from ..spatial import Force
from .inputs import Traceable, acting, applied, choose, limbed, loop_inputs, state_inputs, wrench_inputs

if TYPE_CHECKING:
    from ..dynamics.assembly.order import Order
    from ..model.tree.subchains import Partition

#: Methods for the inertia matrix, by name; `kumitate.papers` adds others.
MASS_MATRIX: dict[str, Callable[..., Any]] = {
    "crba": dynamics.crba,
}


def _page(room: str, name: str) -> Callable[..., Any]:
    """A page that is loaded on first use: `name` of a module."""

    def page(*state: Any, **options: Any) -> Any:
        return getattr(import_module(room, "kumitate"), name)(*state, **options)

    return page


_ADA, _DCA = _page(".dynamics.ada", "ada"), _page(".dynamics.dca", "dca")
_LAGRANGE_FORCES = _page(".lagrange.joint_forces", "joint_forces")
#: Methods of forward dynamics, by name; `kumitate.papers` adds others.
FORWARD_DYNAMICS: dict[str, Callable[..., Any]] = {
    "aba": dynamics.aba_with_loops,
    "ada": lambda *state, **options: _ADA(*state, **options).vdot,
    "dca": lambda *state, **options: _DCA(*state, **options).vdot,
    "hybrid": _page(".dynamics.hybrid", "hybrid"),
    "crba": partial(dynamics.factored_with_loops, dynamics.crba),
    "lagrange": _page(".lagrange", "lagrange"),
}


#: The methods whose order of assembly can be chosen.
_ASSEMBLING = ("ada", "dca")


def _ordered(method: str, order: Order) -> dict[str, Any]:
    """The order of assembly as a page's option."""
    if order is None:
        return {}
    if method not in _ASSEMBLING:
        raise InputError(f"method {method!r} has no order of assembly; methods {' and '.join(_ASSEMBLING)} have")
    return {"order": order}


def _parted(method: str, partition: Partition | str | None) -> dict[str, Any]:
    """The sub-chains of the hybrid method as a page's option."""
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
    page = choose("method of forward_dynamics", FORWARD_DYNAMICS, method)
    options = _ordered(method, order) | _parted(method, partition)
    check_resistance(m)
    # these methods need the inverse inertias of bodies
    tree = m.tree if method in (*_ASSEMBLING, "hybrid") else m.base_parameter_tree
    if method == "aba":
        tree = limbed(tree, wrenches)

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> Any:
        return page(tree, q, v, tau, acting(m, tree, wrenches, loop_tau, values), **options)

    return forward, state_inputs(m) | {"tau": m.nv} | wrench_inputs(wrenches) | loop_inputs(m, loop_tau)


def _with_chords(tree: Tree, q: Any, v: Any, applied: dynamics.Wrenches | None) -> Any:
    """The forces of springs, damping and friction of loop joints, added to the applied wrenches."""
    return dynamics.chord_drives(tree, dynamics.chord_closings(tree, q, v), {}, applied)


def _inverse_dynamics(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)
    tree = limbed(m.base_parameter_tree, wrenches)

    def inverse(q: Any, v: Any, a: Any, *values: Any) -> Any:
        pushed = _with_chords(tree, q, v, applied(tree, wrenches, values))
        return dynamics.rnea(tree, q, v, a, gravity=m.gravity, wrenches=pushed)

    return inverse, state_inputs(m) | {"a": m.nv} | wrench_inputs(wrenches)


def _joint_wrenches(
    m: Mechanism,
    *,
    method: str = "aba",
    order: Order = None,
    in_world: bool = False,
    wrenches: Sequence[str] = (),
    loop_tau: Sequence[str] = (),
) -> Traceable:
    forces = partial(choose("method of joint_wrenches", JOINT_WRENCHES, method), m, **_ordered(method, order))
    check_resistance(m)
    carried = {joint.name: m.tree.places[joint.child] for joint in m.joints}

    def page(q: Any, v: Any, tau: Any, *values: Any) -> list[list[Any]]:
        of_tree, of_chords = forces(q, v, tau, acting(m, m.tree, wrenches, loop_tau, values))
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

    return page, state_inputs(m) | {"tau": m.nv} | wrench_inputs(wrenches) | loop_inputs(m, loop_tau)


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


def _by_multipliers(m: Mechanism, q: Any, v: Any, tau: Any, acting: dynamics.Acting) -> tuple[list[Force], list[Force]]:
    found = _LAGRANGE_FORCES(m.tree, q, v, tau, acting)
    return found.tree, found.chords


JOINT_WRENCHES: dict[str, Callable[..., tuple[list[Force], list[Force]]]] = {
    "aba": _by_articulated_bodies,
    "lagrange": _by_multipliers,
    "ada": partial(_by_assembly, _ADA),
    "dca": partial(_by_assembly, _DCA),
}


def _mass_matrix(m: Mechanism, *, method: str = "crba") -> Traceable:
    page = choose("method of mass_matrix", MASS_MATRIX, method)
    check_inertias(m)
    return lambda q: page(m.base_parameter_tree, q), {"q": m.nq}


def _bias_forces(m: Mechanism) -> Traceable:
    (inverse, _), still = _inverse_dynamics(m), table([0.0] * m.nv)
    return lambda q, v: inverse(q, v, still), state_inputs(m)


def _gravity_forces(m: Mechanism) -> Traceable:
    tree, still = limbed(m.base_parameter_tree, ()), table([0.0] * m.nv)

    def holding(q: Any) -> Any:
        return dynamics.rnea(tree, q, still, still, gravity=m.gravity, wrenches=_with_chords(tree, q, still, None))

    return holding, {"q": m.nq}


DYNAMICS: dict[str, Callable[..., Traceable]] = {
    "forward_dynamics": _forward_dynamics,
    "inverse_dynamics": _inverse_dynamics,
    "joint_wrenches": _joint_wrenches,
    "mass_matrix": _mass_matrix,
    "bias_forces": _bias_forces,
    "gravity_forces": _gravity_forces,
}


# --- derivatives of the dynamics ------------------------------------------------------------------------------------------
def _forward_slopes(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """Forward dynamics with all its derivatives, closed loops included."""
    from ..dynamics.derivatives import loop_derivatives

    check_resistance(m)
    tree = m.base_parameter_tree

    def slopes(q: Any, v: Any, tau: Any, *values: Any) -> dict[str, Any]:
        found = loop_derivatives(tree, q, v, tau, Acting(m.gravity, applied(tree, wrenches, values)))
        return found._asdict()

    return slopes, state_inputs(m) | {"tau": m.nv} | wrench_inputs(wrenches)


def _inverse_slopes(page: Callable[..., Any], *inputs: str) -> Callable[..., Traceable]:
    """Derivatives of inverse dynamics by these inputs (nv) in addition to q and v; closed loops are cut, as by itself."""

    def made(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
        check_inertias(m)
        tree, sizes = m.base_parameter_tree, state_inputs(m) | dict.fromkeys(inputs, m.nv)

        def slopes(*given: Any) -> dict[str, Any]:
            pushed = applied(tree, wrenches, given[len(sizes) :])
            return page(tree, *given[: len(sizes)], gravity=m.gravity, wrenches=pushed)._asdict()  # type: ignore[no-any-return]

        return slopes, sizes | wrench_inputs(wrenches)

    return made


def _forward_slope(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """Forward dynamics with its derivative along one direction of (q, v, τ), loops included."""
    check_resistance(m)
    tree, shapes = m.base_parameter_tree, state_inputs(m) | {"tau": m.nv} | wrench_inputs(wrenches)

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> list[Any]:
        return aba_with_loops(tree, q, v, tau, Acting(m.gravity, applied(tree, wrenches, values)))

    both = directional(trace(forward, shapes, f"forward_dynamics_{m.name}"))
    still = [[0.0] * 6 for _ in wrenches]

    def slope(q: Any, v: Any, tau: Any, *others: Any) -> dict[str, Any]:
        *values, xi, dv, dtau = others
        found = call(both, q, v, tau, *values, rate(tree, q, xi), dv, dtau, *still)
        return {"a": found["result"], "slope": found["result_dot"]}

    return slope, shapes | {"along_q": m.nv, "along_v": m.nv, "along_tau": m.nv}


DERIVATIVES: dict[str, Callable[..., Traceable]] = {
    "forward_slopes": _forward_slopes,
    "inverse_slopes": _inverse_slopes(_page(".dynamics.derivatives", "rnea_derivatives"), "a"),
    "inverse_second_slopes": _inverse_slopes(_page(".dynamics.derivatives", "rnea_second_derivatives"), "a", "weights"),
    "forward_slope": _forward_slope,
}
