"""Quantities derived from a result: zero-moment point, momenta about the center of mass, power of every source (T 5.2).

All times are computed in one batch by the functions of `analysis`, compiled once per mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...analysis import centroidal_momentum, centroidal_momentum_rate, ground_wrench, powers, zero_moment_point
from ...compile import Kernel
from ...dynamics import Wrenches
from ...errors import InputError
from ...model import Mechanism
from ...scalar import trace
from .acted import Given, acted
from .line_laws import check_line_laws
from .result import Result

#: Forces below this fraction of the weight are rounding: in free flight nothing supports a mechanism.
_HELD = 1e-9
#: Number of kernels kept in memory, those of the mechanisms used last.
_KEPT = 16


class Balance(NamedTuple):
    """The ground reaction on a mechanism over time.

    Attributes:
        zmp: the zero-moment point (n, 3) on the ground [m]; on flat ground the center of pressure. NaN in free flight.
        force: the total supporting force (n, 3) [N], in the world's axes.
        moment: the moment about the zero-moment point (n, 3) [N·m]: along z only.
    """

    zmp: np.ndarray
    force: np.ndarray
    moment: np.ndarray


class Momenta(NamedTuple):
    """Momenta about the center of mass, in the world's axes, over time.

    Attributes:
        angular: (n, 3) [kg·m²/s], `linear`: (n, 3) [kg·m/s].
        angular_rate: (n, 3) [N·m], `linear_rate`: (n, 3) [N]: all external forces, weight included.
    """

    angular: np.ndarray
    linear: np.ndarray
    angular_rate: np.ndarray
    linear_rate: np.ndarray


class Powers(NamedTuple):
    """The power of each source, positive into the mechanism, (n, …) [W]; together the rate of the kinetic energy.

    Attributes:
        names: of the degrees of freedom (k): those of the tree as `Mechanism.v_names`, then the loops'.
        drives, damping, springs: (n, k), damping with dry friction.
        wrenches: by the name of the place, (n).
        gravity: (n).
    """

    names: tuple[str, ...]
    drives: np.ndarray
    damping: np.ndarray
    springs: np.ndarray
    wrenches: dict[str, np.ndarray]
    gravity: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The sum of all sources (n) [W]: the rate of the kinetic energy if nothing else acts (such as contacts)."""
        by_joint = (self.drives + self.damping + self.springs).sum(axis=1)
        return np.asarray(by_joint + self.gravity + sum(self.wrenches.values()))


def balance_of(result: Result, *, height: float = 0.0, wrenches: Given | None = None) -> Balance:
    """The zero-moment point along a result, on horizontal ground at a `height` [m], and the ground reaction there.

    Args:
        wrenches: known external [n; f], other than those of the ground, by name of a body or frame: arrays (n, 6) or (6), or
            functions of (t, q, v), in the axes of the world, about its origin. Those that acted in the run count
            unless others are given in their place.

    Raises:
        InputError: if a place does not exist, or the run is of an earlier version, which does not keep what acted.
    """
    acting = acted(result, "wrenches", wrenches)
    names, values = list(acting), list(acting.values())
    _check_places(result, names)
    m = result.mechanism
    zmp, force, moment = _balance(m, height, tuple(names))(result.q, result.v, result.a, *values)
    held = np.abs(force[:, 2]) > _HELD * (m.tree.mass * float(np.linalg.norm(m.gravity)) + np.abs(force).max(initial=0.0))
    return Balance(np.where(held[:, None], zmp, np.nan), force, np.where(held[:, None], moment, np.nan))


@lru_cache(_KEPT)
def _balance(m: Mechanism, height: float, names: tuple[str, ...]) -> Kernel:
    def page(q: Any, v: Any, a: Any, *acting: Any) -> dict[str, Any]:
        applied = Wrenches(m.tree, dict(zip(names, acting, strict=True))) if names else None
        held = ground_wrench(m.tree, q, v, a, gravity=m.gravity, wrenches=applied)
        point = zero_moment_point(held, point=(0.0, 0.0, height))
        n, f = held[:3], held[3:]
        across = (point[1] * f[2] - point[2] * f[1], point[2] * f[0] - point[0] * f[2], point[0] * f[1] - point[1] * f[0])
        return {"zmp": point, "force": f, "moment": [a - b for a, b in zip(n, across, strict=True)]}

    sizes: dict[str, int | tuple[int, ...]] = {"q": m.nq, "v": m.nv, "a": m.nv, **{f"wrench_{name}": 6 for name in names}}
    return Kernel(trace(page, sizes, f"balance_{m.name}"))


def momenta_of(result: Result) -> Momenta:
    """The momenta about the center of mass along a result, and their rates."""
    return Momenta(*_momenta(result.mechanism)(result.q, result.v, result.a))


@lru_cache(_KEPT)
def _momenta(m: Mechanism) -> Kernel:
    def page(q: Any, v: Any, a: Any) -> dict[str, Any]:
        momentum, rate = centroidal_momentum(m.tree, q, v), centroidal_momentum_rate(m.tree, q, v, a)
        return {"angular": momentum[:3], "linear": momentum[3:], "angular_rate": rate[:3], "linear_rate": rate[3:]}

    return Kernel(trace(page, {"q": m.nq, "v": m.nv, "a": m.nv}, f"momenta_{m.name}"))


def powers_of(result: Result, *, wrenches: Given | None = None, loop_tau: Given | None = None) -> Powers:
    """The power of each source along a result.

    Args:
        wrenches: as in `balance_of`; `loop_tau`: drives' forces along the degrees of freedom of loops, by the loop's name,
            likewise.

    Raises:
        InputError: if a place or loop does not exist, or the run is of an earlier version, which does not keep what acted.
    """
    m = result.mechanism
    check_line_laws(result, "powers")
    pushes, driving = acted(result, "wrenches", wrenches), acted(result, "loop_tau", loop_tau)
    names, values, driven, drives = list(pushes), list(pushes.values()), list(driving), list(driving.values())
    _check_places(result, names)
    freedoms = {loop.name: getattr(loop.kind, "velocities", ()) for loop in m.loops}
    for name in driven:
        if name not in freedoms:
            raise InputError(f"{m.name}: loop_tau names {name!r}, which is not a loop; known: {', '.join(freedoms) or 'none'}")

    kernel = _powers(m, tuple(names), tuple(driven))
    put_in, lost, sprung, pushed, gravity = kernel(result.q, result.v, result.tau, *values, *drives)
    labels = [name if len(rates) == 1 else f"{name}.{rate}" for name, rates in freedoms.items() for rate in rates]
    columns = {name: pushed[:, k] for k, name in enumerate(names)}
    return Powers((*m.v_names, *labels), put_in, lost, sprung, columns, gravity)


@lru_cache(_KEPT)
def _powers(m: Mechanism, names: tuple[str, ...], driven: tuple[str, ...]) -> Kernel:
    def page(q: Any, v: Any, tau: Any, *acting: Any) -> dict[str, Any]:
        found = powers(
            m.tree, q, v, tau, gravity=m.gravity, wrenches=dict(zip(names, acting[: len(names)], strict=True)),
            loop_tau=dict(zip(driven, acting[len(names) :], strict=True)),
        )  # fmt: skip
        return {key: found[key] for key in ("drives", "damping", "springs", "wrenches", "gravity")}

    freedoms = {loop.name: loop.kind.nv for loop in m.loops}
    sizes: dict[str, int | tuple[int, ...]] = {"q": m.nq, "v": m.nv, "tau": m.nv}
    sizes |= {f"wrench_{name}": 6 for name in names} | {f"tau_{name}": freedoms[name] for name in driven}
    return Kernel(trace(page, sizes, f"powers_{m.name}"))


def _check_places(result: Result, names: Sequence[str]) -> None:
    for name in names:
        if name not in result.mechanism.tree.places:
            known = ", ".join(result.mechanism.tree.places)
            raise InputError(
                f"{result.mechanism.name}: a wrench acts on {name!r}, which is not a body or frame; there are {known}"
            )
