"""Derivatives of the dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dynamics import Acting, aba_with_loops
from ..kinematics import rate
from ..model import Mechanism, check_inertias, check_resistance
from ..scalar import call, directional, trace
from .inputs import Traceable, applied, state_inputs, wrench_inputs


def _forward_slopes(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """Forward dynamics with all its derivatives, closed loops included."""
    from ..dynamics.derivatives import loop_derivatives

    check_resistance(m)
    tree = m.base_parameter_tree

    def slopes(q: Any, v: Any, tau: Any, *values: Any) -> dict[str, Any]:
        found = loop_derivatives(tree, q, v, tau, Acting(m.gravity, applied(tree, wrenches, values)))
        return found._asdict()

    return slopes, state_inputs(m) | {"tau": m.nv} | wrench_inputs(wrenches)


def _inverse_slopes(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """Inverse dynamics with all its derivatives; closed loops are cut, as by `inverse_dynamics`."""
    from ..dynamics.derivatives import rnea_derivatives

    check_inertias(m)
    tree = m.base_parameter_tree

    def slopes(q: Any, v: Any, a: Any, *values: Any) -> dict[str, Any]:
        found = rnea_derivatives(tree, q, v, a, gravity=m.gravity, wrenches=applied(tree, wrenches, values))
        return found._asdict()

    return slopes, state_inputs(m) | {"a": m.nv} | wrench_inputs(wrenches)


def _inverse_second_slopes(m: Mechanism, *, wrenches: Sequence[str] = ()) -> Traceable:
    """The second derivatives of inverse dynamics, contracted with weights; closed loops are cut."""
    from ..dynamics.derivatives import rnea_second_derivatives

    check_inertias(m)
    tree = m.base_parameter_tree

    def slopes(q: Any, v: Any, a: Any, weights: Any, *values: Any) -> dict[str, Any]:
        pushed = applied(tree, wrenches, values)
        return rnea_second_derivatives(tree, q, v, a, weights, gravity=m.gravity, wrenches=pushed)._asdict()

    return slopes, state_inputs(m) | {"a": m.nv, "weights": m.nv} | wrench_inputs(wrenches)


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
    "inverse_slopes": _inverse_slopes,
    "inverse_second_slopes": _inverse_second_slopes,
    "forward_slope": _forward_slope,
}
