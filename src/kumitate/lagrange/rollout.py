"""The simulation of a system by steps of high order without a table of coefficients, and the resulting trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compile import Kernel
from ..errors import DivergenceError, InputError
from ..scalar import Program, Scalar, call, trace

#: Substeps of the midpoint rule; extrapolating from k of them gives order 2k.
_SUBSTEPS = (2, 4, 6, 8)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The motion of a system, sampled at m times.

    Attributes:
        names: of the coordinates.
        time: (m,) [s]; `q`, `v`: coordinates and their rates (m, n).
        kinetic, potential: the energies of the system, (m,) [J].
    """

    names: tuple[str, ...]
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The sum of both energies (m,) [J]: constant without forces and dissipation."""
        return self.kinetic + self.potential

    def __len__(self) -> int:
        return len(self.time)


def step_program(acceleration: Program, *, timed: bool) -> Program:
    """One step of h from t, by midpoint rules with increasing numbers of substeps and extrapolation: order 8.

    Gragg's modified midpoint rule with Bulirsch and Stoer's extrapolation in h², as in Hairer, Nørsett and Wanner, Solving
    ordinary differential equations I, II.9.
    """
    shapes = {array.name: array.shape for array in acceleration.inputs}
    n = acceleration.outputs[0].size
    inputs: dict[str, Any] = {"q": n, "v": n, "t": 1, "h": 1}
    if "parameters" in shapes:
        inputs["parameters"] = shapes["parameters"]

    def step(q: Sequence[Scalar], v: Sequence[Scalar], t: Sequence[Scalar], h: Sequence[Scalar], *given: Any) -> dict[str, Any]:
        def rate(x: list[Scalar], at: Scalar) -> list[Scalar]:
            q, v = x[:n], x[n:]
            return [*v, *call(acceleration, q, v, *([[at]] if timed else []), *given)]

        start = [q[k] for k in range(n)] + [v[k] for k in range(n)]
        first = rate(start, t[0])
        rows: list[list[list[Scalar]]] = []
        for substeps in _SUBSTEPS:
            width = h[0] * (1.0 / substeps)
            before, now = start, _moved(start, width, first)
            for k in range(1, substeps):
                before, now = now, _moved(before, 2.0 * width, rate(now, t[0] + width * float(k)))
            end = rate(now, t[0] + h[0])
            smooth = [0.5 * (a + b + width * c) for a, b, c in zip(before, now, end, strict=True)]
            row = [smooth]
            for k, coarser in enumerate(reversed(_SUBSTEPS[: len(rows)])):  # Aitken and Neville, in h²
                weight = 1.0 / ((substeps / coarser) ** 2 - 1.0)
                row.append([a + (a - b) * weight for a, b in zip(row[k], rows[-1][k], strict=True)])
            rows.append(row)
        last = rows[-1][-1]
        return {"q": last[:n], "v": last[n:]}

    return trace(step, inputs, f"step_{acceleration.name}")


def rolled_out(
    system: str,
    names: Sequence[str],
    step: Kernel,
    energies: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    start: tuple[np.ndarray, np.ndarray],
    *,
    duration: float,
    width: float,
) -> Trajectory:
    """The motion from (q, v), with equal steps of at most `width`; `energies` returns (m, 2) from q, v and the times.

    Raises:
        DivergenceError: if a coordinate becomes NaN or infinite; its `result` is the motion until then.
    """
    if not (duration > 0.0 and width > 0.0):
        raise InputError(f"{system}: duration = {duration:g} s and step = {width:g} s; both must be positive")
    count = max(1, round(duration / width))
    h = np.array([duration / count])
    times = np.linspace(0.0, duration, count + 1)
    q, v = (np.empty((count + 1, len(names))) for _ in range(2))
    q[0], v[0] = start

    def motion(end: int) -> Trajectory:
        kinetic, potential = energies(q[:end], v[:end], times[:end, None]).T
        return Trajectory(tuple(names), times[:end], q[:end], v[:end], kinetic, potential)

    for k in range(count):
        step.into((q[k + 1], v[k + 1]), q[k], v[k], times[k : k + 1], h)
        if not (np.isfinite(q[k + 1]).all() and np.isfinite(v[k + 1]).all()):
            lost = [name for name, a, b in zip(names, q[k + 1], v[k + 1], strict=True) if not np.isfinite(a + b)]
            raise DivergenceError(
                f"{system}: {', '.join(lost)} became infinite or NaN at t = {times[k]:.6g} s; coordinates must stay finite. "
                f"Use a step below {h[0]:g} s, or check the energies and forces for terms that diverge",
                motion(k + 1),
            )
    return motion(count + 1)


def _moved(x: Sequence[Scalar], h: Scalar, rate: Sequence[Scalar]) -> list[Scalar]:
    return [a + h * b for a, b in zip(x, rate, strict=True)]
