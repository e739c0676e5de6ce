"""What touches in a step, and how: the pieces of the laws of contact that the derivatives of the step belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.loop_motion import loops_at
from ..model import in_loops

if TYPE_CHECKING:
    from ..simulate.simulation import MechanismSimulation
    from ..simulate.stepping.step_code import StepCode


#: A stretch of the entries of u and of parameters → those columns of B (..., 2nv, m).
Columns = Callable[[slice], np.ndarray]
#: Points that slide more slowly than this part of the fastest one, and of 1 cm/s, are at rest.
SLOW = 1e-7
#: Forces, speeds and gaps below this part of the largest are at the border to another mode.
BORDER = 1e-6
#: Points slower than this are compared with it [m/s, rad/s].
RESTING = 0.01
#: Shapes further apart than this many times the way of the fastest point in the step are not reported.
REACH = 3.0


class ContactMode(IntEnum):
    """How a point of contact or the stop of a joint behaves in a step."""

    FAR = 0
    OPEN = 1
    RESTING = 2
    SLIDING = 3
    HOLDING = 4


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The modes of all points of contact and stops in a step, with the leading axes of the states.

    Derivatives are those of the pieces that the modes say. At a border between two modes they hold on one side only.

    Attributes:
        names: of each: "'foot' on 'world'", "'elbow' at 2.1".
        modes: (..., n), of `ContactMode`.
        borders: (..., n), whether a mode is at its border, so that the derivatives are one-sided.
    """

    names: tuple[str, ...]
    modes: np.ndarray
    borders: np.ndarray

    @property
    def one_sided(self) -> np.ndarray:
        """Whether the derivatives hold on one side only (...)."""
        return np.asarray(self.borders.any(axis=-1))

    def lines(self) -> list[str]:
        """What is not far, a line each, of one state."""
        return [
            f"{name}: {ContactMode(mode).name.lower()}{', at the border to another mode' * bool(border)}"
            for name, mode, border in zip(self.names, self.modes, self.borders, strict=True)
            if mode != ContactMode.FAR
        ]


def active_sets(
    simulation: MechanismSimulation, time: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray, q_after: np.ndarray
) -> ActiveSet:
    """The modes in the steps from states (..., nq), (..., nv) with efforts (..., size of u) to `q_after`."""
    lead, h = q.shape[:-1], simulation.step_size
    compiled = simulation.straight
    code, names, found = compiled.code, list[str](), list[tuple[np.ndarray, np.ndarray]]()
    if code.touches or code.bounds:
        flat = [part.reshape(-1, part.shape[-1]) for part in (q, v, u)]
        acting = compiled.efforts_along(np.broadcast_to(time, lead).ravel(), *flat).reshape(u.shape)
        if code.touches:
            seen = dict(
                zip((array.name for array in code.kernel("jumps").outputs), code.kernel("jumps")(h, q, v, acting), strict=True)
            )
            names += ["{!r} on {!r}".format(*bodies) for bodies in simulation.interaction.touching_bodies]
            modes, borders = _contact(seen, h)
            found += [(modes[..., k], borders[..., k]) for k in range(len(names))]
        freely = v + h * code.kernel("dynamics")(h, q, v, acting)[0]
        before, moved = _of_all_joints(code, q, freely)
        after, _ = _of_all_joints(code, q_after, freely)
        for bound in code.bounds:
            names.append(f"{bound.name!r} at {bound.at:g}")
            gap, end = (bound.gap(place) for place in (before, after))
            found.append(_stop(gap, end, bound.sign * moved[bound.v], h))
    if not found:
        return ActiveSet((), np.zeros((*lead, 0), dtype=int), np.zeros((*lead, 0), dtype=bool))
    return ActiveSet(tuple(names), *(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


def _of_all_joints(code: StepCode, q: np.ndarray, v: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The coordinates and velocities (...) of all joints one by one, those of loop joints only where some of these stop."""
    parts = [[q], [v]]
    if in_loops(code.mechanism, code.bounds):
        for part, more in zip(parts, loops_at(code.mechanism, q, v).values(), strict=True):
            part.append(more)
    place, speeds = (list(np.moveaxis(np.concatenate(part, axis=-1), -1, 0)) for part in parts)
    return place, speeds


def _contact(seen: Mapping[str, np.ndarray], h: float) -> tuple[np.ndarray, np.ndarray]:
    """The modes of points and whether they are at their borders (..., points)."""
    normal, friction, gap = seen["normals"], seen["frictions"], seen["gaps"]
    pressed, opening = ((seen[name] * normal).sum(axis=-1) for name in ("impulses", "velocities"))
    rubbed, slip = (
        np.linalg.norm(seen[name] - along[..., None] * normal, axis=-1)
        for name, along in (("impulses", pressed), ("velocities", opening))
    )
    close = gap < 1.0
    fastest = RESTING + np.abs(np.where(close[..., None], seen["velocities"], 0.0)).max(axis=(-2, -1))[..., None]
    near, touching = gap < REACH * h * fastest, pressed > 0.0
    sliding = touching & ((slip > SLOW * fastest) | (friction == 0.0))
    resting = touching & ~sliding
    borders = touching & (pressed < BORDER * pressed.max(axis=-1)[..., None])
    borders |= resting & (rubbed > friction * pressed * (1.0 - BORDER))
    borders |= sliding & (slip < BORDER * fastest) & (friction > 0.0)
    borders |= ~touching & near & (np.abs(gap + h * opening) < BORDER * h * fastest)
    modes = np.select([resting, sliding, near], [ContactMode.RESTING, ContactMode.SLIDING, ContactMode.OPEN], ContactMode.FAR)
    return modes, borders


def _stop(gap: np.ndarray, end: np.ndarray, freely: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The mode of a stop, from its gap before and after the step, and its joint's velocity away from it without the stop."""
    fast = h * (RESTING + np.abs(freely))
    modes = np.select([end < SLOW * fast, gap < REACH * fast], [ContactMode.HOLDING, ContactMode.OPEN], ContactMode.FAR)
    return modes, (modes != ContactMode.FAR) & (np.abs(gap + h * freely) < BORDER * fast)


# --- `StepSlopes`: a step and its derivatives, as arrays ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StepSlopes:
    """A step and its derivatives: δx' = A δx + B δu, for small changes of the state and of what drives it.

    δx = (ξ, δv): the displacement ξ (nv) of q along the degrees of freedom, as by `Robot.integrate`, and the change of the
    components of v. Leading axes are those of the states.

    Attributes:
        q, v: the state after the step (..., nq) and (..., nv).
        A: (..., 2nv, 2nv).
        places: where each effort and input stands among the columns of B: "tau", wrenches by place, drives of loops, inputs.
    """

    q: np.ndarray
    v: np.ndarray
    A: np.ndarray
    places: Mapping[str, slice] = field(repr=False)
    _columns: Columns = field(repr=False)
    _look: Callable[[], ActiveSet] = field(repr=False)

    @cached_property
    def active(self) -> ActiveSet:
        """What touches in the step, and how; at borders the derivatives hold on one side only (computed on first use)."""
        return self._look()

    @cached_property
    def B(self) -> np.ndarray:
        """(..., 2nv, m), by all efforts and inputs, one after the other (put together on first use)."""
        return self._columns(slice(0, max((place.stop for place in self.places.values()), default=0)))

    def by(self, name: str) -> np.ndarray:
        """The columns of B of one effort or input, by its name in `places`."""
        return self._columns(self.places[name])
