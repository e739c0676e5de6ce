"""Runs with points held on surfaces: their start, and the forces of the surfaces along the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel
from ...dynamics import Acting, Wrenches
from ...errors import InputError
from ...held.motion import HeldDynamics
from ...held.point import HeldPoint, HeldPoints
from ...model import Mechanism
from ...records.record import Record, acted
from ...scalar import trace
from ..driving.forcing import Forcing
from ..integrators import Integrator
from ..stepping.interaction import Asked, Interaction

#: A start that is off the surfaces by less than this fraction of the mechanism's size is silently moved onto them.
NEARLY = 1e-6
#: If an eigenvalue of Λ_nn times the mechanism's mass is below this fraction of the largest, or of one, points are redundant.
_RANK = 1e-9


class HeldMotion(NamedTuple):
    """One held point along a run of n times, in the axes of the world.

    Attributes:
        normal: f_n (n) [N], negative where the surface pulls the point back.
        friction: (n, 3) [N].
        gap: from the surface (n) [m]; `opening`: its rate (n) [m/s].
        position: (n, 3) [m]; `velocity`: (n, 3) [m/s].
    """

    normal: np.ndarray
    friction: np.ndarray
    gap: np.ndarray
    opening: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


def held_motion(
    result: Record,
    held: Sequence[HeldPoint],
    *,
    method: str = "rows",
    wrenches: Mapping[str, Any] | None = None,
    loop_tau: Mapping[str, Any] | None = None,
) -> dict[str, HeldMotion]:
    """The positions of held points along a run and the forces of their surfaces, by the points' names.

    Args:
        result: of `simulate(..., held=held)`; only its states and efforts are used.
        held: the same points.
        method: "rows", or "newton_euler" of `kumitate.papers`: both give the same forces.
        wrenches, loop_tau: as (n, 6) and (n, degrees of freedom) arrays, in place of those that acted in the run.

    Raises:
        InputError: if they are of the wrong shape, or the run is of an earlier version, which does not keep what acted.
    """
    pushes, drives = acted(result, "wrenches", wrenches), acted(result, "loop_tau", loop_tau)
    constant = Forcing(result.mechanism, None, dict.fromkeys(pushes, (0.0,) * 6), dict.fromkeys(drives, ()))
    u = np.column_stack([result.tau, *pushes.values(), *drives.values()])
    size = constant.layout.size
    if u.shape != (len(result), size):
        raise InputError(
            f"{result.mechanism.name}: efforts of shape {u.shape} are given; there are {len(result)} times and {size} "
            "components of tau, wrenches and loop_tau"
        )
    return _along(HeldDynamics(HeldPoints(result.mechanism, held), method), constant, result.q, result.v, u)


@dataclass(frozen=True, eq=False)
class HeldContact(Interaction):
    """The held points of a run, with the method for their forces: its start, its choice of integrator and its notes."""

    mechanism: Mechanism
    held: HeldDynamics
    key = content = None

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """ "auto" takes an implicit integrator if there is friction: near rest it is too fast for explicit steps."""
        if asked.name != "auto" or not any(point.friction for point in self.held.points.points):
            return super().integrator(asked, notes)
        notes.append(
            "integrator: semi_implicit_euler was taken, which is implicit in the friction of held points (order 1); near rest "
            "friction acts at thousands of 1/s"
        )
        return super().integrator(asked._replace(name="semi_implicit_euler"), notes)

    def start(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The initial state with its gaps closed to rounding; refuses points off their surfaces, leaving them, or redundant."""
        points, mechanism = self.held.points, self.held.points.mechanism
        tree, size = mechanism.tree, mechanism.tree.size
        ends = points.ends(tree, q.tolist(), v.tolist())
        for end, name in zip(ends, points.names, strict=True):
            if not abs(end.gap) <= NEARLY * size:
                raise InputError(
                    f"{mechanism.name}: held point {name!r} is {end.gap:.6g} m off its surface at the initial q; start with it "
                    "on the surface, or put the surface where the point is (a constant added to C(r) moves it)"
                )
            if not abs(end.rows[0].rate) <= NEARLY * size * (1.0 + np.abs(v).max(initial=0.0)):
                raise InputError(
                    f"{mechanism.name}: held point {name!r} leaves its surface at {end.rows[0].rate:.3g} m/s with the initial "
                    "v; start with velocities along the surface, or at rest"
                )
        self._check_rank(q, v)
        closed_q, closed_v = self.held.projected(tree, q.tolist(), v.tolist())
        return np.array(closed_q), np.array(closed_v)

    def notes(self, forcing: Forcing, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[str]:
        notes = []
        for name, motion in _along(self.held, forcing, q, v, u).items():
            pulled = np.count_nonzero(motion.normal < 0.0)
            notes.append(
                f"held point {name}: on its surface to {np.abs(motion.gap).max():.3g} m, its velocity to "
                f"{np.abs(motion.opening).max():.3g} m/s; normal force {motion.normal.min():.6g} to {motion.normal.max():.6g} N"
                + (f", pulling at {pulled} of {len(q)} times" if pulled else "")
            )
        return notes

    def _check_rank(self, q: np.ndarray, v: np.ndarray) -> None:
        """Refuses points that are redundant with others or with loops: their forces would not be determined."""
        mechanism = self.held.points.mechanism
        still = [0.0] * mechanism.nv
        system = self.held.system(mechanism.tree, q.tolist(), v.tolist(), still, Acting(mechanism.gravity))
        Lambda = np.array(system.Lambda, dtype=float)[::3, ::3]
        values = np.linalg.eigvalsh(Lambda * mechanism.tree.mass)
        if not values[0] > _RANK * max(values[-1], 1.0):
            raise InputError(
                f"{mechanism.name}: the held points {', '.join(self.held.points.names)} do not constrain "
                "one degree of freedom each at the initial q, so that their forces are not determined; hold fewer points, or "
                "start from another posture"
            )


def _along(held: HeldDynamics, forcing: Forcing, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> dict[str, HeldMotion]:
    mechanism = held.points.mechanism
    tree = mechanism.tree

    def observed(q: Any, v: Any, u: Any) -> dict[str, Any]:
        given = forcing.layout.unpack(u)
        wrenches = Wrenches(tree, given.wrenches) if given.wrenches else None
        return held.observed(tree, q, v, given.tau, Acting(mechanism.gravity, wrenches, given.loop_tau))

    inputs = {"q": mechanism.nq, "v": mechanism.nv, "u": forcing.layout.size}
    arrays = Kernel(trace(observed, inputs, f"held_{held.method}_{mechanism.name}"))(q, v, u)
    return {name: HeldMotion(*(array[:, k] for array in arrays)) for k, name in enumerate(held.points.names)}
