"""All functions that a robot can compile, each with its inputs and the page that computes it.

Every entry takes the mechanism and its own options, and returns the function to be traced and the sizes of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from .. import analysis, dynamics, kinematics
from ..compile import StoredProgram, found_or_traced
from ..dynamics import Acting, aba_with_loops
from ..errors import InputError
from ..kinematics import rate
from ..model import Mechanism, Place, Tree, check_inertias, check_resistance
from ..model.mechanism import digest
from ..model.tree.traversal import with_limbs
from ..renamed import of_papers
from ..scalar import Program, call, directional, table, trace
from ..spatial import Force

if TYPE_CHECKING:
    from ..dynamics.assembly.order import Order
    from ..model.tree.subchains import Partition

#: A function to be traced, and the sizes of its inputs.
Sizes = dict[str, int | tuple[int, ...]]
Traceable = tuple[Callable[..., Any], Sizes]


def choose(what: str, table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(table)}{of_papers(name)}")
    return table[name]


def place_of(tree: Tree, name: str) -> Place:
    return choose("body or frame", tree.places, name)


def state_inputs(m: Mechanism, *more: str) -> Sizes:
    """q and v, and more along velocities."""
    return _sizes(m, ("q", "v", *more))


def wrench_inputs(wrenches: Sequence[str]) -> Sizes:
    return {f"wrench_{name}": 6 for name in wrenches}


def applied(tree: Tree, wrenches: Sequence[str], values: Sequence[Any]) -> dynamics.Wrenches | None:
    for name in wrenches:
        place_of(tree, name)
    return dynamics.Wrenches(tree, dict(zip(wrenches, values, strict=True))) if wrenches else None


def limbed(tree: Tree, wrenches: Sequence[str]) -> Tree:
    """The tree with its alike limbs noted, without those that wrenches act on."""
    return with_limbs(tree, [place_of(tree, name).link for name in wrenches])


def loop_inputs(m: Mechanism, loops: Sequence[str]) -> Sizes:
    known = {loop.name: loop.kind.nv for loop in m.loops}
    return {f"tau_{name}": choose("loop", known, name) for name in loops}


def acting(
    m: Mechanism, tree: Tree, wrenches: Sequence[str], loop_tau: Sequence[str], values: Sequence[Any]
) -> dynamics.Acting:
    """The forces that act on the tree of a mechanism; `values`: of the wrenches, then of the efforts in loops."""
    pushed = applied(tree, wrenches, values[: len(wrenches)])
    return dynamics.Acting(m.gravity, pushed, dict(zip(loop_tau, values[len(wrenches) :], strict=True)))


# --- states without forces ------------------------------------------------------------------------------------------------
def _of_state(page: Callable[..., Any], *inputs: str, inertias: bool = False) -> Callable[..., Traceable]:
    """A page of (tree, inputs…): those that begin with q are coordinates; `inertias`: whether it needs those of the bodies."""

    def made(m: Mechanism) -> Traceable:
        if inertias:
            check_inertias(m)
        return lambda *state: page(m.tree, *state), _sizes(m, inputs)

    return made


def _at_place(page: Callable[..., Any], *inputs: str) -> Callable[..., Traceable]:
    """A page of (tree, inputs…, place), of a body or frame."""

    def made(m: Mechanism, *, place: str) -> Traceable:
        at = place_of(m.tree, place)
        return lambda *state: page(m.tree, *state, at), _sizes(m, inputs)

    return made


def _sizes(m: Mechanism, inputs: Sequence[str]) -> Sizes:
    return {name: m.nq if name.startswith("q") else m.nv for name in inputs}


def _poses(m: Mechanism) -> Traceable:
    def poses(q: Any) -> list[Any]:
        links = kinematics.link_poses(m.tree, q)
        return [kinematics.place_pose(m.tree, links, m.tree.places[body.name]).matrix() for body in m.bodies]

    return poses, {"q": m.nq}


def _reach(m: Mechanism, *, place: str, points: Sequence[Sequence[float]]) -> Traceable:
    at = place_of(m.tree, place)
    return lambda q, direction: kinematics.support_function(m.tree, q, at, points, direction), {"q": m.nq, "direction": 3}


def _body_momenta(m: Mechanism) -> Traceable:
    check_inertias(m)
    return lambda q, v: analysis.body_momenta(m, q, v), state_inputs(m)


def _ground_wrench(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)

    def ground(q: Any, v: Any, a: Any, *values: Any) -> Any:
        return analysis.ground_wrench(m.tree, q, v, a, gravity=m.gravity, wrenches=applied(m.tree, wrenches, values))

    return ground, state_inputs(m, "a") | wrench_inputs(wrenches)


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


# --- dynamics -------------------------------------------------------------------------------------------------------------
#: Methods for the inertia matrix, by name; `kumitate.papers` adds others.
MASS_MATRIX: dict[str, Callable[..., Any]] = {"crba": dynamics.crba}


def _page(room: str, name: str) -> Callable[..., Any]:
    """A page that is loaded on first use: `name` of a module."""

    def page(*state: Any, **options: Any) -> Any:
        return getattr(import_module(room, "kumitate"), name)(*state, **options)

    return page


_ADA, _DCA = _page(".dynamics.ada", "ada"), _page(".dynamics.dca", "dca")
_LAGRANGE_FORCES = _page(".lagrange.forward", "joint_forces")
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

    return forward, state_inputs(m, "tau") | wrench_inputs(wrenches) | loop_inputs(m, loop_tau)


def _with_chords(tree: Tree, q: Any, v: Any, applied: dynamics.Wrenches | None) -> Any:
    """The forces of springs, damping and friction of loop joints, added to the applied wrenches."""
    return dynamics.chord_drives(tree, dynamics.chord_closings(tree, q, v), {}, applied)


def _inverse_dynamics(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    check_inertias(m)
    tree = limbed(m.base_parameter_tree, wrenches)

    def inverse(q: Any, v: Any, a: Any, *values: Any) -> Any:
        pushed = _with_chords(tree, q, v, applied(tree, wrenches, values))
        return dynamics.rnea(tree, q, v, a, gravity=m.gravity, wrenches=pushed)

    return inverse, state_inputs(m, "a") | wrench_inputs(wrenches)


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
        places = [carried[link.name] for link in m.tree.links]
        shown = [(place, force.to_child(place.pose)) for place, force in zip(places, of_tree, strict=True)]
        if not in_world:
            turned = [force.to_parent(chord.turn) for chord, force in zip(m.tree.chords, of_chords, strict=True)]
            return [list(force) for force in (*(force for _, force in shown), *turned)]
        shown += [(chord.follower, force) for chord, force in zip(m.tree.chords, of_chords, strict=True)]
        axes = [kinematics.place_pose(m.tree, poses, place).rotation for place, _ in shown]
        return [[*R.rotate(force.moment), *R.rotate(force.force)] for R, (_, force) in zip(axes, shown, strict=True)]

    return page, state_inputs(m, "tau") | wrench_inputs(wrenches) | loop_inputs(m, loop_tau)


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
        return loop_derivatives(tree, q, v, tau, Acting(m.gravity, applied(tree, wrenches, values)))._asdict()

    return slopes, state_inputs(m, "tau") | wrench_inputs(wrenches)


def _inverse_slopes(page: Callable[..., Any], *inputs: str) -> Callable[..., Traceable]:
    """Derivatives of inverse dynamics by these inputs (nv) in addition to q and v; closed loops are cut, as by itself."""

    def made(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
        check_inertias(m)
        tree, sizes = m.base_parameter_tree, state_inputs(m, *inputs)

        def slopes(*given: Any) -> dict[str, Any]:
            pushed = applied(tree, wrenches, given[len(sizes) :])
            return page(tree, *given[: len(sizes)], gravity=m.gravity, wrenches=pushed)._asdict()  # type: ignore[no-any-return]

        return slopes, sizes | wrench_inputs(wrenches)

    return made


def _forward_slope(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """Forward dynamics with its derivative along one direction of (q, v, τ), loops included."""
    check_resistance(m)
    tree, shapes = m.base_parameter_tree, state_inputs(m, "tau") | wrench_inputs(wrenches)

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> list[Any]:
        return aba_with_loops(tree, q, v, tau, Acting(m.gravity, applied(tree, wrenches, values)))

    both = directional(trace(forward, shapes, f"forward_dynamics_{m.name}"))
    still = [[0.0] * 6 for _ in wrenches]

    def slope(q: Any, v: Any, tau: Any, *others: Any) -> dict[str, Any]:
        *values, xi, dv, dtau = others
        found = call(both, q, v, tau, *values, rate(tree, q, xi), dv, dtau, *still)
        return {"a": found["result"], "slope": found["result_dot"]}

    return slope, shapes | dict.fromkeys(("along_q", "along_v", "along_tau"), m.nv)


DERIVATIVES: dict[str, Callable[..., Traceable]] = {
    "forward_slopes": _forward_slopes,
    "inverse_slopes": _inverse_slopes(_page(".dynamics.derivatives", "rnea_derivatives"), "a"),
    "inverse_second_slopes": _inverse_slopes(_page(".dynamics.derivatives", "rnea_second_derivatives"), "a", "weights"),
    "forward_slope": _forward_slope,
}


# --- the catalogue --------------------------------------------------------------------------------------------------------
#: What makes the program of each function of `Robot`, by the function's name.
PROGRAMS: dict[str, Callable[..., Traceable]] = {**DYNAMICS, **STATES, **DERIVATIVES}

#: Mechanisms without loops, of at most so many degrees of freedom, may need fewer operations by their inertia matrix.
SMALL = 8


def make_program(mechanism: Mechanism, function: str, **options: Any) -> Program:
    """The program of one of the functions in `PROGRAMS` for a mechanism.

    Raises:
        InputError: for an unknown function, option, method or place; the message lists the right ones.
    """
    make, name = choose("function", PROGRAMS, function), f"{function}_{mechanism.name}"

    def traced(**chosen: str) -> Program:
        page, inputs = make(mechanism, **(options | chosen))
        return trace(page, inputs, name)

    open_to_choice = function == "forward_dynamics" and options.get("method", "auto") == "auto"
    if not open_to_choice or mechanism.tree.closed or mechanism.nv > SMALL:
        return traced()
    programs = {method: traced(method=method) for method in ("aba", "crba")}
    counts = {method: program.operations.total() for method, program in programs.items()}
    chosen, other = sorted(counts, key=counts.__getitem__)
    remark = f"method {chosen!r}: {counts[chosen]} operations; {other!r} would take {counts[other]}"
    return replace(programs[chosen], remark=remark)


# --- their keys, among the kernels of a robot and on disk: one for each function and its options --------------------------
def stored_program(mechanism: Mechanism, function: str, options: Mapping[str, Any]) -> Program | StoredProgram:
    """The program of a function of a mechanism, read from disk if it was made before; errors as in `make_program`.

    Methods that assemble inverse inertias warn about light links while they are traced, so they are traced in every process,
    and so are those of `kumitate.papers`, which are there once it is imported.
    """
    known, asked, method = digest(mechanism), repr(kernel_key(function, options)), options.get("method")
    traced = " at 0x" in asked or method in ("ada", "dca") or bool(of_papers(method))
    key = None if known is None or traced else f"{known} {asked}"
    return found_or_traced(key, lambda: make_program(mechanism, function, **options))


def kernel_key(function: str, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of a kernel among those of a mechanism: the function, and its options that differ from their defaults."""
    usual = _defaults(function)
    given = ((name, _hashable(value)) for name, value in options.items())
    return (function, *sorted((name, value) for name, value in given if name not in usual or value != usual[name]))


@cache
def _defaults(function: str) -> dict[str, Any]:
    """The options of a function with their defaults; empty for an unknown function."""
    parameters = signature(PROGRAMS[function]).parameters.values() if function in PROGRAMS else ()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


def _hashable(option: Any) -> Any:
    """The option with lists as tuples, recursively."""
    return tuple(map(_hashable, option)) if isinstance(option, list | tuple) else option
