"""What drives a simulation from outside: a controller's torques and wrenches on bodies, as functions of time and state.

A function of plain arithmetic (operators and NumPy's elementary functions) is traced and compiled into the step; any other is
called. The result is the same, only the speed differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Mechanism
from ..scalar import Program, evaluate, trace

__all__ = ["Controller", "Forcing"]

#: tau = f(t, q, v), or a wrench [n; f] = f(t, q, v).
Controller = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Forcing:
    """The efforts u = (tau, wrench, …, loop drive, …): (nv + 6·number of places + freedoms of the driven loops).

    Attributes:
        mechanism: that is driven.
        controller: tau (nv) as a function, a constant, or None.
        wrenches: [n; f] (6) on each body or frame by name, likewise: in the world's axes, about that frame's origin [N·m, N].
        loop_tau: the drives' forces along the freedoms of loop joints, by the loop's name, likewise [N·m, N].
    """

    mechanism: Mechanism
    controller: Controller | Sequence[float] | None = None
    wrenches: Mapping[str, Controller | Sequence[float]] = field(default_factory=dict)
    loop_tau: Mapping[str, Controller | Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.wrenches:
            if name not in self.mechanism.tree.places:
                known = ", ".join(self.mechanism.tree.places)
                raise InputError(
                    f"{self.mechanism.name}: a wrench acts on {name!r}, which is no body or frame; there are {known}"
                )

        loops = {loop.name: loop for loop in self.mechanism.loops}
        for name in self.loop_tau:
            if name not in loops:
                raise InputError(
                    f"{self.mechanism.name}: loop_tau names {name!r}, which is no loop; there are {', '.join(loops) or 'none'}"
                )

    @property
    def size(self) -> int:
        """The number of components of u."""
        return sum(len(names) for _, names in self._labels())

    @property
    def places(self) -> list[str]:
        """Where the wrenches act, in the order of u."""
        return list(self.wrenches)

    @property
    def drives(self) -> dict[str, int]:
        """The driven loops and their numbers of freedoms, in the order of u."""
        nv = {loop.name: loop.kind.nv for loop in self.mechanism.loops}
        return {name: nv[name] for name in self.loop_tau}

    @property
    def constant(self) -> bool:
        """Whether u does not depend on anything."""
        return not any(callable(part) for part in self._sources)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """u at one state, by calling the functions.

        Raises:
            InputError: if one returns the wrong number of values, or one that is not finite.
        """
        parts = [np.asarray(part, dtype=float) for part in self._parts(t, np.array(q), np.array(v))]
        for (label, names), part in zip(self._labels(), parts, strict=True):
            bad = np.flatnonzero(~np.isfinite(part))
            if len(bad):
                raise InputError(f"{label} gave {part[bad[0]]} for {names[bad[0]]!r} at t = {t:.6g} s; it must be finite")
        return np.concatenate(parts) if parts else np.zeros(0)

    def symbols(self, t: Any, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        """u of symbols."""
        arrays = (np.array(list(x), dtype=object) for x in (q, v))
        return [scalar for part in self._parts(t, *arrays) for scalar in part]

    def program(self, q: np.ndarray, v: np.ndarray) -> Program | None:
        """u(t, q, v) as a program; None if it has to be called. (q, v) is a state that the functions can be tried at.

        A trace must be repeatable and must give what a call gives: a function that draws random numbers or counts its calls
        is found out by tracing it twice, one that looks behind the symbols' back by comparing values. What a function remembers
        is not touched by that: copies are tried.
        """
        wrenches, loop_tau = ({name: _apart(part) for name, part in parts.items()} for parts in (self.wrenches, self.loop_tau))
        probe = replace(self, controller=_apart(self.controller), wrenches=wrenches, loop_tau=loop_tau)
        probe(0.0, q, v)  # wrong shapes and values are the caller's to know, whether traced or not
        m = self.mechanism
        rng = np.random.default_rng(20121)
        tries = [(0.0, q, v)] + [
            (float(rng.uniform(0, 9)), q + 0.1 * rng.normal(size=m.nq), v + rng.normal(size=m.nv)) for _ in "ab"
        ]
        try:
            first, second = (trace(probe.symbols, {"t": (), "q": m.nq, "v": m.nv}, "forcing") for _ in range(2))
            if str(first) != str(second):
                return None
            for t, q_try, v_try in tries:
                called = np.concatenate([np.asarray(part, dtype=float) for part in probe._parts(t, q_try, v_try)])
                size = float(
                    np.nan_to_num(np.abs(called), posinf=0.0).max(initial=0.0)
                )  # a zero beside others rounds as they do
                tolerance = 1e-12 * max(size, 1.0)
                if not np.allclose(evaluate(first, [t, *q_try, *v_try]), called, rtol=1e-9, atol=tolerance, equal_nan=True):
                    return None
        except Exception:  # the functions may fail on symbols in any way; called with numbers they say so themselves
            return None
        return first

    @property
    def _sources(self) -> tuple[Any, ...]:
        return (self.controller, *self.wrenches.values(), *self.loop_tau.values())

    def _parts(self, t: Any, q: np.ndarray, v: np.ndarray) -> list[Any]:
        parts = []
        for source, (label, names) in zip(self._sources, self._labels(), strict=True):
            given = np.zeros(len(names)) if source is None else source(t, q, v) if callable(source) else source
            part = np.asarray(given)
            if part.shape != (len(names),):
                raise InputError(
                    f"{label} gave an array of shape {part.shape}; it must give {len(names)} values: {', '.join(names)}"
                )
            parts.append(part)
        return parts

    def _labels(self) -> list[tuple[str, Sequence[str]]]:
        axes = ("nx", "ny", "nz", "fx", "fy", "fz")
        kinds = {loop.name: loop.kind for loop in self.mechanism.loops}
        drives = ((f"the drive of loop {name!r}", getattr(kinds[name], "velocities", ())) for name in self.loop_tau)
        wrenches = ((f"the wrench on {name!r}", axes) for name in self.wrenches)
        return [("the controller", self.mechanism.v_names), *wrenches, *drives]


def _apart(source: Any) -> Any:
    """A copy of a function that remembers nothing back to the original: what it holds is copied where that can be done."""
    if not isinstance(source, FunctionType) or source.__closure__ is None:
        return _copied(source)
    cells = tuple(CellType(_copied(cell.cell_contents)) for cell in source.__closure__)
    copy = FunctionType(source.__code__, source.__globals__, source.__name__, source.__defaults__, cells)
    copy.__kwdefaults__ = source.__kwdefaults__
    return copy


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # kernels, files and the like stay shared
        return value
